// Package slice leaves of a site what some of its requests can reach.
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

// Parse reads CATEGORY=VALUE, each of another one of the categories among the dimensions.
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

// Misspelt returns a sentence for each term whose value no condition of content has, if one has nearly that value.
func Misspelt(content *snapshot.Content, terms []snapshot.Term) (out []string) {
	for _, t := range terms {
		if near := diag.Misspelt(t.Value, valuesOf(content, t.Dimension)); near != "" {
			out = append(out, fmt.Sprintf("%s is '%s', which no condition uses; did you mean '%s'?",
				content.Dimensions[t.Dimension].Name, t.Value, near))
		}
	}
	return out
}

// valuesOf returns the values of a dimension in the conditions of content.
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

// Cut leaves of content what requests in which all the terms hold can reach. Those are answered as they were, and
// others are refused: bindings, values, keys and names of files that only they could reach are gone. The terms are as
// Parse has them. A slice can be cut once more, and is then for requests that meet the terms of both.
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
	s.fill()
	s.scopes()
	s.keys()
	content.Bindings = len(s.written)
	s.values()
	s.inputs()
	return nil
}

// relationsOf are the relations among dimensions. Of values that are not folded nothing is known.
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

// slicer cuts one content. What stays is marked, and numbered anew by what comes after.
type slicer struct {
	out       *snapshot.Content
	relations *relation.Relations
	when      relation.Condition

	written  map[snapshot.Origin]bool // what stays: a binding of several alternatives is one
	had      []bool                   // per input, something is written there
	names    []bool                   // per key, it stays
	used     []bool                   // per value
	mentions []bool                   // per input, something that stays is written there
	above    []int                    // per number of levels that stood above, how many do now
}

func condition(terms []snapshot.Term) (c relation.Condition) {
	for _, t := range terms {
		c = append(c, relation.Term{Dimension: t.Dimension, Value: t.Value})
	}
	return relation.Union(nil, c)
}

// reached tells whether a request of the slice can meet the terms.
func (s *slicer) reached(terms []snapshot.Term) bool {
	return s.relations.Together(condition(terms), s.when)
}

func (s *slicer) fill() {
	s.written = map[snapshot.Origin]bool{}
	s.had, s.mentions = make([]bool, len(s.out.Inputs)), make([]bool, len(s.out.Inputs))
	s.names, s.used = make([]bool, len(s.out.Keys)), make([]bool, len(s.out.Values))
}

// mark notes where something is written, and whether it stays.
func (s *slicer) mark(o snapshot.Origin, stays bool) {
	if o.Line == 0 {
		return
	}
	s.had[o.Input] = true
	if stays {
		s.mentions[o.Input], s.written[o] = true, true
	}
}

// scopes drops those that no request of the slice is in, and levels that are left empty.
func (s *slicer) scopes() {
	s.above = []int{0}
	kept := s.out.Levels[:0]
	for _, l := range s.out.Levels {
		l.Scopes = slices.DeleteFunc(l.Scopes, func(sc snapshot.Scope) bool { return !s.scope(&l, &sc) })
		if len(l.Scopes) > 0 {
			kept = append(kept, l)
		}
		s.above = append(s.above, len(kept))
	}
	s.out.Levels = kept
}

// scope tells whether a scope stays, and marks what it holds.
func (s *slicer) scope(l *snapshot.Level, sc *snapshot.Scope) bool {
	var terms []snapshot.Term
	for i, d := range l.Dimensions {
		terms = append(terms, snapshot.Term{Dimension: d, Value: sc.Values[i]})
	}
	stays := s.reached(terms)
	for _, o := range sc.Origins {
		s.mark(o, stays)
	}
	for _, e := range sc.Entries {
		if stays {
			s.names[e.Key], s.used[e.Value] = true, true
		}
	}
	return stays
}

// keys drops those that nothing binds any more, and numbers the others.
func (s *slicer) keys() {
	number := make([]uint32, len(s.out.Keys))
	kept := s.out.Keys[:0]
	for i, k := range s.out.Keys {
		k.Cold = slices.DeleteFunc(k.Cold, func(c snapshot.Cold) bool { return !s.cold(&c) })
		for j := range k.Cold {
			k.Cold[j].Above = s.above[k.Cold[j].Above]
		}
		if k.Default >= 0 {
			s.used[k.Default] = true
		}
		if s.names[i] || k.Default >= 0 || len(k.Cold) > 0 {
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

// cold tells whether a binding that is in no scope stays.
func (s *slicer) cold(c *snapshot.Cold) bool {
	stays := s.reached(c.Terms)
	s.mark(c.Origin, stays)
	if stays && !c.Contribution {
		s.used[c.Value] = true
	}
	return stays
}

// values empties those that nothing is bound to any more; they are not written.
func (s *slicer) values() {
	arm8 := s.out.ARM8
	s.out.Sensitive, s.out.ARM8 = false, false
	for i := range s.out.Values {
		v := &s.out.Values[i]
		if !s.used[i] {
			*v = snapshot.Stored{}
		}
		s.out.Sensitive = s.out.Sensitive || v.Computed && recipe.IsSecret(v.Bytes)
		s.out.ARM8 = s.out.ARM8 || arm8 && v.Computed && recipe.IsARM8(v.Bytes)
	}
}

// inputs drops the files of which nothing stays. Those that bind nothing, as a hiera.yaml, stay.
func (s *slicer) inputs() {
	number := make([]uint32, len(s.out.Inputs))
	kept := s.out.Inputs[:0]
	for i, in := range s.out.Inputs {
		if !s.had[i] || s.mentions[i] {
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
