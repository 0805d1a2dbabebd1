package compile

import (
	"slices"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// constraint is the type that an abstract binding demands of bindings in higher layers that beat it.
type constraint struct {
	typ              *types.Type
	layer, condition int
}

// constrain adds type checks to computed bindings whose key has an abstract binding with a type. It changes a binding
// if it is above the abstract one and implies its condition; checkTypes does the rest at build time.
func (c *composer) constrain() {
	asked := c.constraints()
	if len(asked) == 0 {
		return
	}
	for i := range c.scopes {
		s := &c.scopes[i]
		for j := range s.members {
			m := &s.members[j]
			if m.binding != nil {
				m.value = c.constrained(m.value, s, asked[m.key])
			} else if c.site.Layers[s.layer].Hiera == loader.NoHiera {
				m.file = c.constrainedFile(m.file, s, asked)
			}
		}
	}
}

// constraints returns the constraints on each key, by the number of the key in the site.
func (c *composer) constraints() map[uint32][]constraint {
	out := map[uint32][]constraint{}
	for _, s := range c.scopes {
		for _, m := range s.members {
			if m.binding != nil && m.binding.More != nil && m.binding.More.Abstract && m.binding.More.Type != nil {
				out[m.key] = append(out[m.key], constraint{m.binding.More.Type, s.layer, s.condition})
			}
		}
	}
	return out
}

// constrainedFile returns f with its values replaced by the checked ones that a scope needs.
func (c *composer) constrainedFile(f *loader.DataFile, s *scope, asked map[uint32][]constraint) *loader.DataFile {
	out := f
	for i, e := range f.Entries {
		val := c.constrained(e.Value, s, asked[e.Key])
		if val == e.Value {
			continue
		}
		if out == f {
			copied := *f
			copied.Entries = slices.Clone(f.Entries)
			out = &copied
		}
		out.Entries[i].Value = val
	}
	return out
}

// constrained returns the number of val with checks for all constraints that always hold in the scope.
func (c *composer) constrained(val uint32, s *scope, asked []constraint) uint32 {
	for _, a := range asked {
		if s.layer < a.layer && c.relations.Implies(c.site.Conditions[s.condition], c.site.Conditions[a.condition]) {
			val = c.asserting(val, a.typ)
		}
	}
	return val
}

// asserting returns the number of a value that checks type t. It returns val if the recipe has no type to check or
// already has a narrower one.
func (c *composer) asserting(val uint32, t *types.Type) uint32 {
	r, err := c.decoded(val)
	if err != nil || !takesType(r) || r.Type != nil && !r.Type.Accepts(t) {
		return val
	}
	r.Type = t
	out := c.recipeNumber(r)
	if c.through[val] {
		c.through[out] = true
	}
	return out
}

// takesType reports whether a lookup checks the type of the value that r computes.
func takesType(r *recipe.Recipe) bool {
	switch r.Kind {
	case recipe.Expression, recipe.LookupOf, recipe.FirstFound, recipe.HashLookup, recipe.Custom, recipe.Multibind,
		recipe.AliasOf:
		return true
	}
	return r.Kind == recipe.Constant && r.Transformer != nil
}

// decoded returns the recipe of the value with a given number.
func (c *composer) decoded(val uint32) (*recipe.Recipe, error) {
	text := c.values[val]
	if text[0] != recipe.CompiledConstant {
		return recipe.Decode(text[1:])
	}
	v, _, err := value.View(text[1:])
	return &recipe.Recipe{Kind: recipe.Constant, Value: v}, err
}

// checkTypes checks bindings against the types of the abstract ones that they beat.
func (k *keyIndex) checkTypes() {
	seen := map[[2]int]bool{} // places of an abstract binding and of one that beats it
	for i := range k.all {
		if more := k.all[i].more(); more == nil || !more.Abstract || more.Type == nil {
			continue
		}
		for j := range k.compatible(k.terms(i), k.all[i].rank) {
			pair := [2]int{k.all[i].place, k.all[j].place}
			if !seen[pair] && !k.neverWins(j) {
				seen[pair] = true
				k.checkType(&k.all[i], &k.all[j])
			}
		}
	}
}

// checkType checks the value of a binding against the type of an abstract one, where both are known at build time.
// Within one layer a mismatch is only a warning, because the reference implementation answers with such a binding.
func (k *keyIndex) checkType(abstract, other *candidate) {
	r, err := k.decoded(other.value)
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
