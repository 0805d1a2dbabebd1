package compile

import (
	"slices"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// checkTypes checks bindings against the types of the abstract ones that they beat.
func (k *keyIndex) checkTypes(t *tables) {
	seen := map[[2]int]bool{} // orders of an abstract binding and of one that beats it
	for i := range k.all {
		if more := k.all[i].more(); more == nil || !more.Abstract || more.Type == nil {
			continue
		}
		for j := range k.compatible(k.terms(i), k.all[i].rank) {
			pair := [2]int{k.all[i].order, k.all[j].order}
			if !seen[pair] && !k.neverWins(j) {
				seen[pair] = true
				k.checkType(t, &k.all[i], &k.all[j])
			}
		}
	}
}

// checkType checks the value of a binding against the type of an abstract one, where both are known at build time.
// Within one layer a mismatch is only a warning, because the reference implementation answers with such a binding.
func (k *keyIndex) checkType(values *tables, abstract, other *candidate) {
	r, err := values.recipe(other.value)
	if err != nil { // a lookup reports it
		return
	}
	t := abstract.more().Type
	found := misfit(t, r, k.isSecret())
	if found == "" {
		return
	}
	severity := diag.Error
	if other.layer == abstract.layer {
		severity = diag.Warning
	}
	k.report(diag.Diagnostic{Pos: other.pos(), Severity: severity, Code: "type_mismatch", Secret: k.isSecret(),
		Message: "'" + k.name + "': " + found,
		Notes:   []diag.Note{{Pos: abstract.pos(), Message: "the abstract binding requires " + t.String()}}})
}

// misfit says why r cannot produce a value of type t under any facts, or returns "" if it may.
func misfit(t *types.Type, r *recipe.Recipe, secret bool) string {
	var m *types.Mismatch
	switch {
	case r.Kind == recipe.Multibind && !t.Admits(collects(r)):
		return "expected " + t.String() + ", found a multibinding that collects into another type"
	case takesType(r) && r.Type != nil && !t.Accepts(r.Type) && !r.Type.Accepts(t):
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

// collects returns the kind of value that a multibinding makes.
func collects(r *recipe.Recipe) value.Kind {
	if r.Options.Array {
		return value.Array
	}
	return value.Hash
}

// isSecret reports whether a binding of the key is sensitive.
func (k *keyIndex) isSecret() bool {
	return slices.ContainsFunc(k.all, func(c candidate) bool {
		r := c.computed()
		return r != nil && r.Sensitive
	})
}
