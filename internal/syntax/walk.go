package syntax

import (
	"iter"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// walk visits n and all nodes below it, parents first. It includes lambdas with their types, defaults and bodies. It
// does not visit the children of a node for which visit returns false.
func walk(n *expr.Node, visit func(*expr.Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	for kid := range n.Below {
		walk(kid, visit)
	}
}

// All returns an iterator over n and all nodes below it, in the order of walk.
func All(n *expr.Node) iter.Seq[*expr.Node] {
	return func(yield func(*expr.Node) bool) {
		more := true
		walk(n, func(n *expr.Node) bool {
			more = more && yield(n)
			return more
		})
	}
}

// Calls returns an iterator over all function calls in n. A call comes before the calls in its arguments.
func Calls(n *expr.Node) iter.Seq[*expr.Node] {
	return func(yield func(*expr.Node) bool) {
		for x := range All(n) {
			if x.Op == expr.Call && !yield(x) {
				return
			}
		}
	}
}

// Lookups returns an iterator over the calls in n that may call lookup(). It yields the key and whether the key is
// constant. Other keys depend on the request.
func Lookups(n *expr.Node) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for call := range Calls(n) {
			name, args := call.Callee()
			if name != lookup && name != "call" || len(args) == 0 {
				continue
			}
			key, text := "", false
			if name == lookup {
				v, _ := args[0].Constant()
				key, text = v.Text(), v.Kind() == value.String
			}
			if !yield(key, text) {
				return
			}
		}
	}
}

// higher reports whether the tree n has more than the given number of levels. It runs on every tree, so it does not
// use walk, which is slower.
func higher(n *expr.Node, levels int) bool {
	if levels == 0 {
		return true
	}
	for _, kid := range n.Kids {
		if higher(kid, levels-1) {
			return true
		}
	}
	return n.Lambda != nil && higherLambda(n.Lambda, levels-1)
}

func higherLambda(l *expr.Lambda, levels int) bool {
	for _, p := range l.Params {
		if p.Type != nil && higher(p.Type, levels) || p.Default != nil && higher(p.Default, levels) {
			return true
		}
	}
	return l.Body != nil && higher(l.Body, levels)
}
