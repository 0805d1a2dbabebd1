package snapshot

import (
	"math/bits"
)

// None is the number of a category value that no condition names.
const None = 1<<32 - 1

// Scopes are the scopes that a request is in. Resolve fills them. After that, they are read-only.
type Scopes struct {
	active uint64             // bit i is set if the request is in column i, or i+64, ...
	narrow uint64             // the narrow columns in active
	filter filter             // keys that may be in the request's tables
	tables [maxColumns]uint32 // for each wide column, offset/4 of the request's table
	more   *moreScopes        // replaces tables if there are more than maxColumns columns
}

// moreScopes has the columns that a request is in if the site has more than maxColumns columns.
type moreScopes struct {
	exact  []uint64
	tables []uint32
}

// filter is a set of keys that may be in a table, so that most lookups can skip the tables. Key numbers are distributed
// evenly, so their low bits serve as a hash.
type filter [64]uint64

func (f *filter) add(key uint32)      { f[key/64%64] |= 1 << (key % 64) }
func (f *filter) has(key uint32) bool { return f[key/64%64]>>(key%64)&1 != 0 }

// fullFilter is the number of keys at which a filter gives up and accepts every key.
const fullFilter = 2048

// ValueNumber returns the number of a value of dimension dim, or None if no condition names it. The caller must fold
// text to lower case, unless the dimension is exact.
func (s *Snapshot) ValueNumber(dim int, text string) uint32 { return s.dicts[dim].find(text, s.seed) }

// Resolve finds the scopes of a request and stores them in at. numbers has the request's value number in each
// dimension. The error is a *DamageError.
func (s *Snapshot) Resolve(numbers []uint32, at *Scopes) error {
	at.active, at.filter, at.more = 0, filter{}, s.moreScopes(at.more)
	keys := uint32(0)
	for i := range s.levels {
		l := &s.levels[i]
		place := l.placeOf(numbers)
		if place == 0 {
			continue
		}
		column := l.first
		if l.narrow {
			column += int((place - 1) % maxColumns) // the modulo guards against a forged place that is too large
		} else {
			n, err := s.addKeys(place-1, &at.filter, keys)
			if err != nil {
				return err
			}
			keys = min(keys+n, fullFilter)
		}
		at.active |= 1 << (column % 64)
		if at.more != nil {
			at.more.exact[column/64] |= 1 << (column % 64)
			at.more.tables[column] = place - 1
		} else {
			at.tables[column%maxColumns] = place - 1
		}
	}
	at.narrow = at.active & s.narrow
	if keys >= fullFilter {
		for i := range at.filter {
			at.filter[i] = 1<<64 - 1
		}
	}
	return nil
}

// moreScopes returns nil if the site has at most maxColumns columns. Otherwise it returns an empty moreScopes. It
// reuses old if the size matches.
func (s *Snapshot) moreScopes(old *moreScopes) *moreScopes {
	if s.words == 1 {
		return nil
	}
	if old == nil || len(old.tables) != s.columns {
		return &moreScopes{make([]uint64, s.words), make([]uint32, s.columns)}
	}
	clear(old.exact)
	return old
}

// addKeys adds the keys of a table to f and returns how many there are, at most fullFilter. before is the number of
// keys in the tables before this one. If the total reaches fullFilter, addKeys counts the keys without adding them.
func (s *Snapshot) addKeys(table uint32, f *filter, before uint32) (uint32, error) {
	t, err := s.table(table)
	if n := min(t.n, fullFilter); err != nil || before+n >= fullFilter {
		return n, err
	}
	if t.short {
		for off := uint64(0); off < 2*uint64(t.n); off += 2 {
			f.add(uint32(at16(t.keys, off)))
		}
		return t.n, nil
	}
	for off := uint64(0); off < 4*uint64(t.n); off += 4 {
		f.add(at32(t.keys, off))
	}
	return t.n, nil
}

// placeOf returns the place of the request's scope in the level's directory. It returns 0 if the request is in no
// scope of the level.
func (l *levelView) placeOf(numbers []uint32) uint32 {
	if l.direct {
		n := uint32(0)
		if len(l.dims) > 0 {
			n = numbers[l.dims[0]]
		}
		if n >= l.slots {
			return 0
		}
		return load32(l.directory[4*uint64(n):])
	}
	var buf [8]uint32
	tuple := buf[:0]
	for _, d := range l.dims {
		if numbers[d] == None {
			return 0
		}
		tuple = append(tuple, numbers[d])
	}
	return l.hashed(tuple)
}

// hashed returns the place of the scope with these value numbers, or 0. The directory must be a hash table with open
// addressing.
func (l *levelView) hashed(tuple []uint32) uint32 {
	width := 4 * (len(tuple) + 1)
	slot := int(uint32(hashNumbers(tuple)) & (l.slots - 1))
	for range min(l.slots, maxChain) {
		cell := l.directory[width*slot:][:width]
		place := load32(cell[width-4:])
		if place == 0 || sameNumbers(cell, tuple) {
			return place
		}
		slot = (slot + 1) & int(l.slots-1)
	}
	return 0
}

func sameNumbers(cell string, tuple []uint32) bool {
	for i, n := range tuple {
		if load32(cell[4*i:]) != n {
			return false
		}
	}
	return true
}

// Find returns the value of highest precedence for key in the request. If the key is not bound there, ok is false.
// The error is a *DamageError.
func (s *Snapshot) Find(key string, at *Scopes) (ref Ref, ok bool, err error) {
	n, ok := s.keyNumber(key)
	if !ok {
		return 0, false, nil
	}
	mask, m := s.mayBind(n, at)
	return s.findIn(n, mask, m, at)
}

// mayBind returns the mask of key number n. m has the columns that may give the key a value in the request.
func (s *Snapshot) mayBind(n uint32, at *Scopes) (mask, m uint64) {
	mask = s.mask(n)
	m = mask & at.active
	if !at.filter.has(n) {
		m &= s.narrow // no table of the request has the key, so only narrow columns remain
	}
	return mask, m
}

// keyNumber returns the number of key and whether the snapshot has the key.
func (s *Snapshot) keyNumber(key string) (uint32, bool) {
	if len(key) <= shortText {
		return s.shortNumber(key)
	}
	h := hashText(key, s.seed)
	n := s.hash.find(h)
	if n >= s.hash.n || at8(s.prints, uint64(n)) != uint8(h) {
		return 0, false // n is too large if the snapshot is empty or damaged
	}
	name, ok := s.keyName(n)
	return n, ok && name == key
}

// shortNumber is keyNumber for keys of at most shortText bytes. It compares the same numbers that it hashes.
func (s *Snapshot) shortNumber(key string) (uint32, bool) {
	length := uint64(len(key))
	a, b := ends(key, 0, length)
	h := hashEnds(a, b, length, s.seed)
	n := s.hash.find(h)
	if n >= s.hash.n || at8(s.prints, uint64(n)) != uint8(h) {
		return 0, false
	}
	r := keyRecord * uint64(n)
	if uint64(at8(s.keys, r+recLength)) != length {
		return 0, false
	}
	first, last := ends(s.keys, r+recText, length)
	return n, a == first && b == last
}

// findIn completes Find for key number n. m has the columns that may bind the key.
func (s *Snapshot) findIn(n uint32, mask, m uint64, at *Scopes) (Ref, bool, error) {
	if at.more != nil && m != 0 {
		for b, err := range s.inScopes(n, at) {
			return b.ref, err == nil, err
		}
		m = 0
	}
	for ; m != 0; m &= m - 1 {
		ref, err := s.inColumn(n, mask, bits.TrailingZeros64(m), at)
		if ref != noRef || err != nil {
			return ref, err == nil, err
		}
	}
	ref := Ref(at32(s.keys, keyRecord*uint64(n)+recDefault))
	return ref, ref != noRef, nil
}

// inColumn returns the value reference of key number n in a column, or noRef if a wide column does not bind it. The
// snapshot must have at most maxColumns columns.
func (s *Snapshot) inColumn(n uint32, mask uint64, column int, at *Scopes) (Ref, error) {
	bit := uint64(1) << column
	if s.narrow&bit == 0 {
		return s.probe(n, at.tables[column%maxColumns])
	}
	before := bits.OnesCount64(mask & s.narrow & (bit - 1))
	off := s.list(n) + 4*uint64(before)
	if off+4 > uint64(len(s.keys)) {
		return noRef, s.damaged(secKeys, keyRecord*uint64(n)+recList, "a list inside the section")
	}
	return Ref(load32(s.keys[off:])), nil
}

// mask returns the columns that bind key number n. Columns from 64 on are folded into the first 64.
func (s *Snapshot) mask(n uint32) uint64 { return at64(s.keys, keyRecord*uint64(n)+recMask) }

// list returns the offset in section keys of the list of key number n, or of its exact mask if there are more than
// maxColumns columns.
func (s *Snapshot) list(n uint32) uint64 {
	return uint64(at32(s.keys, keyRecord*uint64(n)+recList) &^ listHidden)
}

// hidden reports whether key number n has candidates outside all scopes, apart from its default.
func (s *Snapshot) hidden(n uint32) bool {
	return at32(s.keys, keyRecord*uint64(n)+recList)&listHidden != 0
}

// bound is a column that binds a key, with the value that the key has there.
type bound struct {
	column int
	ref    Ref
}

// inScopes returns an iterator over the columns that bind key number n in the request, highest first.
func (s *Snapshot) inScopes(n uint32, at *Scopes) func(func(bound, error) bool) {
	return func(yield func(bound, error) bool) {
		for w := range s.words {
			mask, err := s.maskWord(n, w)
			if err != nil {
				yield(bound{}, err)
				return
			}
			for m := mask & at.word(w); m != 0; m &= m - 1 {
				b := bound{column: 64*w + bits.TrailingZeros64(m), ref: noRef}
				if at.more != nil {
					b.ref, err = s.probe(n, at.more.tables[b.column])
				} else {
					b.ref, err = s.inColumn(n, mask, b.column, at)
				}
				if (err != nil || b.ref != noRef) && !yield(b, err) {
					return
				}
			}
		}
	}
}

// word returns word w of the columns that the request is in. Each word has 64 columns.
func (at *Scopes) word(w int) uint64 {
	if at.more != nil {
		return at.more.exact[w]
	}
	return at.active
}

// maskWord returns word w of the exact mask of key number n.
func (s *Snapshot) maskWord(n uint32, w int) (uint64, error) {
	if s.words == 1 {
		return s.mask(n), nil
	}
	off := s.list(n) + 8*uint64(w)
	if off+8 > uint64(len(s.keys)) {
		return 0, s.damaged(secKeys, keyRecord*uint64(n)+recList, "a mask inside the section")
	}
	return load64(s.keys[off:]), nil
}

// keyName returns the name of key n. It returns false if the file is damaged.
func (s *Snapshot) keyName(n uint32) (string, bool) {
	r := s.keys[keyRecord*uint64(n):][:keyRecord]
	if length := int(r[recLength]); length <= maxInlineKey {
		return r[recText : recText+length], true
	}
	return s.longKey(r)
}

// longKey returns the name of a key that is too long for its record r.
func (s *Snapshot) longKey(r string) (string, bool) {
	length, off := uint64(load32(r[recLongLen:])), cellUnit*uint64(load32(r[recLongCell:]))
	if r[recLength] != longKey || length <= maxInlineKey || off+length > uint64(len(s.keys)) {
		return "", false
	}
	return s.keys[off : off+length], true
}
