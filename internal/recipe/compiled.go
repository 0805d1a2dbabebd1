package recipe

import (
	"slices"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// A compiled value is a form byte followed by an encoded constant or recipe. Package compile stores one for each
// binding.
const (
	CompiledConstant byte = 'c' // a constant, encoded by package value
	CompiledRecipe   byte = 'r' // an encoded Recipe
	CompiledLookup   byte = 'l' // an encoded Recipe that looks up other keys or contributions in every request
)

func AppendConstant(dst []byte, v value.Value) []byte {
	return value.Append(append(dst, CompiledConstant), v)
}

// AppendCompiled appends r as a compiled value. A recipe that is only a constant becomes a compiled constant.
func AppendCompiled(dst []byte, r *Recipe) []byte {
	kind := CompiledRecipe
	switch {
	case r.Kind == Constant && !r.Sensitive && !r.Optional && r.Type == nil && r.Transformer == nil:
		return AppendConstant(dst, r.Value)
	case len(r.Targets) > 0 || len(r.Lookups()) > 0 || r.Kind == Multibind || r.Kind == Below:
		kind = CompiledLookup
	}
	return Append(append(dst, kind), r)
}

// Lookups returns the keys that the expressions of r look up in every request. It omits keys in branches that a request
// may skip.
func (r *Recipe) Lookups() []string {
	var out []string
	if r.Kind == Expression {
		out = appendLookups(out, r.Expr)
	}
	if r.Transformer != nil {
		out = appendLookups(out, r.Transformer.Body)
	}
	return out
}

func appendLookups(out []string, n *expr.Node) []string {
	always := n.Kids
	switch {
	case n.Op == expr.If || n.Op == expr.Case || n.Op == expr.Selector:
		always = n.Kids[:1]
	case n.Op == expr.Binary && (n.Name == "and" || n.Name == "or"):
		always = n.Kids[:1]
	case n.Op == expr.Call:
		if name, args := n.Callee(); name == "lookup" && len(args) > 0 {
			if key, _ := args[0].Constant(); key.Kind() == value.String && !slices.Contains(out, key.Text()) {
				out = append(out, key.Text())
			}
		}
	}
	for _, k := range always {
		out = appendLookups(out, k)
	}
	return out
}
