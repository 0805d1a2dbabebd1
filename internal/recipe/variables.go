package recipe

import "bindc/internal/expr"

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
	if r.Kind == Expression {
		r.Expr.Variables(yield)
	}
	if r.Transformer != nil {
		r.Transformer.Variables(yield)
	}
	if r.Options != nil && r.Options.Combinator != nil {
		r.Options.Combinator.Variables(yield)
	}
	for _, p := range r.Parts {
		p.Recipe.Variables(yield)
	}
}
