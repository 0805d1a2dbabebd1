package check

import (
	"slices"

	"bindc/compile/internal/place"
	"bindc/compile/internal/rewrite"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// checkTypes checks bindings against the types of the abstract bindings that they override.
func (k *keyIndex) checkTypes(t *place.Tables) {
	seen := map[[2]int]bool{} // checked pairs of bindings, by their positions in the input
	for i := range k.all {
		if more := k.all[i].More(); more == nil || !more.Abstract || more.Type == nil {
			continue
		}
		for j := range k.compatible(k.terms(i), k.all[i].Rank) {
			pair := [2]int{k.all[i].Order, k.all[j].Order}
			if !seen[pair] && !k.neverWins(j) {
				seen[pair] = true
				k.checkType(t, &k.all[i], &k.all[j])
			}
		}
	}
}

// checkType checks the value of other against the type of abstract, if the build knows both. In the same layer, a
// mismatch is only a warning, because the reference implementation accepts it.
func (k *keyIndex) checkType(values *place.Tables, abstract, other *place.Candidate) {
	r, err := values.Recipe(other.Value)
	if err != nil { // a lookup reports the error
		return
	}
	t := abstract.More().Type
	found := misfit(t, r, k.isSecret())
	if found == "" {
		return
	}
	severity := diag.Error
	if other.Layer == abstract.Layer {
		severity = diag.Warning
	}
	k.Report(diag.Diagnostic{Pos: other.Pos(), Severity: severity, Code: "type_mismatch", Secret: k.isSecret(),
		Message: "'" + k.name + "': " + found,
		Notes:   []diag.Note{{Pos: abstract.Pos(), Message: "the abstract binding requires " + t.String()}}})
}

// misfit returns why the value of r can never have type t, or "".
func misfit(t *types.Type, r *recipe.Recipe, secret bool) string {
	var m *types.Mismatch
	switch {
	case r.Kind == recipe.Multibind && !t.Admits(collects(r)):
		return "expected " + t.String() + ", found a multibinding that collects into another type"
	case rewrite.TakesType(r) && r.Type != nil && !t.Accepts(r.Type) && !r.Type.Accepts(t):
		return "expected " + t.String() + ", found a binding that states the type " + r.Type.String()
	case r.Transformer != nil:
	case r.Kind == recipe.Constant:
		m = t.Check(r.Value)
	case r.Kind == recipe.Expression:
		m = recipe.Misfit(t, r.Expr)
	}
	if m == nil {
		return ""
	}
	return m.Text(secret)
}

func collects(r *recipe.Recipe) value.Kind {
	if r.Options.Array {
		return value.Array
	}
	return value.Hash
}

func (k *keyIndex) isSecret() bool {
	return slices.ContainsFunc(k.all, func(c place.Candidate) bool {
		r := c.Computed()
		return r != nil && r.Sensitive
	})
}
