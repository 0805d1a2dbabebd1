package expr

import (
	"strings"

	"bindc/internal/value"
)

// Variables calls yield with the names of the variables of top scope that n may use; its own are among them. Of
// $facts['os'] that is os, of what uses $facts in another way, or a variable whose name it computes, facts.
func (n *Node) Variables(yield func(name string)) {
	kids := n.Kids
	switch {
	case n.Op == Var && !isNumber(n.Name):
		yield(strings.TrimPrefix(n.Name, "::"))
	case n.Op == Access || n.Op == Call && (n.Name == "get" || n.Name == "dig"):
		if of, ok := factOf(n); ok {
			yield(of)
			kids = kids[1:]
		}
	case n.Op == Call && n.Name == "getvar" && len(kids) > 0:
		yield(variableAt(kids[0]))
	case n.Op == Call && n.Name == HieraScope && len(n.Kids) > 0:
		yield(hieraVariable(n.Kids))
	case n.Op == Call && n.Name == hieraMapped && len(n.Kids) > 1:
		yield(hieraVariable(n.Kids[1:]))
	case n.Op == Call && n.Name == "fqdn_rand":
		yield("fqdn")
		yield("networking")
	}
	for _, k := range kids {
		k.Variables(yield)
	}
	if around := n.aroundSecret(); around != nil {
		around.Variables(yield)
	}
	if n.Lambda != nil {
		n.Lambda.Variables(yield)
	}
}

// Variables is Node.Variables of a lambda.
func (l *Lambda) Variables(yield func(name string)) {
	l.Body.Variables(yield)
	for _, p := range l.Params {
		if p.Default != nil {
			p.Default.Variables(yield)
		}
	}
}

// factOf is the fact that an access to $facts gets.
func factOf(n *Node) (string, bool) {
	if len(n.Kids) < 2 || n.Kids[0].Op != Var || strings.TrimPrefix(n.Kids[0].Name, "::") != "facts" {
		return "", false
	}
	key, ok := n.Kids[1].Constant()
	if !ok || key.Kind() != value.String || n.Op == Access && len(n.Kids) > 2 {
		return "", false
	}
	if n.Name == "get" {
		return firstStep(key.Text())
	}
	return key.Text(), true
}

// variableAt is the variable that getvar gets.
func variableAt(path *Node) string {
	v, ok := path.Constant()
	if !ok || v.Kind() != value.String {
		return "facts"
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(v.Text(), "::"), ".")
	if fact, ok := firstStep(rest); ok && name == "facts" {
		return fact
	}
	return name
}

// firstStep is the first key of a dotted path, where it is written without quotes.
func firstStep(path string) (string, bool) {
	name, _, _ := strings.Cut(path, ".")
	return name, name != "" && !strings.ContainsAny(path, `'"`)
}

// hieraVariable is the variable at a path of Hiera 5, which is constant.
func hieraVariable(path []*Node) string {
	name := strings.TrimPrefix(toS(path[0].Value), "::")
	if name == "facts" && len(path) > 1 {
		return toS(path[1].Value)
	}
	return name
}

// Own calls yield with the names of the variables that n has of its own: those it assigns, and parameters of lambdas.
func (n *Node) Own(yield func(name string)) {
	if n.Op == Assign {
		yield(n.Name)
	}
	for _, k := range n.Kids {
		k.Own(yield)
	}
	if n.Lambda != nil {
		for _, p := range n.Lambda.Params {
			yield(p.Name)
		}
		n.Lambda.Body.Own(yield)
	}
}
