// Package slice reduces a snapshot to the data that selected requests can reach.
package slice

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/snapshot"
)

// Parse parses terms of the form CATEGORY=VALUE. Each category may occur only once.
func Parse(dimensions []snapshot.Dimension, given []string) (terms []snapshot.Term, err error) {
	for _, text := range given {
		name, val, ok := strings.Cut(text, "=")
		at := slices.IndexFunc(dimensions, func(d snapshot.Dimension) bool { return d.Name == name && !d.Guard })
		if !ok || val == "" || at < 0 {
			return nil, fmt.Errorf("expected CATEGORY=VALUE of one of the categories %s, found '%s'",
				strings.Join(categories(dimensions), ", "), text)
		}
		if slices.ContainsFunc(terms, func(t snapshot.Term) bool { return t.Dimension == at }) {
			return nil, fmt.Errorf("expected one value of '%s', found two", name)
		}
		if !dimensions[at].Exact {
			val = relation.Fold(val)
		}
		terms = append(terms, snapshot.Term{Dimension: at, Value: val})
	}
	return terms, nil
}

func categories(dimensions []snapshot.Dimension) (names []string) {
	for _, d := range dimensions {
		if !d.Guard {
			names = append(names, d.Name)
		}
	}
	return names
}

// Misspelt returns a sentence for each term whose value is probably misspelt: no condition uses the value, but one uses
// a similar value.
func Misspelt(content *snapshot.Content, terms []snapshot.Term) (out []string) {
	for _, t := range terms {
		if near := diag.Misspelt(t.Value, valuesOf(content, t.Dimension)); near != "" {
			out = append(out, fmt.Sprintf("%s is '%s', which no condition uses; did you mean '%s'?",
				content.Dimensions[t.Dimension].Name, t.Value, near))
		}
	}
	return out
}

// valuesOf returns the values that conditions compare with a dimension. It may return duplicates.
func valuesOf(content *snapshot.Content, dimension int) (out []string) {
	for _, l := range content.Levels {
		at := slices.Index(l.Dimensions, dimension)
		if at < 0 {
			continue
		}
		for _, s := range l.Scopes {
			out = append(out, s.Values[at])
		}
	}
	return out
}

// Cut reduces content to the data that requests which meet all terms can reach. The slice answers these requests as
// before and rejects all others. Cut removes everything that only other requests can reach, including keys and file
// names. If content already is a slice, its own terms continue to apply.
func Cut(content *snapshot.Content, terms []snapshot.Term) error {
	relations, err := relationsOf(content.Dimensions)
	if err != nil {
		return err
	}
	for _, t := range content.Slice {
		at := slices.IndexFunc(terms, func(u snapshot.Term) bool { return u.Dimension == t.Dimension })
		if at < 0 {
			terms = append(terms, t)
		} else if terms[at] != t {
			return fmt.Errorf("this is a slice for requests with %s '%s' only: it has nothing for '%s'",
				content.Dimensions[t.Dimension].Name, t.Value, terms[at].Value)
		}
	}
	s := slicer{out: content, relations: relations, when: condition(terms)}
	content.Slice = terms
	s.init()
	s.scopes()
	s.keys()
	content.Bindings = len(s.origins)
	s.values()
	s.inputs()
	return nil
}

// relationsOf returns the relations between dimensions. Values that are compared with case are treated as unknown.
func relationsOf(dimensions []snapshot.Dimension) (*relation.Relations, error) {
	out := make([]relation.Dimension, len(dimensions))
	for i, d := range dimensions {
		out[i] = relation.Dimension{Category: i, Guard: d.Guard}
		if d.Guard {
			out[i].Category = d.Category
		}
		if d.Exact {
			continue
		}
		n, err := expr.Decode(string(d.Program))
		if err != nil {
			expected := "the expression of " + d.Name + ": " + err.Error()
			return nil, &snapshot.DamageError{Section: "meta", Expected: expected}
		}
		out[i].Value = n
	}
	return relation.New(out, func(int) {}), nil
}

// slicer cuts a content in two steps: it marks what stays, and then removes and renumbers.
type slicer struct {
	out       *snapshot.Content
	relations *relation.Relations
	when      relation.Condition

	origins     map[snapshot.Origin]bool // positions of the bindings that stay; alternatives share a position
	inputBinds  []bool                   // by input file: whether it binds anything
	keyStays    []bool                   // by key: whether it stays
	valueStays  []bool                   // by value: whether it stays
	inputStays  []bool                   // by input file: whether any of its bindings stays
	levelsAbove []int                    // by number of levels above before the cut: the number after it
}

func condition(terms []snapshot.Term) (c relation.Condition) {
	for _, t := range terms {
		c = append(c, relation.Term{Dimension: t.Dimension, Value: t.Value})
	}
	return relation.Union(nil, c)
}

// isReachable reports whether some request of the slice can meet all terms.
func (s *slicer) isReachable(terms []snapshot.Term) bool {
	return s.relations.Together(condition(terms), s.when)
}

func (s *slicer) init() {
	s.origins = map[snapshot.Origin]bool{}
	s.inputBinds, s.inputStays = make([]bool, len(s.out.Inputs)), make([]bool, len(s.out.Inputs))
	s.keyStays, s.valueStays = make([]bool, len(s.out.Keys)), make([]bool, len(s.out.Values))
}

// mark records a binding at position o, and whether it stays.
func (s *slicer) mark(o snapshot.Origin, stays bool) {
	if o.Line == 0 {
		return
	}
	s.inputBinds[o.Input] = true
	if stays {
		s.inputStays[o.Input], s.origins[o] = true, true
	}
}

// scopes removes scopes that no request of the slice can reach, and levels without scopes.
func (s *slicer) scopes() {
	s.levelsAbove = []int{0}
	kept := s.out.Levels[:0]
	for _, l := range s.out.Levels {
		l.Scopes = slices.DeleteFunc(l.Scopes, func(sc snapshot.Scope) bool { return !s.keepScope(&l, &sc) })
		if len(l.Scopes) > 0 {
			kept = append(kept, l)
		}
		s.levelsAbove = append(s.levelsAbove, len(kept))
	}
	s.out.Levels = kept
}

// keepScope reports whether a scope stays, and marks the scope's content accordingly.
func (s *slicer) keepScope(l *snapshot.Level, sc *snapshot.Scope) bool {
	var terms []snapshot.Term
	for i, d := range l.Dimensions {
		terms = append(terms, snapshot.Term{Dimension: d, Value: sc.Values[i]})
	}
	stays := s.isReachable(terms)
	for _, o := range sc.Origins {
		s.mark(o, stays)
	}
	for _, e := range sc.Entries {
		if stays {
			s.keyStays[e.Key], s.valueStays[e.Value] = true, true
		}
	}
	return stays
}

// keys removes keys without bindings and renumbers the rest.
func (s *slicer) keys() {
	number := make([]uint32, len(s.out.Keys))
	kept := s.out.Keys[:0]
	for i, k := range s.out.Keys {
		k.Cold = slices.DeleteFunc(k.Cold, func(c snapshot.Cold) bool { return !s.keepCold(&c) })
		for j := range k.Cold {
			k.Cold[j].Above = s.levelsAbove[k.Cold[j].Above]
		}
		if k.Default >= 0 {
			s.valueStays[k.Default] = true
		}
		if s.keyStays[i] || k.Default >= 0 || len(k.Cold) > 0 {
			number[i] = uint32(len(kept))
			kept = append(kept, k)
		}
	}
	clear(s.out.Keys[len(kept):])
	s.out.Keys = kept
	for _, l := range s.out.Levels {
		for _, sc := range l.Scopes {
			for j := range sc.Entries {
				sc.Entries[j].Key = number[sc.Entries[j].Key]
			}
		}
	}
}

// keepCold reports whether a binding outside all scopes stays, and marks it accordingly.
func (s *slicer) keepCold(c *snapshot.Cold) bool {
	stays := s.isReachable(c.Terms)
	s.mark(c.Origin, stays)
	if stays && !c.Contribution {
		s.valueStays[c.Value] = true
	}
	return stays
}

// values replaces values that are no longer bound by empty ones, which are not written.
func (s *slicer) values() {
	arm8 := s.out.ARM8
	s.out.Sensitive, s.out.ARM8 = false, false
	for i := range s.out.Values {
		v := &s.out.Values[i]
		if !s.valueStays[i] {
			*v = snapshot.Stored{}
		}
		s.out.Sensitive = s.out.Sensitive || v.Computed && recipe.IsSecret(v.Bytes)
		s.out.ARM8 = s.out.ARM8 || arm8 && v.Computed && recipe.IsARM8(v.Bytes)
	}
}

// inputs removes files whose bindings are all gone. Files that never had bindings, such as hiera.yaml, stay.
func (s *slicer) inputs() {
	number := make([]uint32, len(s.out.Inputs))
	kept := s.out.Inputs[:0]
	for i, in := range s.out.Inputs {
		if !s.inputBinds[i] || s.inputStays[i] {
			number[i] = uint32(len(kept))
			kept = append(kept, in)
		}
	}
	s.out.Inputs = kept
	renumber := func(o *snapshot.Origin) {
		if o.Line > 0 {
			o.Input = number[o.Input]
		}
	}
	for _, l := range s.out.Levels {
		for _, sc := range l.Scopes {
			for j := range sc.Origins {
				renumber(&sc.Origins[j])
			}
		}
	}
	for _, k := range s.out.Keys {
		for j := range k.Cold {
			renumber(&k.Cold[j].Origin)
		}
	}
}
