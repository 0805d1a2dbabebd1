package expr

import (
	"strings"

	"bindc/internal/expr/ruby"
	"bindc/internal/lookupkey"
)

// HieraVariables calls yield for each variable that Hiera 5 interpolations in n use. path consists of the name,
// without a leading ::, and the keys.
func HieraVariables(n *Node, yield func(off int, path []string)) {
	if n.Op == Call && n.Name == HieraScope {
		path := make([]string, len(n.Kids))
		for i, k := range n.Kids {
			path[i] = ruby.ToS(k.Value)
		}
		path[0] = strings.TrimPrefix(path[0], "::")
		yield(n.Off, path)
	}
	for _, k := range n.Kids {
		HieraVariables(k, yield)
	}
	if around := n.aroundSecret(); around != nil {
		HieraVariables(around, yield)
	}
	if n.Lambda != nil {
		HieraVariables(n.Lambda.Body, yield)
	}
}

// HieraKeys calls yield with the root of each key that Hiera 5 interpolations in n look up. The root is quoted if
// necessary.
func HieraKeys(n *Node, yield func(key string)) {
	if n.Op == Call && (n.Name == HieraLookup || n.Name == HieraAlias) {
		if k, err := lookupkey.Parse(n.Kids[0].Value.Text()); err == nil { // the parser only creates string arguments
			if key, ok := lookupkey.Quoted(k.Root); ok {
				yield(key)
			}
		}
	}
	for _, k := range n.Kids {
		HieraKeys(k, yield)
	}
	if around := n.aroundSecret(); around != nil {
		HieraKeys(around, yield)
	}
	if n.Lambda != nil {
		HieraKeys(n.Lambda.Body, yield)
	}
}
