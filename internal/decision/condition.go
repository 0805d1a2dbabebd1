package decision

import (
	"slices"
	"strconv"
	"strings"

	bindings "bindc/runtime"
)

// condition is terms sorted by name.
type condition []bindings.Term

func byName(a, b bindings.Term) int { return strings.Compare(a.Name, b.Name) }

func conditionOf(terms []bindings.Term) condition {
	c := condition(slices.Clone(terms))
	slices.SortFunc(c, byName)
	return c
}

// and is what holds where both hold, which must be possible.
func (c condition) and(d condition) condition {
	out := make(condition, 0, len(c)+len(d))
	out = append(append(out, c...), d...)
	slices.SortFunc(out, byName)
	return slices.Compact(out)
}

// less is c without the terms of d.
func (c condition) less(d condition) condition {
	out := condition{}
	for _, t := range c {
		if !slices.Contains(d, t) {
			out = append(out, t)
		}
	}
	return out
}

// key tells a condition from all others.
func (c condition) key() string {
	var b []byte
	for _, t := range c {
		b = strconv.AppendQuote(strconv.AppendQuote(b, t.Name), t.Value)
	}
	return string(b)
}

// of is the part of c that is about names.
func (c condition) of(names []string) condition {
	out := make(condition, 0, len(names))
	for _, t := range c {
		if slices.Contains(names, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// conditionTable finds conditions by what they have in common with another: those over the same names are a group, and
// a group has an index of each part of its names that was asked for.
type conditionTable struct {
	conditions []condition
	groups     []*group
	byNames    map[string]*group
}

type group struct {
	names   []string
	members []int
	indexes map[string]map[string][]int // by the names in common, and the terms over these, the members
}

func newTable(cs []condition) *conditionTable {
	t := &conditionTable{byNames: map[string]*group{}}
	for i, c := range cs {
		t.add(c, i)
	}
	return t
}

// tableOf is the conditions of rows, and behind them that of all requests.
func tableOf(rows []Row) *conditionTable {
	cs := make([]condition, len(rows)+1)
	for i := range rows {
		cs[i] = conditionOf(rows[i].When)
	}
	return newTable(cs)
}

// add adds condition number i, which is the next.
func (t *conditionTable) add(c condition, i int) {
	t.conditions = append(t.conditions, c)
	names := make([]string, len(c))
	for k, term := range c {
		names[k] = term.Name
	}
	id := strings.Join(names, "\x00")
	g := t.byNames[id]
	if g == nil {
		g = &group{names: names, indexes: map[string]map[string][]int{}}
		t.byNames[id] = g
		t.groups = append(t.groups, g)
	}
	g.members = append(g.members, i)
	for shared, index := range g.indexes {
		key := c.of(strings.Split(shared, "\x00")).key()
		index[key] = append(index[key], i)
	}
}

// with are the members of g that agree with c in all names they share, in order.
func (g *group) with(t *conditionTable, c condition) []int {
	var shared []string
	for _, term := range c {
		if slices.Contains(g.names, term.Name) {
			shared = append(shared, term.Name)
		}
	}
	if len(shared) == 0 {
		return g.members
	}
	id := strings.Join(shared, "\x00")
	index := g.indexes[id]
	if index == nil {
		index = map[string][]int{}
		for _, m := range g.members {
			key := t.conditions[m].of(shared).key()
			index[key] = append(index[key], m)
		}
		g.indexes[id] = index
	}
	return index[c.of(shared).key()]
}

// meeting are the conditions that can hold where c does, in order.
func (t *conditionTable) meeting(c condition) []int {
	var out []int
	for _, g := range t.groups {
		out = append(out, g.with(t, c)...)
	}
	slices.Sort(out)
	return out
}

// first is the first condition that holds wherever c does; len(t.conditions) if there is none.
func (t *conditionTable) first(c condition) int {
	best := len(t.conditions)
	for _, g := range t.groups {
		within := true
		for _, name := range g.names {
			within = within && slices.ContainsFunc(c, func(t bindings.Term) bool { return t.Name == name })
		}
		if !within {
			continue
		}
		if ms := g.with(t, c); len(ms) > 0 {
			best = min(best, ms[0])
		}
	}
	return best
}

// simplest leaves out conditions that another one implies.
func simplest(cs []condition) [][]bindings.Term {
	slices.SortStableFunc(cs, func(a, b condition) int { return len(a) - len(b) })
	t := newTable(nil)
	var out [][]bindings.Term
	for _, c := range cs {
		if t.first(c) == len(t.conditions) {
			t.add(c, len(t.conditions))
			out = append(out, c)
		}
	}
	return out
}
