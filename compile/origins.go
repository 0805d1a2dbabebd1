package compile

import (
	"cmp"
	"slices"

	"bindc/internal/diag"
	"bindc/snapshot"
)

// each ranges over the keys that s binds and their values, by their numbers in the site, and where they are written.
func (c *composer) each(s *scope, yield func(key, value uint32, at snapshot.Origin)) {
	for i := range s.members {
		m := &s.members[i]
		if m.binding != nil {
			yield(m.key, m.value, c.origin(m.binding.Pos))
			continue
		}
		input := uint32(c.site.InputOf[m.file.Path])
		for _, e := range m.file.Entries {
			yield(e.Key, e.Value, snapshot.Origin{Input: input, Line: e.Line, Col: e.Col})
		}
	}
}

func (c *composer) origin(at diag.Pos) snapshot.Origin {
	return snapshot.Origin{Input: uint32(c.site.InputOf[at.File]), Line: uint32(at.Line), Col: uint32(at.Col)}
}

// outsider is a binding that is in no scope of the index.
type outsider struct {
	rank, place int
	cold        snapshot.Cold
}

// outside notes a binding of a key, by its number in names: the unconditional one that counts, or one that is hidden.
func (c *composer) outside(s *scope, key, value uint32, at snapshot.Origin) {
	c.outsiders[key] = append(c.outsiders[key], outsider{s.rank, len(c.outsiders[key]), snapshot.Cold{
		Layer: s.layer, Terms: c.terms(s.condition), Origin: at, Value: value}})
}

// outsideHidden notes what no request gets as another backend has the keys.
func (c *composer) outsideHidden(s *scope) {
	for _, f := range s.hidden {
		for i, e := range f.Entries {
			c.outside(s, c.inNames[e.Key], c.inStored[e.Value]-1, c.origin(f.Pos(i)))
		}
	}
}

// contributed notes the contributions to a multibinding under its internal key.
func (c *composer) contributed(key uint32, cs []candidate) {
	for _, cand := range cs {
		c.outsiders[key] = append(c.outsiders[key], outsider{cand.rank, cand.place, snapshot.Cold{
			Layer: cand.layer, Terms: c.terms(cand.condition), Origin: c.origin(cand.pos()), Contribution: true}})
	}
}

func (c *composer) terms(condition int) []snapshot.Term {
	var out []snapshot.Term
	for _, t := range c.site.Conditions[condition] {
		out = append(out, snapshot.Term{Dimension: t.Dimension, Value: t.Value})
	}
	return out
}

// cold is what was noted of a key, in order of precedence. ranks are those of the levels, ascending.
func (c *composer) cold(key int, ranks []int) []snapshot.Cold {
	list := c.outsiders[key]
	slices.SortStableFunc(list, func(a, b outsider) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank),
			cmp.Compare(a.place, b.place))
	})
	out := make([]snapshot.Cold, len(list))
	for i, o := range list {
		out[i] = o.cold
		out[i].Above, _ = slices.BinarySearch(ranks, o.rank+1)
	}
	return out
}
