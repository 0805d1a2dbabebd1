package snapshot

import (
	"cmp"
	"maps"
	"slices"
)

// Binding describes one binding of a key for reports. Lookups can find it, unless it is hidden in every request or is
// a contribution to a multibinding.
type Binding struct {
	Layer  int
	Terms  []Term // the condition
	Origin Origin

	Ref          Ref // the value; unset if the binding is hidden or a contribution
	Hidden       bool
	Contribution bool
	Stored       Stored // the value of a hidden binding

	above   int  // number of levels above the binding
	inScope bool // the binding is in a scope of a level
}

// Level returns the level whose scope contains b, or -1 if b is in no scope.
func (b *Binding) Level() int {
	if b.inScope {
		return b.above
	}
	return -1
}

// ByPrecedence compares two bindings of one key so that the one with higher precedence sorts first. It returns 0 if
// their levels do not decide. A stable sort then keeps the order in which Bindings returns them.
func ByPrecedence(a, b Binding) int {
	if a.above == b.above && a.inScope != b.inScope { // a binding outside all scopes precedes the level below it
		if b.inScope {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.above, b.above)
}

// Bindings returns all bindings of key: first those in scopes, then all others, each in order of precedence. For an
// internal key, they are the contributions to a multibinding. Bindings decodes blocks that lookups never read, so it
// takes longer for larger sites. The error is a *DamageError.
func (s *Snapshot) Bindings(key string) ([]Binding, error) {
	out, _, err := s.BindingsWhere(key, Filter{})
	return out, err
}

// Filter selects bindings of a key. The zero Filter selects all of them.
type Filter struct {
	// Possible reports whether requests may have the value with this number in a dimension. A binding is selected if
	// Possible returns true for all its terms. If Possible is nil, all bindings are selected.
	Possible func(dimension int, number uint32) bool

	// Others is the maximum number of bindings to select for which Possible returns false, in each level and in each
	// layer outside its levels.
	Others int

	// Uncounted leaves Left.InScopes at 0 if Others is 0. Tables of scopes that Possible rejects then need not be read.
	Uncounted bool
}

// Left has the numbers of bindings that a Filter did not select, in scopes and outside. The contributions to a
// multibinding are outside.
type Left struct{ InScopes, Outside int }

// BindingsWhere is like Bindings, but returns only the bindings that f selects. It decodes only the blocks with the
// origins of these bindings.
func (s *Snapshot) BindingsWhere(key string, f Filter) (out []Binding, left Left, err error) {
	n, ok := s.keyNumber(key)
	if !ok {
		return nil, left, nil
	}
	scopes := scopeReader{Snapshot: s, filter: f}
	for l := range s.levels {
		found, err := scopes.inLevel(l, n)
		if err != nil {
			return nil, left, err
		}
		out = append(out, found...)
	}
	outside := f.quota()
	err = s.coldBindings(n, func(b *coldBinding) error {
		if !outside.takes(b.layer, f.accepts(b.terms)) {
			return nil
		}
		found, err := s.binding(b, n)
		out = append(out, found)
		return err
	})
	return out, Left{scopes.left, outside.left}, err
}

func (f *Filter) accepts(terms []coldTerm) bool {
	for _, t := range terms {
		if f.Possible != nil && !f.Possible(int(t.dimension), t.value) {
			return false
		}
	}
	return true
}

// quota counts the bindings that a Filter selects.
type quota struct {
	others int            // Filter.Others
	used   map[uint32]int // number of bindings selected because of others; a group is a level or a layer
	left   int            // number of bindings that were not selected
}

func (f *Filter) quota() quota { return quota{others: f.Others, used: map[uint32]int{}} }

// takes reports whether the filter selects the next binding of a group, and counts it.
func (q *quota) takes(group uint32, isPossible bool) bool {
	switch {
	case isPossible:
		return true
	case q.others > 0 && q.used[group] < q.others:
		q.used[group]++
		return true
	}
	q.left++
	return false
}

// binding converts b, a cold binding of key number n, for reports.
func (s *Snapshot) binding(b *coldBinding, n uint32) (Binding, error) {
	terms, err := s.terms(b.terms)
	out := Binding{Layer: int(b.layer), Terms: terms, Origin: b.origin, Ref: noRef,
		Hidden: b.kind == coldHidden, Contribution: b.kind == coldContribution, Stored: b.stored,
		above: int(b.above)}
	if b.kind == coldDefault {
		out.Ref = Ref(at32(s.keys, keyRecord*uint64(n)+recDefault))
	}
	return out, err
}

// scopeReader reads the blocks of scopes in order, each at most once. Otherwise, a forged file that repeats a block
// could keep it busy.
type scopeReader struct {
	*Snapshot
	filter Filter
	left   int    // number of bindings that the filter did not select
	block  int    // the next block to read
	end    uint64 // where the last block that was read ends, as an offset in section origins
}

// inLevel returns the bindings of key number n in one level, limited to the scopes that the filter selects.
func (s *scopeReader) inLevel(level int, n uint32) ([]Binding, error) {
	l := &s.levels[level]
	at, err := s.places(level, n)
	if err != nil || len(at) == 0 {
		return nil, err
	}
	places := slices.Sorted(maps.Keys(at))
	var out []Binding
	for ; s.block < s.coldBlocks() && s.coldLevel(s.block) <= uint32(level); s.block++ {
		if s.coldLevel(s.block) < uint32(level) || !s.isInBlock(s.block, places) {
			continue
		}
		packed, _, err := s.coldFrame(s.block)
		off := load64(s.coldEntry(s.block))
		if err != nil || off < s.end {
			return nil, s.badBlock(s.block, "a block after the previous one")
		}
		s.end = off + uint64(len(packed))
		err = s.eachScope(s.block, func(place uint32, o *scopeOrigins) {
			if b, ok := at[place]; ok {
				if b.Origin, ok = o.originOf(s.Snapshot, l, place, n); ok {
					delete(at, place)
					out = append(out, b)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if len(at) > 0 {
		return nil, s.broken(secOrigins, "the origins of %d more bindings in level %d", len(at), level)
	}
	return out, nil
}

// isInBlock reports whether a block of scopes may contain one of the places, which must be sorted.
func (s *Snapshot) isInBlock(block int, places []uint32) bool {
	first, _ := slices.BinarySearch(places, s.coldFirst(block))
	if first == len(places) {
		return false
	}
	next := block + 1
	return next == s.coldBlocks() || s.coldLevel(next) != s.coldLevel(block) || places[first] < s.coldFirst(next)
}

// places returns the bindings of key number n in the scopes of a level that the filter selects, by the places of the
// scopes. Their origins are not set.
func (s *scopeReader) places(level int, n uint32) (map[uint32]Binding, error) {
	l := &s.levels[level]
	mask, err := s.maskWord(n, l.first/64)
	if err != nil || mask&l.bits() == 0 {
		return nil, err
	}
	at := map[uint32]Binding{}
	take := func(f boundScope) error {
		terms, err := s.conditionOf(l, f.slot)
		at[f.place] = Binding{Layer: l.layer, Terms: terms, Ref: f.ref, above: level, inScope: true}
		return err
	}
	var others []boundScope
	skips := s.filter.Uncounted && s.filter.Others == 0 && s.filter.Possible != nil
	for slot := range l.slots {
		f := boundScope{slot, l.placeAt(slot), noRef}
		switch {
		case f.place == 0:
		case skips && !l.isPossible(slot, s.filter.Possible):
		case !l.narrow:
			f.ref, err = s.probe(n, f.place-1)
		case uint64(f.place) <= uint64(l.count) && mask>>(l.first+int(f.place-1))&1 != 0:
			f.ref, err = s.inColumn(n, mask, l.first+int(f.place-1), nil)
		}
		switch {
		case err != nil:
		case f.ref == noRef:
		case s.filter.Possible == nil || l.isPossible(slot, s.filter.Possible):
			err = take(f)
		default:
			others = append(others, f)
		}
		if err != nil {
			return nil, err
		}
	}
	// The first places are close together, so few blocks contain their origins.
	slices.SortFunc(others, func(a, b boundScope) int { return cmp.Compare(a.place, b.place) })
	taken := min(len(others), s.filter.Others)
	s.left += len(others) - taken
	for _, f := range others[:taken] {
		if err := take(f); err != nil {
			return nil, err
		}
	}
	return at, nil
}

type boundScope struct {
	slot, place uint32
	ref         Ref
}

// bits returns a mask of the columns of the level. It applies to the word that contains the level's first column.
func (l *levelView) bits() uint64 { return (1<<l.count - 1) << (l.first % 64) }

// placeAt returns the place in a slot of the directory. It returns 0 for a free slot.
func (l *levelView) placeAt(slot uint32) uint32 {
	size := uint64(l.slotBytes())
	return load32(l.directory[size*uint64(slot)+size-4:])
}

// number returns the value number of the scope in a slot for the dimension l.dims[i].
func (l *levelView) number(slot uint32, i int) uint32 {
	if l.direct {
		return slot
	}
	return load32(l.directory[uint64(l.slotBytes())*uint64(slot)+4*uint64(i):])
}

func (l *levelView) isPossible(slot uint32, possible func(dimension int, number uint32) bool) bool {
	for i, d := range l.dims {
		if !possible(int(d), l.number(slot, i)) {
			return false
		}
	}
	return true
}

// conditionOf returns the condition of the scope in a slot of the directory.
func (s *Snapshot) conditionOf(l *levelView, slot uint32) ([]Term, error) {
	var numbers []coldTerm
	for i, d := range l.dims {
		n := l.number(slot, i)
		if n >= s.dicts[d].hash.n {
			return nil, s.damaged(secScopes, l.at, "values of %s", s.dimensions[d].Name)
		}
		numbers = append(numbers, coldTerm{d, n})
	}
	return s.terms(numbers)
}
