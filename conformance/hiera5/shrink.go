package hiera5

import (
	"maps"
	"slices"
)

// Shrink returns a smaller site for which differs still returns true. It removes files, entries and
// elements one at a time until none can be removed.
func (s *Site) Shrink(differs func(*Site) bool) *Site {
	for n := 0; ; {
		smaller, ok := s.without(n)
		switch {
		case !ok:
			return s
		case differs(smaller):
			s = smaller
		default:
			n++
		}
	}
}

// without returns the site without one file, entry or element. They are numbered from 0; the
// entries and elements inside one follow it. If there is no number n, it returns false.
func (s *Site) without(n int) (*Site, bool) {
	out := &Site{Files: maps.Clone(s.Files), Nodes: slices.Clone(s.Nodes), Questions: s.Questions}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if n--; n < 0 {
			delete(out.Files, name)
			return out, true
		}
		if out.Files[name] = less(s.Files[name], &n); n < 0 {
			return out, true
		}
	}
	for i := range out.Nodes {
		node := &out.Nodes[i]
		for _, known := range []*Map{&node.Facts, &node.Vars} {
			if *known = less(*known, &n).(Map); n < 0 {
				return out, true
			}
		}
	}
	return nil, false
}

// less returns v without element n, counted depth first. If v has no such element, it subtracts the
// number of v's elements from n.
func less(v any, n *int) any {
	switch v := v.(type) {
	case Map:
		for i, p := range v {
			if *n--; *n < 0 {
				return slices.Delete(slices.Clone(v), i, i+1)
			}
			if inner := less(p.Value, n); *n < 0 {
				out := slices.Clone(v)
				out[i].Value = inner
				return out
			}
		}
	case []any:
		for i, e := range v {
			if *n--; *n < 0 {
				return slices.Delete(slices.Clone(v), i, i+1)
			}
			if inner := less(e, n); *n < 0 {
				out := slices.Clone(v)
				out[i] = inner
				return out
			}
		}
	}
	return v
}
