package compile

import (
	"slices"

	"bindc/internal/diag"
	"bindc/snapshot"
)

// coldBinding is a binding that is in no scope of a level: lookups never read it, reports do.
type coldBinding struct {
	rank, order int
	cold        snapshot.Cold
}

// byRankAndOrder orders cold bindings by precedence.
func byRankAndOrder(a, b coldBinding) int {
	if a.rank != b.rank {
		return a.rank - b.rank
	}
	return a.order - b.order
}

// eachBinding calls yield with the keys that s binds and their values, by number in tables, and where they are written.
func (f *filler) eachBinding(s *scope, yield func(key, val uint32, at snapshot.Origin)) {
	for i := range s.members {
		m := &s.members[i]
		if m.binding != nil {
			yield(m.key, m.value, f.origin(m.binding.Pos))
			continue
		}
		input := uint32(f.site.InputOf[m.file.Path])
		for _, e := range m.file.Entries {
			yield(e.Key, e.Value, snapshot.Origin{Input: input, Line: e.Line, Col: e.Col})
		}
	}
}

// addCold records a binding of a key, by index in names: the unconditional one that counts, or one that is hidden.
func (f *filler) addCold(s *scope, key, val uint32, at snapshot.Origin) {
	f.cold[key] = append(f.cold[key], coldBinding{s.rank, len(f.cold[key]), snapshot.Cold{
		Layer: s.layer, Terms: f.snapshotTerms(s.condition), Origin: at, Value: val}})
}

// addHidden records the entries of files that no request gets, as another backend has all of their keys.
func (f *filler) addHidden(s *scope) {
	for _, file := range s.hidden {
		for i, e := range file.Entries {
			f.addCold(s, f.inNames[e.Key], f.stored(e.Value), f.origin(file.Pos(i)))
		}
	}
}

// coldContributions returns contributions for reports: the scopes have them only as part of a list.
func coldContributions(e *env, all []candidate) []coldBinding {
	out := make([]coldBinding, len(all))
	for i := range all {
		cand := &all[i]
		out[i] = coldBinding{cand.rank, cand.order, snapshot.Cold{Layer: cand.layer,
			Terms: e.snapshotTerms(cand.condition), Origin: e.origin(cand.pos()), Contribution: true}}
	}
	return out
}

// coldOf returns the cold bindings of a key in order of precedence. ranks are those of the levels, ascending.
func (l *levels) coldOf(key int, ranks []int) []snapshot.Cold {
	list := l.cold[key]
	slices.SortStableFunc(list, byRankAndOrder)
	out := make([]snapshot.Cold, len(list))
	for i, b := range list {
		out[i] = b.cold
		out[i].Above, _ = slices.BinarySearch(ranks, b.rank+1)
	}
	return out
}

func (e *env) origin(at diag.Pos) snapshot.Origin {
	return snapshot.Origin{Input: uint32(e.site.InputOf[at.File]), Line: uint32(at.Line), Col: uint32(at.Col)}
}

func (e *env) snapshotTerms(condition int) []snapshot.Term {
	var out []snapshot.Term
	for _, t := range e.site.Conditions[condition] {
		out = append(out, snapshot.Term{Dimension: t.Dimension, Value: t.Value})
	}
	return out
}
