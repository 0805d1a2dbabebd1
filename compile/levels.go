package compile

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"bindc/snapshot"
)

// levels is the index of a site: for every key what can win, and what cannot.
type levels struct {
	defaults []keyDefault // per key
	byKey    map[levelKey]*level
	cold     [][]coldBinding // per key, the bindings that are in no scope of a level
}

// levelKey is a layer and the shape of a condition. A request is in at most one scope of a level.
type levelKey struct{ layer, shape int }

type level struct {
	rank   int
	scopes []snapshot.Scope
}

// keyDefault is the highest unconditional binding of a key. It hides all bindings below it.
type keyDefault struct {
	rank  int // noRank if there is none
	value int // in the snapshot; -1 if there is none
}

// noRank is below all ranks.
const noRank = math.MaxInt

// findDefaults finds the highest unconditional binding of every key.
func findDefaults(s *orderedSite) []keyDefault {
	out := make([]keyDefault, len(s.names))
	for key := range out {
		out[key] = keyDefault{noRank, -1}
	}
	for i := range s.scopes {
		sc := &s.scopes[i]
		if sc.condition != 0 {
			continue
		}
		for key, val := range sc.bound() {
			n := s.inNames[key]
			if sc.rank < out[n].rank && !isLookupOptions(s.keys[key]) && s.isFinal(key, val) {
				out[n] = keyDefault{sc.rank, int(s.stored(s.merges.found(sc.layer, key, val)))}
			}
		}
	}
	return out
}

// fillLevels puts the bindings that can win into levels.
func fillLevels(e *env, s *orderedSite, internal *internalEntries) *levels {
	out := &levels{defaults: findDefaults(s), byKey: map[levelKey]*level{}, cold: make([][]coldBinding, len(s.names))}
	for key, list := range internal.cold {
		out.cold[key] = list
	}
	f := filler{env: e, orderedSite: s, levels: out}
	filled := make(map[scopeKey]bool, len(internal.byScope))
	for i := range s.scopes {
		at := scopeKey{s.scopes[i].layer, s.scopes[i].condition}
		if len(internal.byScope[at]) > 0 {
			filled[at] = true
		}
		f.fill(&s.scopes[i], internal.byScope[at])
	}
	for at, entries := range internal.byScope { // in any order: appendLevels sorts the scopes
		if !filled[at] {
			f.fill(&scope{layer: at.layer, condition: at.condition, rank: s.ranks.rank(at.layer, at.condition)}, entries)
		}
	}
	return out
}

// filler makes the scopes of levels, one after the other.
type filler struct {
	*env
	*orderedSite
	*levels

	// The entries of the current scope. sorted has the number of a key, and in the lower half an index in values and
	// origins.
	sorted  []uint64
	values  []uint32
	origins []snapshot.Origin
}

// fill adds a scope to its level, with further entries under internal keys.
func (f *filler) fill(s *scope, internal []snapshot.Entry) {
	entries, origins := f.entries(s, internal)
	f.addHidden(s)
	if len(entries) == 0 {
		return
	}
	key := levelKey{s.layer, f.ranks.shapeOf[s.condition]}
	if f.byKey[key] == nil {
		f.byKey[key] = &level{rank: s.rank}
	}
	values := make([]string, len(f.site.Conditions[s.condition]))
	for i, t := range f.site.Conditions[s.condition] {
		values[i] = t.Value
	}
	f.byKey[key].scopes = append(f.byKey[key].scopes, snapshot.Scope{Values: values, Entries: entries,
		Origins: origins})
}

// entries returns the entries of a scope, sorted by key, and where each is written. Two kinds of bindings are left out
// and recorded for reports: those that an unconditional binding always hides, and the second of two that bind the same
// key. (Those two are a conflict, unless something higher hides both, and then no lookup sees either.)
func (f *filler) entries(s *scope, internal []snapshot.Entry) ([]snapshot.Entry, []snapshot.Origin) {
	f.sorted, f.values, f.origins = f.sorted[:0], f.values[:0], f.origins[:0]
	f.eachBinding(s, func(key, val uint32, at snapshot.Origin) {
		n := f.inNames[key]
		if m, ok := f.merges.in(s.layer, key); ok {
			f.add(f.inNames[m.internal], f.stored(m.filed(val)), at)
		}
		val = f.stored(f.merges.found(s.layer, key, val))
		if s.rank >= f.defaults[n].rank {
			f.addCold(s, n, val, at)
			return
		}
		f.add(n, val, at)
	})
	slices.Sort(f.sorted)
	size := len(internal) + len(f.sorted)
	entries, origins := make([]snapshot.Entry, 0, size), make([]snapshot.Origin, 0, size)
	// Contributions come first, as their keys begin with a NUL byte. Keys of merges do too, but a scope of Hiera 5 has
	// no contributions.
	entries = append(entries, internal...)
	origins = append(origins, make([]snapshot.Origin, len(internal))...)
	for _, packed := range f.sorted {
		e, at := snapshot.Entry{Key: uint32(packed >> 32), Value: f.values[uint32(packed)]}, f.origins[uint32(packed)]
		if n := len(entries); n > 0 && entries[n-1].Key == e.Key {
			f.addCold(s, e.Key, e.Value, at)
			continue
		}
		entries, origins = append(entries, e), append(origins, at)
	}
	return entries, origins
}

// add records an entry of the current scope.
func (f *filler) add(key, val uint32, at snapshot.Origin) {
	f.sorted = append(f.sorted, uint64(key)<<32|uint64(len(f.values)))
	f.values, f.origins = append(f.values, val), append(f.origins, at)
}

// appendLevels appends the levels in order of precedence, their scopes sorted by value, and returns their ranks.
func (l *levels) appendLevels(out *snapshot.Content, e *env, ranks *ranking) (levelRanks []int) {
	keys := slices.Collect(maps.Keys(l.byKey))
	dims := func(k levelKey) string { return string(appendDims(nil, ranks.shapes[k.shape].dims)) }
	slices.SortFunc(keys, func(a, b levelKey) int {
		return cmp.Or(cmp.Compare(l.byKey[a].rank, l.byKey[b].rank), strings.Compare(dims(a), dims(b)))
	})
	for _, k := range keys {
		lv := l.byKey[k]
		slices.SortFunc(lv.scopes, func(a, b snapshot.Scope) int { return slices.Compare(a.Values, b.Values) })
		out.Levels = append(out.Levels, snapshot.Level{Layer: k.layer, Entry: e.site.Layers[k.layer].Entry,
			Dimensions: ranks.shapes[k.shape].dims, Scopes: lv.scopes})
		levelRanks = append(levelRanks, lv.rank)
	}
	return levelRanks
}

// eachBinding calls yield with the keys that s binds and their values, by number in tables, and where they are written.
func (f *filler) eachBinding(s *scope, yield func(key, val uint32, at snapshot.Origin)) {
	for i := range s.members {
		m := &s.members[i]
		if m.binding != nil {
			yield(m.key, m.value, originOf(f.site, m.binding.Pos))
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
		Layer: s.layer, Terms: termsOf(f.site, s.condition), Origin: at, Value: val}})
}

// addHidden records the entries of files that no request gets, as another backend has all of their keys.
func (f *filler) addHidden(s *scope) {
	for _, file := range s.hidden {
		for i, e := range file.Entries {
			f.addCold(s, f.inNames[e.Key], f.stored(e.Value), originOf(f.site, file.Pos(i)))
		}
	}
}
