package compile

import (
	"slices"

	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/loader"
)

// constraint is the type that an abstract binding demands of bindings in higher layers that beat it.
type constraint struct {
	typ              *types.Type
	layer, condition int
}

// constrainer adds type checks to computed bindings.
type constrainer struct {
	*env
	*tables
	demanded map[uint32][]constraint // by the number of the key
}

// constrain returns scopes with type checks added to the computed bindings of keys that have an abstract binding with a
// type. It changes a binding if it is above the abstract one and implies its condition; checkTypes does the rest.
func constrain(e *env, t *tables, scopes []scope) []scope {
	c := constrainer{e, t, constraintsOf(scopes)}
	if len(c.demanded) == 0 {
		return scopes
	}
	out := slices.Clone(scopes)
	for i := range out {
		s := &out[i]
		s.members = slices.Clone(s.members)
		for j := range s.members {
			m := &s.members[j]
			if m.binding != nil {
				m.value = c.constrained(m.value, s, c.demanded[m.key])
			} else if !c.isHiera(s.layer) {
				m.file = c.constrainedFile(m.file, s)
			}
		}
	}
	return out
}

// constraintsOf returns the constraints on each key.
func constraintsOf(scopes []scope) map[uint32][]constraint {
	out := map[uint32][]constraint{}
	for _, s := range scopes {
		for _, m := range s.members {
			if m.binding != nil && m.binding.More != nil && m.binding.More.Abstract && m.binding.More.Type != nil {
				out[m.key] = append(out[m.key], constraint{m.binding.More.Type, s.layer, s.condition})
			}
		}
	}
	return out
}

// constrainedFile returns f with its values replaced by the checked ones that a scope needs.
func (c *constrainer) constrainedFile(f *loader.DataFile, s *scope) *loader.DataFile {
	out := f
	for i, e := range f.Entries {
		val := c.constrained(e.Value, s, c.demanded[e.Key])
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
func (c *constrainer) constrained(val uint32, s *scope, demanded []constraint) uint32 {
	for _, d := range demanded {
		if s.layer < d.layer && c.relations.Implies(c.site.Conditions[s.condition], c.site.Conditions[d.condition]) {
			val = c.asserting(val, d.typ)
		}
	}
	return val
}

// asserting returns the number of a value that checks type t. It returns val if the recipe has no type to check or
// already has a narrower one.
func (c *constrainer) asserting(val uint32, t *types.Type) uint32 {
	r, err := c.recipe(val)
	if err != nil || !takesType(r) || r.Type != nil && !r.Type.Accepts(t) {
		return val
	}
	r.Type = t
	out := c.keepRecipe(r)
	if c.declining[val] {
		c.declining[out] = true
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
