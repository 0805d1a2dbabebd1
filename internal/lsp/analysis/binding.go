package analysis

import (
	"cmp"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/relation"
	"bindc/loader"
)

// Binding is the position of a binding or contribution in a file.
type Binding struct {
	Pos   diag.Pos
	Layer string
	When  string // condition in readable form, or ""

	layer int
	terms loader.Condition
}

// Bindings returns the bindings of a key, highest first.
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

// Contributions returns the contributions to the multibinding called id, highest first.
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

// Multibind returns where the multibinding called id is declared and the key to which it is bound. ok is false if there
// is no declaration.
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

// Multibinds returns the ids of all multibindings, sorted and without duplicates.
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

// Describe formats a condition, such as "osfamily = debian".
func (s *Site) Describe(terms loader.Condition) string {
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = s.Site.Dimensions[t.Dimension].Name + " = " + t.Value
	}
	return strings.Join(parts, ", ")
}

// inOrder sorts bindings by precedence and removes duplicates. A binding occurs several times if its file is read under
// several conditions.
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

// compareConditions compares conditions by precedence. The condition with the higher category comes first, and
// otherwise the one with more categories.
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
