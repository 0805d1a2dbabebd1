package snapshot

import "slices"

// AllBindings has all bindings of a snapshot in memory, grouped by key. It is for reports that cover the whole
// snapshot.
type AllBindings struct {
	s      *Snapshot
	first  []uint32 // lines[first[n]:first[n+1]] are the bindings of key number n
	lines  []line
	scopes []scopeSlot
	cold   []coldBinding
}

// line is one binding, either in a scope or in the cold record of a key.
type line struct {
	key, from uint32 // from indexes AllBindings.cold if cold is set, otherwise AllBindings.scopes
	ref       Ref
	cold      bool
	origin    Origin
}

type scopeSlot struct{ level, slot uint32 }

// AllBindings reads all bindings into memory, at about 40 bytes each. It decodes every block once. The error is a
// *DamageError.
func (s *Snapshot) AllBindings() (*AllBindings, error) {
	b := &AllBindings{s: s}
	slots := make([]map[uint32]uint32, len(s.levels)) // for each level, the directory slots of its scopes by place
	end := uint64(0)
	for block := range s.coldBlocks() {
		level := s.coldLevel(block)
		packed, _, err := s.coldFrame(block)
		off := load64(s.coldEntry(block))
		switch {
		case err != nil:
		case off < end: // a forged file could repeat the same block many times
			err = s.badBlock(block, "a block after the previous one")
		case level == coldKeys:
			err = b.keys(block)
		case uint64(level) >= uint64(len(s.levels)):
			err = s.badBlock(block, "a level")
		default:
			if slots[level] == nil {
				slots[level] = s.levels[level].slotsByPlace()
			}
			err = b.scopesOf(block, level, slots[level])
		}
		if err != nil {
			return nil, err
		}
		end = off + uint64(len(packed))
	}
	b.sort()
	return b, nil
}

func (l *levelView) slotsByPlace() map[uint32]uint32 {
	out := map[uint32]uint32{}
	for slot := range l.slots {
		if place := l.placeAt(slot); place != 0 {
			out[place] = slot
		}
	}
	return out
}

func (b *AllBindings) scopesOf(block int, level uint32, slots map[uint32]uint32) error {
	s, l := b.s, &b.s.levels[level]
	var failed error
	err := s.eachScope(block, func(place uint32, o *scopeOrigins) {
		if failed != nil {
			return
		}
		slot, ok := slots[place]
		if !ok {
			failed = s.badBlock(block, "the origins of a scope of its level")
			return
		}
		b.scopes = append(b.scopes, scopeSlot{level, slot})
		failed = b.addScope(l, place, o)
	})
	if err == nil {
		err = failed
	}
	return err
}

func (b *AllBindings) addScope(l *levelView, place uint32, o *scopeOrigins) error {
	from := uint32(len(b.scopes) - 1)
	add := func(i, key uint32, ref Ref) {
		b.lines = append(b.lines, line{key: key, from: from, ref: ref,
			origin: Origin{o.input.at(i), o.line.at(i), o.col.at(i)}})
	}
	if !l.narrow {
		t, err := b.s.table(place - 1)
		if err != nil || t.n != o.n {
			return b.s.broken(secOrigins, "an origin for each of %d bindings", t.n)
		}
		for i := range t.n {
			if t.key(i) >= b.s.hash.n {
				return b.s.damaged(secTables, 4*uint64(place-1), "valid key numbers")
			}
			add(i, t.key(i), Ref(load32(t.refs[4*uint64(i):])))
		}
		return nil
	}
	if uint64(place) > uint64(l.count) {
		return b.s.damaged(secScopes, l.at, "a place among the columns of its level")
	}
	column := l.first + int(place-1)
	for i, n := range o.keys {
		if n >= b.s.hash.n {
			return b.s.broken(secOrigins, "valid key numbers")
		}
		mask := b.s.mask(n) // the mask is exact, because a snapshot with narrow levels has at most maxColumns columns
		ref, err := b.s.inColumn(n, mask, column, nil)
		if err != nil {
			return err
		}
		add(uint32(i), n, ref)
	}
	return nil
}

func (b *AllBindings) keys(block int) error {
	return b.s.eachKey(block, func(key uint32, c *coldBinding) {
		if c == nil {
			return
		}
		kept := *c
		kept.terms = slices.Clone(c.terms)
		b.lines = append(b.lines, line{key: key, from: uint32(len(b.cold)), cold: true, origin: c.origin})
		b.cold = append(b.cold, kept)
	})
}

// sort sorts the lines by key number. The lines of one key stay in order.
func (b *AllBindings) sort() {
	b.first = make([]uint32, b.s.hash.n+1)
	for _, l := range b.lines {
		b.first[l.key+1]++
	}
	for i := range b.s.hash.n {
		b.first[i+1] += b.first[i]
	}
	next, sorted := slices.Clone(b.first), make([]line, len(b.lines))
	for _, l := range b.lines {
		sorted[next[l.key]] = l
		next[l.key]++
	}
	b.lines = sorted
}

// Bindings is like Snapshot.Bindings, but sorts by precedence.
func (b *AllBindings) Bindings(key string) ([]Binding, error) {
	out, _, err := b.BindingsWhere(key, Filter{})
	return out, err
}

// BindingsWhere is like Snapshot.BindingsWhere, but sorts by precedence.
func (b *AllBindings) BindingsWhere(key string, f Filter) (out []Binding, left Left, err error) {
	if f.Possible == nil {
		out, err = b.selected(key, nil)
		return out, left, err
	}
	inScopes, outside := f.quota(), f.quota()
	out, err = b.selected(key, func(l *line) bool {
		if l.cold {
			c := &b.cold[l.from]
			return outside.takes(c.layer, f.accepts(c.terms))
		}
		at := b.scopes[l.from]
		return inScopes.takes(at.level, b.s.levels[at.level].isPossible(at.slot, f.Possible))
	})
	return out, Left{inScopes.left, outside.left}, err
}

// BindingsIn returns the bindings of key whose origin is in the given input, sorted by precedence.
func (b *AllBindings) BindingsIn(key string, input uint32) ([]Binding, error) {
	return b.selected(key, func(l *line) bool { return l.origin.Input == input })
}

// selected returns the bindings of key for which keep returns true, sorted by precedence. A nil keep selects all
// bindings.
func (b *AllBindings) selected(key string, keep func(l *line) bool) (out []Binding, err error) {
	n, ok := b.s.keyNumber(key)
	if !ok {
		return nil, nil
	}
	lines := b.lines[b.first[n]:b.first[n+1]]
	if keep == nil {
		out = make([]Binding, 0, len(lines))
	}
	for i := range lines {
		l := &lines[i]
		if keep != nil && !keep(l) {
			continue
		}
		var x Binding
		if l.cold {
			x, err = b.s.binding(&b.cold[l.from], n)
		} else {
			at := b.scopes[l.from]
			level := &b.s.levels[at.level]
			x = Binding{Layer: level.layer, Ref: l.ref, Origin: l.origin, above: int(at.level), inScope: true}
			x.Terms, err = b.s.conditionOf(level, at.slot)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, ByPrecedence)
	return out, nil
}

// AllKeys returns all keys of the snapshot, including internal ones, sorted.
func (s *Snapshot) AllKeys() []string {
	out := make([]string, 0, s.hash.n)
	for n := range s.hash.n {
		if key, ok := s.keyName(n); ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
