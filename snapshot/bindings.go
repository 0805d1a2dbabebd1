package snapshot

import "cmp"

// Binding describes one binding of a key for reports. A lookup can find it, unless it is always hidden or is a
// contribution to a multibinding.
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

// ByPrecedence compares two bindings of one key for sorting; higher precedence sorts first. It returns 0 if the level
// does not decide, so use a stable sort, which keeps the order in which Bindings returns them.
func ByPrecedence(a, b Binding) int {
	if a.above == b.above && a.inScope != b.inScope { // a binding outside all scopes precedes the level below it
		if b.inScope {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.above, b.above)
}

// Bindings returns all bindings of key: first bindings in scopes, then all other bindings, each in order of precedence.
// For an internal key it returns the contributions to a multibinding. It decodes blocks that lookups never read, so it
// takes longer for larger sites. The error is a *DamageError.
func (s *Snapshot) Bindings(key string) ([]Binding, error) {
	return s.BindingsWhere(key, nil)
}

// BindingsWhere works like Bindings but omits scopes with a value that the function possible rejects. A nil possible
// accepts all values. It reads the origins of a level only if an accepted scope of the level binds the key.
func (s *Snapshot) BindingsWhere(key string, possible func(dimension int, number uint32) bool) ([]Binding, error) {
	n, ok := s.keyNumber(key)
	if !ok {
		return nil, nil
	}
	var out []Binding
	scopes := scopeReader{Snapshot: s, possible: possible}
	for l := range s.levels {
		found, err := scopes.inLevel(l, n)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	err := s.coldBindings(n, func(b *coldBinding) error {
		found, err := s.binding(b, n)
		out = append(out, found)
		return err
	})
	return out, err
}

// binding converts a cold binding of key number n for reports.
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

// scopeReader reads the blocks of scopes in order, each at most once. Otherwise a forged file that repeats the same
// block would keep it busy.
type scopeReader struct {
	*Snapshot
	possible func(dimension int, number uint32) bool
	block    int    // the next block to read
	end      uint64 // where the last block that was read ends, as an offset in section origins
}

// inLevel returns the bindings of key number n in the scopes of a level.
func (s *scopeReader) inLevel(level int, n uint32) ([]Binding, error) {
	l := &s.levels[level]
	at, err := s.places(level, n, s.possible)
	if err != nil || len(at) == 0 {
		return nil, err
	}
	var out []Binding
	for ; s.block < s.coldBlocks() && s.coldLevel(s.block) <= uint32(level); s.block++ {
		if s.coldLevel(s.block) < uint32(level) {
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

// places returns the possible scopes of a level that bind key number n, by place.
func (s *Snapshot) places(level int, n uint32, possible func(int, uint32) bool) (map[uint32]Binding, error) {
	l := &s.levels[level]
	mask, err := s.maskWord(n, l.first/64)
	if err != nil || mask&l.bits() == 0 {
		return nil, err
	}
	at := map[uint32]Binding{}
	for slot := range l.slots {
		ref, place := Ref(noRef), l.placeAt(slot)
		switch {
		case place == 0 || possible != nil && !l.isPossible(slot, possible):
		case !l.narrow:
			ref, err = s.probe(n, place-1)
		case uint64(place) <= uint64(l.count) && mask>>(l.first+int(place-1))&1 != 0:
			ref, err = s.inColumn(n, mask, l.first+int(place-1), nil)
		}
		if err != nil {
			return nil, err
		}
		if ref == noRef {
			continue
		}
		terms, err := s.conditionOf(l, slot)
		if err != nil {
			return nil, err
		}
		at[place] = Binding{Layer: l.layer, Terms: terms, Ref: ref, above: level, inScope: true}
	}
	return at, nil
}

// bits returns the columns of the level as bits of the mask word that contains its first column.
func (l *levelView) bits() uint64 { return (1<<l.count - 1) << (l.first % 64) }

// placeAt returns the place stored in a slot of the directory.
func (l *levelView) placeAt(slot uint32) uint32 {
	size := uint64(l.slotBytes())
	return load32(l.directory[size*uint64(slot)+size-4:])
}

// number returns the value number that the scope in a slot has in dimension l.dims[i].
func (l *levelView) number(slot uint32, i int) uint32 {
	if l.direct {
		return slot
	}
	return load32(l.directory[uint64(l.slotBytes())*uint64(slot)+4*uint64(i):])
}

// isPossible reports whether possible accepts every value of the scope in a slot.
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
