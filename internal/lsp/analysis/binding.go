package analysis

import (
	"cmp"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/relation"
	"bindc/loader"
)

// Binding is a place that binds a key or contributes to a multibinding.
type Binding struct {
	Pos   diag.Pos
	Layer string
	When  string // the condition, or "" if there is none

	layer int
	terms loader.Condition
}

// Bindings returns the places that bind a key, highest first.
func (s *Site) Bindings(key string) []Binding {
	number := slices.Index(s.Site.Keys, key)
	var out []Binding
	for n, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for i := range c.Files {
				f := &c.Files[i]
				for j, e := range f.Entries {
					if int(e.Key) == number {
						out = append(out, s.binding(n, f.Pos(j), f.Condition))
					}
				}
			}
			for _, b := range c.Bindings {
				if b.Key == key && (b.More == nil || b.More.In == nil) {
					out = append(out, s.bindingsOf(n, b)...)
				}
			}
		}
	}
	return inOrder(out)
}

// Contributions returns the places that contribute to the multibinding with an id, highest first.
func (s *Site) Contributions(id string) []Binding {
	var out []Binding
	for n, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for _, b := range c.Bindings {
				if b.More != nil && b.More.In != nil && b.More.In.ID == id {
					out = append(out, s.bindingsOf(n, b)...)
				}
			}
		}
	}
	return inOrder(out)
}

// Multibind returns the place that declares the multibinding called id, and the key that it is bound to.
func (s *Site) Multibind(id string) (key string, at diag.Pos, ok bool) {
	for _, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for _, b := range c.Bindings {
				if b.More != nil && b.More.Multibind != nil && b.More.Multibind.ID == id {
					return b.Key, b.Pos, true
				}
			}
		}
	}
	return "", diag.Pos{}, false
}

// Multibinds returns the ids of all multibindings, sorted.
func (s *Site) Multibinds() (ids []string) {
	for _, layer := range s.Site.Layers {
		for _, c := range layer.Contributions {
			for _, b := range c.Bindings {
				if b.More != nil && b.More.Multibind != nil {
					ids = append(ids, b.More.Multibind.ID)
				}
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (s *Site) bindingsOf(layer int, b loader.Binding) (out []Binding) {
	for _, condition := range b.When {
		out = append(out, s.binding(layer, b.Pos, condition))
	}
	return out
}

func (s *Site) binding(layer int, at diag.Pos, condition int) Binding {
	terms := s.Site.Conditions[condition]
	return Binding{Pos: at, Layer: s.Site.Layers[layer].Name, When: s.Describe(terms), layer: layer, terms: terms}
}

// Describe formats a condition, as in "osfamily = debian".
func (s *Site) Describe(terms loader.Condition) string {
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = s.Site.Dimensions[t.Dimension].Name + " = " + t.Value
	}
	return strings.Join(parts, ", ")
}

// inOrder sorts bindings by precedence and removes duplicate places. A place may occur twice, because a file may be
// read under several conditions.
func inOrder(list []Binding) []Binding {
	slices.SortStableFunc(list, func(a, b Binding) int {
		return cmp.Or(cmp.Compare(a.layer, b.layer), compareConditions(a.terms, b.terms))
	})
	seen := map[diag.Pos]bool{}
	return slices.DeleteFunc(list, func(b Binding) bool {
		again := seen[b.Pos]
		seen[b.Pos] = true
		return again
	})
}

// compareConditions orders conditions by precedence: first the one with the higher category, or otherwise with more
// categories.
func compareConditions(a, b loader.Condition) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(a[i].Dimension, b[i].Dimension); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(b), len(a)), slices.CompareFunc(a, b, func(a, b relation.Term) int {
		return strings.Compare(a.Value, b.Value)
	}))
}
