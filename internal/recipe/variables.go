package recipe

import (
	"bindc/internal/expr"
	"bindc/internal/value"
)

// Expressions returns the expressions of r, including lambdas and the defaults of their parameters. It omits the
// expressions of contributions.
func (r *Recipe) Expressions() []*expr.Node {
	var out []*expr.Node
	if r.Expr != nil {
		out = append(out, r.Expr)
	}
	if r.Options != nil && r.Options.Combinator != nil {
		out = append(out, &expr.Node{Op: expr.Call, Lambda: r.Options.Combinator})
	}
	if r.Transformer != nil {
		out = append(out, &expr.Node{Op: expr.Call, Lambda: r.Transformer})
	}
	return out
}

// Scoped calls yield with each variable that r reads, as expr.Node.Scoped does.
func (r *Recipe) Scoped(yield func(name string)) {
	for _, n := range r.Expressions() {
		n.Scoped(yield)
	}
	for _, p := range r.Parts {
		p.Recipe.Scoped(yield)
	}
}

// Variables calls yield with each variable that r may use, as expr.Node.Variables does.
func (r *Recipe) Variables(yield func(name string)) {
	r.Reads(func(name string, _ []value.Value) { yield(name) })
}

// Reads calls yield with each variable that r may use, and with the keys that r reads from the variable, as
// expr.Node.Reads does.
func (r *Recipe) Reads(yield func(name string, path []value.Value)) {
	if r.Kind == Expression {
		r.Expr.Reads(yield)
	}
	if r.Transformer != nil {
		r.Transformer.Reads(yield)
	}
	if r.Options != nil && r.Options.Combinator != nil {
		r.Options.Combinator.Reads(yield)
	}
	for _, p := range r.Parts {
		p.Recipe.Reads(yield)
	}
}
