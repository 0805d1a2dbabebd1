package recipe

// Variables calls yield with the names of the variables that following r may use, as expr.Node.Variables does.
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
