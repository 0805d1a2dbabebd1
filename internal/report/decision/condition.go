package decision

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"bindc/internal/relation"
)

// conditionTable finds the conditions that can hold at the same time as a given one. It groups conditions by their
// dimensions and indexes the groups by value as searches need it.
type conditionTable struct {
	*dimensions
	conditions   []relation.Condition
	settled      []relation.Condition
	groups       []*group
	byDimensions map[string]*group
}

type group struct {
	dims    []int
	members []int
	indexes []*valueIndex
}

// valueIndex maps the values of dims, encoded by valuesOf, to the members of a group that have them.
type valueIndex struct {
	dims    []int
	members map[string][]int
}

func newConditionTable(d *dimensions, cs ...relation.Condition) *conditionTable {
	t := &conditionTable{dimensions: d, byDimensions: map[string]*group{}}
	for _, c := range cs {
		t.add(c)
	}
	return t
}

// tableOfRows returns a table of the conditions of rows, followed by an empty condition that always holds.
func tableOfRows(d *dimensions, rows []Row) *conditionTable {
	cs := make([]relation.Condition, len(rows)+1)
	for i := range rows {
		cs[i] = rows[i].terms
	}
	return newConditionTable(d, cs...)
}

func (t *conditionTable) add(c relation.Condition) {
	i, settled := len(t.conditions), t.Settled(c)
	t.conditions, t.settled = append(t.conditions, c), append(t.settled, settled)
	var dims []int
	var id []byte
	for _, term := range settled {
		dims, id = append(dims, term.Dimension), binary.AppendUvarint(id, uint64(term.Dimension))
	}
	g := t.byDimensions[string(id)]
	if g == nil {
		g = &group{dims: dims}
		t.byDimensions[string(id)] = g
		t.groups = append(t.groups, g)
	}
	g.members = append(g.members, i)
	for _, s := range g.indexes {
		key := valuesOf(settled, s.dims)
		s.members[key] = append(s.members[key], i)
	}
}

// valuesOf encodes the values that c has in the dimensions dims. The encoding is unique.
func valuesOf(c relation.Condition, dims []int) string {
	var b []byte
	for _, t := range c {
		if slices.Contains(dims, t.Dimension) {
			b = append(binary.AppendUvarint(b, uint64(len(t.Value))), t.Value...)
		}
	}
	return string(b)
}

// agreeing returns the members of g that have the same values as c in all dimensions that both use, in ascending order.
// c must be settled.
func (g *group) agreeing(t *conditionTable, c relation.Condition) []int {
	var shared []int
	for _, term := range c {
		if slices.Contains(g.dims, term.Dimension) {
			shared = append(shared, term.Dimension)
		}
	}
	i := slices.IndexFunc(g.indexes, func(s *valueIndex) bool { return slices.Equal(s.dims, shared) })
	if i < 0 {
		s := &valueIndex{shared, map[string][]int{}}
		for _, m := range g.members {
			key := valuesOf(t.settled[m], shared)
			s.members[key] = append(s.members[key], m)
		}
		i, g.indexes = len(g.indexes), append(g.indexes, s)
	}
	return g.indexes[i].members[valuesOf(c, shared)]
}

// overlapping returns the indices of the conditions that can hold at the same time as c, in ascending order.
func (t *conditionTable) overlapping(c relation.Condition) []int {
	settled := t.Settled(c)
	var out []int
	for _, g := range t.groups {
		for _, m := range g.agreeing(t, settled) {
			if t.Together(c, t.conditions[m]) {
				out = append(out, m)
			}
		}
	}
	slices.Sort(out)
	return out
}

// first returns the index of the first condition that holds in the given case, or len(t.conditions) if none does.
func (t *conditionTable) first(in relation.Case) int {
	best := len(t.conditions)
	for _, g := range t.groups {
		other := func(dim int) bool {
			same := func(t relation.Term) bool { return t.Dimension == dim }
			return !t.IsOpen(dim) && !slices.ContainsFunc(in.Condition, same)
		}
		if slices.ContainsFunc(g.dims, other) {
			continue
		}
		for _, m := range g.agreeing(t, in.Condition) {
			if m < best && t.Holds(t.conditions[m], in) {
				best = m
				break
			}
		}
	}
	return best
}

// covering returns the smallest index i such that, whenever c holds, one of the conditions up to i holds. It returns
// len(t.conditions) if all conditions together do not cover c.
func (t *conditionTable) covering(c relation.Condition) int {
	last := 0
	for _, in := range t.Cases(c) {
		last = max(last, t.first(in))
	}
	return last
}

// remaining returns the terms of c that given does not already imply.
func (d *dimensions) remaining(c, given relation.Condition) relation.Condition {
	return slices.DeleteFunc(slices.Clone(c), func(t relation.Term) bool {
		return d.Implies(given, relation.Condition{t})
	})
}

// minimal removes the conditions that the remaining ones cover. It sorts conditions by their number of variables,
// because a condition never covers one with fewer variables.
func (d *dimensions) minimal(cs []relation.Condition) []relation.Condition {
	slices.SortStableFunc(cs, func(a, b relation.Condition) int {
		return cmp.Or(cmp.Compare(len(d.Settled(a)), len(d.Settled(b))), cmp.Compare(len(a), len(b)))
	})
	t := newConditionTable(d)
	var out []relation.Condition
	for _, c := range cs {
		if t.covering(c) == len(t.conditions) {
			t.add(c)
			out = append(out, c)
		}
	}
	return out
}

// conditionID returns a string that is equal for rows with the same condition. The order of the categories does not
// matter.
func (r *Row) conditionID() string {
	var b strings.Builder
	for _, t := range r.terms {
		fmt.Fprintf(&b, "%d\x00%s\x00", t.Dimension, t.Value)
	}
	return b.String()
}
