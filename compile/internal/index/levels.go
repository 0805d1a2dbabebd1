package index

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/compile/internal/rewrite"
	"bindc/snapshot"
)

// Levels is the index of a site. For each key, it contains the bindings that can win, and the cold bindings that
// cannot.
type Levels struct {
	Defaults []KeyDefault // by index in Ordered.Names
	byKey    map[levelKey]*level
	cold     [][]coldBinding // by index in Ordered.Names
}

// levelKey identifies a level: a layer and the shape of a condition. A request is in at most one scope of a level.
type levelKey struct{ layer, shape int }

type level struct {
	rank   int
	scopes []snapshot.Scope
}

// KeyDefault is a key's highest binding among those that are unconditional and always end a lookup. It hides all lower
// bindings.
type KeyDefault struct {
	Rank  int // NoRank if there is none
	value int // value number in the snapshot; -1 if there is none
}

// NoRank has lower precedence than any rank. A smaller rank has higher precedence.
const NoRank = math.MaxInt

// findDefaults returns the KeyDefault of each key, by index in s.Names.
func findDefaults(s *Ordered) []KeyDefault {
	out := make([]KeyDefault, len(s.Names))
	for key := range out {
		out[key] = KeyDefault{NoRank, -1}
	}
	for i := range s.Scopes {
		sc := &s.Scopes[i]
		if sc.Condition != 0 {
			continue
		}
		for key, val := range sc.Bound() {
			n := s.InNames[key]
			if sc.Rank < out[n].Rank && !rewrite.IsLookupOptions(s.Keys[key]) && s.IsFinal(key, val) {
				out[n] = KeyDefault{sc.Rank, int(s.Stored(s.Merges.Found(sc.Layer, key, val)))}
			}
		}
	}
	return out
}

// FillLevels builds the levels from the bindings that can win, and keeps the cold bindings for reports.
func FillLevels(e *pass.Env, s *Ordered, lists *Lists) *Levels {
	out := &Levels{Defaults: findDefaults(s), byKey: map[levelKey]*level{}, cold: make([][]coldBinding, len(s.Names))}
	for key, list := range lists.cold {
		out.cold[key] = list
	}
	f := filler{Env: e, Ordered: s, Levels: out, scopes: map[levelKey]int{}}
	for i := range s.Scopes {
		f.scopes[f.levelOf(&s.Scopes[i])]++
	}
	filled := make(map[place.ScopeKey]bool, len(lists.byScope))
	for i := range s.Scopes {
		at := s.Scopes[i].Key()
		if len(lists.byScope[at]) > 0 {
			filled[at] = true
		}
		f.fill(&s.Scopes[i], lists.byScope[at])
	}
	for at, entries := range lists.byScope { // any order is fine, because appendLevels sorts the scopes
		if !filled[at] {
			rank := s.Ranks.Rank(at.Layer, at.Condition)
			f.fill(&place.Scope{Layer: at.Layer, Condition: at.Condition, Rank: rank}, entries)
		}
	}
	return out
}

type filler struct {
	*pass.Env
	*Ordered
	*Levels

	// The entries of the current scope. An element of sorted has a key number in the upper 32 bits, and an index in
	// values and origins in the lower 32 bits.
	sorted  []uint64
	values  []uint32
	origins []snapshot.Origin

	entryRoom  room[snapshot.Entry]
	originRoom room[snapshot.Origin]
	valueRoom  room[string]
	scopes     map[levelKey]int // maximum number of scopes by level, not counting scopes that bind only internal keys
}

// fill adds a scope to its level. internal holds the entries of internal keys.
func (f *filler) fill(s *place.Scope, internal []snapshot.Entry) {
	entries, origins := f.entries(s, internal)
	f.addHidden(s)
	if len(entries) == 0 {
		return
	}
	key := f.levelOf(s)
	lv := f.byKey[key]
	if lv == nil {
		lv = &level{rank: s.Rank, scopes: make([]snapshot.Scope, 0, f.scopes[key])}
		f.byKey[key] = lv
	}
	values := f.valueRoom.take(len(f.Site.Conditions[s.Condition]))
	for _, t := range f.Site.Conditions[s.Condition] {
		values = append(values, t.Value)
	}
	lv.scopes = append(lv.scopes, snapshot.Scope{Values: values, Entries: entries, Origins: origins})
}

func (f *filler) levelOf(s *place.Scope) levelKey {
	return levelKey{s.Layer, f.Ranks.ShapeOf[s.Condition]}
}

// entries returns the entries of a scope, sorted by key, and their positions. It keeps a binding only for reports if
// an unconditional binding always hides it, or if the scope has an earlier entry for the same key. Lookups never find
// such bindings.
func (f *filler) entries(s *place.Scope, internal []snapshot.Entry) ([]snapshot.Entry, []snapshot.Origin) {
	f.sorted, f.values, f.origins = f.sorted[:0], f.values[:0], f.origins[:0]
	for i := range s.Members {
		m := &s.Members[i]
		if m.Binding != nil {
			f.bind(s, m.Key, m.Value, originOf(f.Site, m.Binding.Pos))
			continue
		}
		input := uint32(f.Site.InputOf[m.File.Path])
		for _, e := range m.File.Entries {
			f.bind(s, e.Key, e.Value, snapshot.Origin{Input: input, Line: e.Line, Col: e.Col})
		}
	}
	slices.Sort(f.sorted)
	size := len(internal) + len(f.sorted)
	entries, origins := f.entryRoom.take(size), f.originRoom.take(size)
	// Internal keys of contributions begin with a NUL byte, so their entries come first. Internal keys of merges also
	// begin with NUL, but Hiera 5 scopes have no contributions.
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

// bind adds a binding to the current scope. key and val are numbers in place.Tables.
func (f *filler) bind(s *place.Scope, key, val uint32, at snapshot.Origin) {
	n := f.InNames[key]
	if m, ok := f.Merges.In(s.Layer, key); ok {
		f.add(f.InNames[m.Internal], f.Stored(m.InternalValue(val)), at)
		val = f.Merges.Found(s.Layer, key, val)
	}
	if val = f.Stored(val); s.Rank >= f.Defaults[n].Rank {
		f.addCold(s, n, val, at)
		return
	}
	f.add(n, val, at)
}

// add adds an entry to the current scope. Both key and val are numbers in the snapshot.
func (f *filler) add(key, val uint32, at snapshot.Origin) {
	f.sorted = append(f.sorted, uint64(key)<<32|uint64(len(f.values)))
	f.values, f.origins = append(f.values, val), append(f.origins, at)
}

// AppendTo adds the levels and the keys of s to a snapshot.
func (l *Levels) AppendTo(out *snapshot.Content, e *pass.Env, s *Ordered) {
	ranks := l.appendLevels(out, e, s.Ranks)
	out.Keys = make([]snapshot.Key, len(s.Names))
	for i, name := range s.Names {
		out.Keys[i] = snapshot.Key{Name: name, Default: l.Defaults[i].value, Cold: sortCold(l.cold[i], ranks)}
	}
}

// Conditional reports, for each key, whether some requests may find a value other than the unconditional value.
func (l *Levels) Conditional() []bool {
	out := make([]bool, len(l.Defaults))
	for _, lv := range l.byKey {
		for _, s := range lv.scopes {
			for _, e := range s.Entries {
				out[e.Key] = true
			}
		}
	}
	return out
}

// appendLevels adds the levels in order of precedence, with their scopes sorted by value. It returns the ranks of the
// levels.
func (l *Levels) appendLevels(out *snapshot.Content, e *pass.Env, ranks *place.Ranking) (levelRanks []int) {
	keys := slices.Collect(maps.Keys(l.byKey))
	dims := func(k levelKey) string { return string(place.AppendDims(nil, ranks.Shapes[k.shape].Dims)) }
	slices.SortFunc(keys, func(a, b levelKey) int {
		return cmp.Or(cmp.Compare(l.byKey[a].rank, l.byKey[b].rank), strings.Compare(dims(a), dims(b)))
	})
	for _, k := range keys {
		lv := l.byKey[k]
		slices.SortFunc(lv.scopes, func(a, b snapshot.Scope) int { return slices.Compare(a.Values, b.Values) })
		out.Levels = append(out.Levels, snapshot.Level{Layer: k.layer, Entry: e.Site.Layers[k.layer].Entry,
			Dimensions: ranks.Shapes[k.shape].Dims, Scopes: lv.scopes})
		levelRanks = append(levelRanks, lv.rank)
	}
	return levelRanks
}

// addCold records a binding that only reports need; lookups never read it. key is an index in Names.
func (f *filler) addCold(s *place.Scope, key, val uint32, at snapshot.Origin) {
	f.cold[key] = append(f.cold[key], coldBinding{s.Rank, len(f.cold[key]), snapshot.Cold{
		Layer: s.Layer, Terms: termsOf(f.Site, s.Condition), Origin: at, Value: val}})
}

// addHidden records the entries of files that no lookup reads, because another backend has all of their keys.
func (f *filler) addHidden(s *place.Scope) {
	for _, file := range s.Hidden {
		for i, e := range file.Entries {
			f.addCold(s, f.InNames[e.Key], f.Stored(e.Value), originOf(f.Site, file.Pos(i)))
		}
	}
}
