package compile

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/diag"
	"bindc/loader"
	"bindc/snapshot"
)

// levelKey is a layer and the dimensions of a condition; requests are in one scope of it at most.
type levelKey struct {
	layer int
	dims  string // numbers, as appendDims writes them
}

type level struct {
	rank    int
	dims    []int
	entries map[int][]snapshot.Entry // by condition
}

// decide settles every key: conflicts, abstract and override, then what the index holds.
func (c *composer) decide() {
	c.levels = map[levelKey]*level{}
	c.defaults = make([]int, len(c.names))
	for key := range c.names {
		cs := c.candidates[key]
		slices.SortStableFunc(cs, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
		k := keyIndex{composer: c, name: c.names[key], all: cs}
		k.checkConflicts()
		k.checkKinds()
		c.defaults[key] = c.index(key, cs)
	}
}

// index enters the candidates of a key that can win, and returns the value of the unconditional one, or -1.
func (c *composer) index(key int, cs []candidate) int {
	for _, cand := range cs {
		if cand.condition == 0 {
			return int(cand.value) // it hides everything below
		}
		c.enter(key, cand)
	}
	return -1
}

// enter puts a candidate into its scope. Of two under one condition, which a higher binding hides both, the first stays.
func (c *composer) enter(key int, cand candidate) {
	dims := dimsOf(c.site.Conditions[cand.condition])
	lk := levelKey{cand.layer, string(appendDims(nil, dims))}
	l := c.levels[lk]
	if l == nil {
		l = &level{rank: cand.rank, dims: dims, entries: map[int][]snapshot.Entry{}}
		c.levels[lk] = l
	}
	es := l.entries[cand.condition]
	if n := len(es); n > 0 && es[n-1].Key == uint32(key) {
		return // keys are entered one after the other
	}
	l.entries[cand.condition] = append(es, snapshot.Entry{Key: uint32(key), Value: cand.value})
}

func dimsOf(c loader.Condition) []int {
	out := make([]int, len(c))
	for i, t := range c {
		out[i] = t.Dimension
	}
	return out
}

func appendDims(dst []byte, dims []int) []byte {
	for _, d := range dims {
		dst = binary.AppendUvarint(dst, uint64(d))
	}
	return dst
}

// appendLevels writes the levels in order of precedence, their scopes sorted by value.
func (c *composer) appendLevels(out *snapshot.Content, number []uint32) {
	keys := make([]levelKey, 0, len(c.levels))
	for k := range c.levels {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b levelKey) int {
		return cmp.Or(cmp.Compare(c.levels[a].rank, c.levels[b].rank), strings.Compare(a.dims, b.dims))
	})
	for _, k := range keys {
		l := c.levels[k]
		sl := snapshot.Level{Layer: k.layer, Dimensions: l.dims}
		for condition, entries := range l.entries {
			s := snapshot.Scope{Entries: entries}
			for _, t := range c.site.Conditions[condition] {
				s.Values = append(s.Values, t.Value)
			}
			for i := range entries {
				entries[i].Key = number[entries[i].Key]
			}
			slices.SortFunc(entries, func(a, b snapshot.Entry) int { return cmp.Compare(a.Key, b.Key) })
			sl.Scopes = append(sl.Scopes, s)
		}
		slices.SortFunc(sl.Scopes, func(a, b snapshot.Scope) int { return slices.Compare(a.Values, b.Values) })
		out.Levels = append(out.Levels, sl)
	}
}

// keyIndex answers, for one key, which of its candidates can be effective together. It is built as far as it is asked.
type keyIndex struct {
	*composer
	name   string
	all    []candidate // highest rank first
	groups []*group
}

// group is the candidates whose conditions name the same dimensions.
type group struct {
	dims    []int
	members []int // indexes in all
	by      map[string]map[string][]int
}

func (k *keyIndex) terms(i int) loader.Condition { return k.site.Conditions[k.all[i].condition] }

func (k *keyIndex) group() []*group {
	if k.groups != nil {
		return k.groups
	}
	byDims := map[string]*group{}
	for i := range k.all {
		dims := dimsOf(k.terms(i))
		key := string(appendDims(nil, dims))
		g := byDims[key]
		if g == nil {
			g = &group{dims: dims, by: map[string]map[string][]int{}}
			byDims[key] = g
			k.groups = append(k.groups, g)
		}
		g.members = append(g.members, i)
	}
	return k.groups
}

// compatible ranges over the candidates that can be effective together with terms; with implied, over those that are
// effective whenever terms hold.
func (k *keyIndex) compatible(terms loader.Condition, implied bool) func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, g := range k.group() {
			shared := sharedDims(g.dims, terms)
			if implied && len(shared) < len(g.dims) {
				continue
			}
			for _, i := range k.project(g, shared)[projection(terms, shared)] {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// project indexes a group by the values its members have for some of its dimensions.
func (k *keyIndex) project(g *group, shared []int) map[string][]int {
	key := string(appendDims(nil, shared))
	m := g.by[key]
	if m == nil {
		m = map[string][]int{}
		for _, i := range g.members {
			p := projection(k.terms(i), shared)
			m[p] = append(m[p], i)
		}
		g.by[key] = m
	}
	return m
}

func sharedDims(dims []int, terms loader.Condition) []int {
	var out []int
	for _, t := range terms {
		if slices.Contains(dims, t.Dimension) {
			out = append(out, t.Dimension)
		}
	}
	return out
}

func projection(terms loader.Condition, dims []int) string {
	var b strings.Builder
	for _, t := range terms {
		if slices.Contains(dims, t.Dimension) {
			b.WriteString(t.Value)
			b.WriteByte(0)
		}
	}
	return b.String()
}

// hidden tells whether a candidate above rank is effective whenever terms hold.
func (k *keyIndex) hidden(rank int, terms loader.Condition) bool {
	for i := range k.compatible(terms, true) {
		if k.all[i].rank < rank {
			return true
		}
	}
	return false
}

// checkConflicts reports the pairs of equal rank that can be effective together, unless something hides them.
func (k *keyIndex) checkConflicts() {
	for from := 0; from < len(k.all); {
		to := from + 1
		for to < len(k.all) && k.all[to].rank == k.all[from].rank {
			to++
		}
		if to-from > 1 {
			k.checkRank(from, to)
		}
		from = to
	}
}

func (k *keyIndex) checkRank(from, to int) {
	reported := map[[2]*loader.Binding]bool{}
	for i := from; i < to; i++ {
		for j := range k.compatible(k.terms(i), false) {
			a, b := &k.all[i], &k.all[j]
			if j <= i || j >= to || a.binding == b.binding && a.layer == b.layer && a.place == b.place || reported[[2]*loader.Binding{a.binding, b.binding}] {
				continue
			}
			if both := union(k.terms(i), k.terms(j)); !k.hidden(a.rank, both) {
				reported[[2]*loader.Binding{a.binding, b.binding}] = true
				k.conflict(a, b, both)
			}
		}
	}
}

// union is the terms of both conditions, which agree where they name the same dimension.
func union(a, b loader.Condition) loader.Condition {
	out := slices.Clone(a)
	for _, t := range b {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(x, y loader.Term) int { return cmp.Compare(x.Dimension, y.Dimension) })
	return out
}

func (k *keyIndex) conflict(a, b *candidate, both loader.Condition) {
	if b.binding.Pos().Compare(a.binding.Pos()) < 0 {
		a, b = b, a
	}
	k.diags.Add(diag.Diagnostic{Pos: a.binding.Pos(), Code: "conflict",
		Message: "'" + k.name + "' is bound twice with the same precedence" + k.describe(both) + k.inLayer(a.layer),
		Notes:   []diag.Note{{Pos: b.binding.Pos(), Message: "also bound here"}},
		Hint:    "bind '" + k.name + "' once in a higher layer or under a narrower condition, or remove one of the two"})
}

// inLayer is a layer in words; a site of one layer does not name it.
func (c *composer) inLayer(n int) string {
	switch name := c.site.Layers[n].Name; {
	case name != "":
		return " in layer '" + name + "'"
	case len(c.site.Layers) > 1:
		return " in layer " + strconv.Itoa(n+1)
	}
	return ""
}

// describe is a condition in words: " where environment is production".
func (c *composer) describe(terms loader.Condition) string {
	if len(terms) == 0 {
		return ""
	}
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = c.site.Dimensions[t.Dimension].Name + " is '" + t.Value + "'"
	}
	return " where " + strings.Join(parts, " and ")
}

// checkKinds holds abstract and override bindings to what they promise.
func (k *keyIndex) checkKinds() {
	for i := range k.all {
		more := k.all[i].binding.More
		if more == nil || !more.Abstract && !more.Override || k.hidden(k.all[i].rank, k.terms(i)) {
			continue
		}
		if more.Abstract {
			k.checkAbstract(i)
		}
		if more.Override {
			k.checkOverride(i)
		}
	}
}

// checkAbstract: something concrete must beat the binding. What beats it always would hide it, and it is not hidden.
func (k *keyIndex) checkAbstract(i int) {
	at := k.all[i].binding.Pos()
	for j := range k.compatible(k.terms(i), false) {
		if other := k.all[j].binding; k.all[j].place != k.all[i].place && k.all[j].rank < k.all[i].rank && (other.More == nil || !other.More.Abstract) {
			k.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "abstract",
				Message: "the abstract binding of '" + k.name + "' is bound only under some conditions; in other requests a lookup is an error",
				Notes:   []diag.Note{{Pos: other.Pos(), Message: "bound here" + k.describe(k.terms(j))}}})
			return
		}
	}
	k.diags.Add(diag.Diagnostic{Pos: at, Code: "abstract",
		Message: "'" + k.name + "' is abstract" + k.describe(k.terms(i)) + " and nothing of higher precedence binds it",
		Hint:    "bind '" + k.name + "' in a higher layer or under a condition of higher precedence"})
}

// checkOverride: the binding must beat something, in its own layer or below. Where it is only beaten itself, by something
// of its own layer that is not always effective, that is worth a warning.
func (k *keyIndex) checkOverride(i int) {
	at := k.all[i].binding.Pos()
	beaten, rival, always := -1, -1, false
	for j := range k.compatible(k.terms(i), false) {
		switch {
		case k.all[j].place == k.all[i].place: // an alternative of the binding itself
		case k.all[j].rank > k.all[i].rank:
			beaten = j
			always = always || implies(k.terms(i), k.terms(j))
		case k.all[j].rank < k.all[i].rank && k.all[j].layer == k.all[i].layer:
			rival = j
		}
	}
	switch {
	case beaten >= 0 && !always:
		k.overrideWarning(at, "overrides something only in some of the requests it is effective in", "overridden here", beaten)
	case beaten < 0 && rival >= 0:
		k.overrideWarning(at, "is said to override something, but is only overridden itself", "it is overridden here", rival)
	case beaten < 0:
		d := diag.Diagnostic{Pos: at, Code: "override", Message: "'" + k.name + "' is said to override something" + k.describe(k.terms(i)) + ", but nothing of lower precedence binds it"}
		others := slices.DeleteFunc(slices.Clone(k.names), func(n string) bool { return n == k.name })
		if near := diag.Suggest(k.name, others); near != "" {
			d.Hint = "did you mean '" + near + "'?"
		}
		k.diags.Add(d)
	}
}

func (k *keyIndex) overrideWarning(at diag.Pos, what, note string, other int) {
	k.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "override", Message: "'" + k.name + "' " + what,
		Notes: []diag.Note{{Pos: k.all[other].binding.Pos(), Message: note + k.describe(k.terms(other))}}})
}

// implies tells whether b holds whenever a does.
func implies(a, b loader.Condition) bool {
	for _, t := range b {
		if !slices.Contains(a, t) {
			return false
		}
	}
	return true
}
