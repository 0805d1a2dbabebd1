package rewrite

import (
	"slices"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/loader"
)

// constraint is the type of an abstract binding, which bindings that override it must have.
type constraint struct {
	typ              *types.Type
	layer, condition int
}

type constrainer struct {
	*pass.Env
	*place.Tables
	demanded map[uint32][]constraint // constraints by number of the key
}

// constrain returns scopes with additional type checks. A computed binding also checks the type of each abstract
// binding that it overrides. This applies to bindings in higher layers whose conditions imply the condition of the
// abstract binding.
func constrain(e *pass.Env, t *place.Tables, scopes []place.Scope) []place.Scope {
	c := constrainer{e, t, constraintsOf(scopes)}
	if len(c.demanded) == 0 {
		return scopes
	}
	out := slices.Clone(scopes)
	for i := range out {
		s := &out[i]
		s.Members = slices.Clone(s.Members)
		for j := range s.Members {
			m := &s.Members[j]
			if m.Binding != nil {
				m.Value = c.constrained(m.Value, s, c.demanded[m.Key])
			} else if !c.IsHiera(s.Layer) {
				m.File = c.constrainedFile(m.File, s)
			}
		}
	}
	return out
}

func constraintsOf(scopes []place.Scope) map[uint32][]constraint {
	out := map[uint32][]constraint{}
	for _, s := range scopes {
		for _, m := range s.Members {
			if m.Binding != nil && m.Binding.More != nil && m.Binding.More.Abstract && m.Binding.More.Type != nil {
				out[m.Key] = append(out[m.Key], constraint{m.Binding.More.Type, s.Layer, s.Condition})
			}
		}
	}
	return out
}

// constrainedFile returns f with values that also check the types that apply in s. It copies f only if a value
// changes.
func (c *constrainer) constrainedFile(f *loader.DataFile, s *place.Scope) *loader.DataFile {
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

// constrained returns the number of a value that is like val but also checks the types that always apply in s. If
// there are none, it returns val.
func (c *constrainer) constrained(val uint32, s *place.Scope, demanded []constraint) uint32 {
	for _, d := range demanded {
		if s.Layer < d.layer && c.Relations.Implies(c.Site.Conditions[s.Condition], c.Site.Conditions[d.condition]) {
			val = c.asserting(val, d.typ)
		}
	}
	return val
}

// asserting returns the number of a value that is like val but checks type t. If the recipe of val cannot check types,
// or checks a type that does not include t, it returns val.
func (c *constrainer) asserting(val uint32, t *types.Type) uint32 {
	r, err := c.Recipe(val)
	if err != nil || !TakesType(r) || r.Type != nil && !r.Type.Accepts(t) {
		return val
	}
	r.Type = t
	out := c.KeepRecipe(r)
	if c.Declining[val] {
		c.Declining[out] = true
	}
	return out
}

// TakesType reports whether lookups check the type of the value of r.
func TakesType(r *recipe.Recipe) bool {
	switch r.Kind {
	case recipe.Expression, recipe.LookupOf, recipe.FirstFound, recipe.HashLookup, recipe.Custom, recipe.Multibind,
		recipe.AliasOf:
		return true
	}
	return r.Kind == recipe.Constant && r.Transformer != nil
}
