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
	HieraLookups(n, func(root, _ string) { yield(root) })
}

// HieraLookups is like HieraKeys, but also passes the whole key. A key without a path below its root is the root.
func HieraLookups(n *Node, yield func(root, key string)) {
	if n.Op == Call && (n.Name == HieraLookup || n.Name == HieraAlias) {
		text := n.Kids[0].Value.Text() // the parser only creates string arguments
		if k, err := lookupkey.Parse(text); err == nil {
			root, ok := lookupkey.Quoted(k.Root)
			if len(k.Path) == 0 {
				text = root
			}
			if ok {
				yield(root, text)
			}
		}
	}
	for _, k := range n.Kids {
		HieraLookups(k, yield)
	}
	if around := n.aroundSecret(); around != nil {
		HieraLookups(around, yield)
	}
	if n.Lambda != nil {
		HieraLookups(n.Lambda.Body, yield)
	}
}
