package decision

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"bindc/internal/relation"
)

// conditionTable finds conditions by what they have in common with another: settled, those over the same dimensions are
// a group, and a group has an index of each part of its dimensions that was asked for.
type conditionTable struct {
	*dimensions
	conditions []relation.Condition
	settled    []relation.Condition
	groups     []*group
	byNames    map[string]*group
}

type group struct {
	dims    []int
	members []int
	shares  []*share
}

// share is the members of a group by the values they have of some dimensions.
type share struct {
	dims    []int
	members map[string][]int
}

func newTable(d *dimensions, cs ...relation.Condition) *conditionTable {
	t := &conditionTable{dimensions: d, byNames: map[string]*group{}}
	for _, c := range cs {
		t.add(c)
	}
	return t
}

// tableOf is the conditions of rows, and behind them that of all requests.
func tableOf(d *dimensions, rows []Row) *conditionTable {
	cs := make([]relation.Condition, len(rows)+1)
	for i := range rows {
		cs[i] = rows[i].terms
	}
	return newTable(d, cs...)
}

// add adds the next condition.
func (t *conditionTable) add(c relation.Condition) {
	i, settled := len(t.conditions), t.Settled(c)
	t.conditions, t.settled = append(t.conditions, c), append(t.settled, settled)
	var dims []int
	var id []byte
	for _, term := range settled {
		dims, id = append(dims, term.Dimension), binary.AppendUvarint(id, uint64(term.Dimension))
	}
	g := t.byNames[string(id)]
	if g == nil {
		g = &group{dims: dims}
		t.byNames[string(id)] = g
		t.groups = append(t.groups, g)
	}
	g.members = append(g.members, i)
	for _, s := range g.shares {
		key := valuesOf(settled, s.dims)
		s.members[key] = append(s.members[key], i)
	}
}

// valuesOf tells the values that a condition has of dims from all others.
func valuesOf(c relation.Condition, dims []int) string {
	var b []byte
	for _, t := range c {
		if slices.Contains(dims, t.Dimension) {
			b = append(binary.AppendUvarint(b, uint64(len(t.Value))), t.Value...)
		}
	}
	return string(b)
}

// with are the members of g that agree with c, which is settled, in all dimensions they share, in order.
func (g *group) with(t *conditionTable, c relation.Condition) []int {
	var shared []int
	for _, term := range c {
		if slices.Contains(g.dims, term.Dimension) {
			shared = append(shared, term.Dimension)
		}
	}
	i := slices.IndexFunc(g.shares, func(s *share) bool { return slices.Equal(s.dims, shared) })
	if i < 0 {
		s := &share{shared, map[string][]int{}}
		for _, m := range g.members {
			key := valuesOf(t.settled[m], shared)
			s.members[key] = append(s.members[key], m)
		}
		i, g.shares = len(g.shares), append(g.shares, s)
	}
	return g.shares[i].members[valuesOf(c, shared)]
}

// meeting are the conditions that can hold where c does, in order.
func (t *conditionTable) meeting(c relation.Condition) []int {
	settled := t.Settled(c)
	var out []int
	for _, g := range t.groups {
		for _, m := range g.with(t, settled) {
			if t.Together(c, t.conditions[m]) {
				out = append(out, m)
			}
		}
	}
	slices.Sort(out)
	return out
}

// first is the first condition that holds in a case; len(t.conditions) if there is none.
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
		for _, m := range g.with(t, in.Condition) {
			if m < best && t.Holds(t.conditions[m], in) {
				best = m
				break
			}
		}
	}
	return best
}

// covering returns a condition that, with those before it, covers c: in whatever way c holds, one of them does. It
// returns len(t.conditions) if there is none.
func (t *conditionTable) covering(c relation.Condition) int {
	last := 0
	for _, in := range t.Cases(c) {
		last = max(last, t.first(in))
	}
	return last
}

// rest is what c asks for where given holds already.
func (d *dimensions) rest(c, given relation.Condition) relation.Condition {
	return slices.DeleteFunc(slices.Clone(c), func(t relation.Term) bool {
		return d.Implies(given, relation.Condition{t})
	})
}

// simplest leaves out conditions that others cover. One that covers another determines no more variables, and so
// comes first.
func (d *dimensions) simplest(cs []relation.Condition) []relation.Condition {
	slices.SortStableFunc(cs, func(a, b relation.Condition) int {
		return cmp.Or(cmp.Compare(len(d.Settled(a)), len(d.Settled(b))), cmp.Compare(len(a), len(b)))
	})
	t := newTable(d)
	var out []relation.Condition
	for _, c := range cs {
		if t.covering(c) == len(t.conditions) {
			t.add(c)
			out = append(out, c)
		}
	}
	return out
}

// key identifies the condition of a row, regardless of the order of categories.
func (r *Row) key() string {
	var b strings.Builder
	for _, t := range r.terms {
		fmt.Fprintf(&b, "%d\x00%s\x00", t.Dimension, t.Value)
	}
	return b.String()
}
