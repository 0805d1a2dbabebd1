package snapshot

import (
	"math/bits"

	"bindc/internal/value"
)

// Ref refers to a value of a snapshot.
type Ref uint32

// None is the number of a category value that no binding is conditional on.
const None = 1<<32 - 1

// Scopes is where a request stands: per level, the scope it is in. Resolve fills it; it is then only read.
type Scopes struct {
	active uint64   // bit i: the request is in a scope of a level i, i+64, ...
	exact  []uint64 // bit per level
	tables []uint32 // per level, offset/4 of the scope's table
}

// ValueNumber is the number of a value of dimension dim, folded to lower case, or None if nothing depends on it.
func (s *Snapshot) ValueNumber(dim int, text string) uint32 {
	d := &s.dicts[dim]
	if d.hash.n == 0 {
		return None
	}
	n := d.hash.find(hashText(text, s.seed))
	if n >= d.hash.n {
		return None // damaged; Verify says so
	}
	from, to := uint64(load32(d.offsets[4*n:])), uint64(load32(d.offsets[4*n+4:]))
	if from > to || to > uint64(len(d.text)) || d.text[from:to] != text {
		return None
	}
	return n
}

// Resolve finds the scopes of a request, whose value numbers are given per dimension.
func (s *Snapshot) Resolve(numbers []uint32, at *Scopes) {
	if len(at.exact) != s.words || len(at.tables) != len(s.levels) {
		at.exact, at.tables = make([]uint64, s.words), make([]uint32, len(s.levels))
	}
	clear(at.exact)
	at.active = 0
	for i := range s.levels {
		if table := s.levels[i].scope(numbers); table != noRef {
			at.tables[i] = table
			at.exact[i/64] |= 1 << (i % 64)
			at.active |= 1 << (i % 64)
		}
	}
}

// scope is the offset/4 of the table of the scope the request is in, or noRef.
func (l *levelView) scope(numbers []uint32) uint32 {
	if len(l.dims) == 0 {
		return l.fixed
	}
	var buf [8]uint32
	tuple := buf[:0]
	for i := 0; i < len(l.dims); i += 4 {
		n := numbers[load32(l.dims[i:])]
		if n == None {
			return noRef
		}
		tuple = append(tuple, n)
	}
	width := len(l.dims) + 4
	slot := uint32(hashNumbers(tuple)) & (l.slots - 1)
	for range l.slots { // bounded even where a damaged directory has no free slot
		cell := l.directory[width*int(slot):][:width]
		table := load32(cell[width-4:])
		if table == 0 {
			return noRef
		}
		if sameNumbers(cell, tuple) {
			return table - 1
		}
		slot = (slot + 1) & (l.slots - 1)
	}
	return noRef
}

func sameNumbers(cell string, tuple []uint32) bool {
	for i, n := range tuple {
		if load32(cell[4*i:]) != n {
			return false
		}
	}
	return true
}

// Find is the value that wins for key where the request stands. Not bound there: ok is false. The error is a *DamageError.
func (s *Snapshot) Find(key string, at *Scopes) (ref Ref, ok bool, err error) {
	n, record, ok := s.record(key)
	if !ok {
		return 0, false, nil
	}
	if m := load64(record[recMask:]) & at.active; m != 0 {
		if s.words > 1 {
			return s.findWide(n, record, at)
		}
		for ; m != 0; m &= m - 1 {
			ref, err := s.probe(n, at.tables[bits.TrailingZeros64(m)])
			if ref != noRef || err != nil {
				return Ref(ref), err == nil, err
			}
		}
	}
	ref = Ref(load32(record[recDefault:]))
	return ref, ref != noRef, nil
}

// findWide is Find for sites of more than 64 levels.
func (s *Snapshot) findWide(n uint32, record string, at *Scopes) (Ref, bool, error) {
	for level, err := range s.levelsOf(record, at) {
		if err != nil {
			return 0, false, err
		}
		ref, err := s.probe(n, at.tables[level])
		if ref != noRef || err != nil {
			return Ref(ref), err == nil, err
		}
	}
	ref := Ref(load32(record[recDefault:]))
	return ref, ref != noRef, nil
}

// levelsOf ranges over the levels that bind the key of record and that the request is in, highest first.
func (s *Snapshot) levelsOf(record string, at *Scopes) func(func(int, error) bool) {
	return func(yield func(int, error) bool) {
		for w := range s.words {
			mask := load64(record[recMask:])
			if s.words > 1 {
				off := 8 * (uint64(load32(record[recMasks:]))*uint64(s.words) + uint64(w))
				if off+8 > uint64(len(s.sections[secMasks])) {
					yield(0, s.damaged(secMasks, off, "a level mask"))
					return
				}
				mask = load64(s.sections[secMasks][off:])
			}
			for m := mask & at.exact[w]; m != 0; m &= m - 1 {
				if !yield(64*w+bits.TrailingZeros64(m), nil) {
					return
				}
			}
		}
	}
}

// FindAll ranges over the values of key in every scope the request is in, in order of precedence, highest first. The
// contributions to a multibinding are kept this way.
func (s *Snapshot) FindAll(key string, at *Scopes) func(func(Ref, error) bool) {
	return func(yield func(Ref, error) bool) {
		n, record, ok := s.record(key)
		if !ok {
			return
		}
		for level, err := range s.levelsOf(record, at) {
			ref := uint32(noRef)
			if err == nil {
				ref, err = s.probe(n, at.tables[level])
			}
			if (err != nil || ref != noRef) && !yield(Ref(ref), err) {
				return
			}
		}
	}
}

// Bound tells whether key is bound at all, by any condition.
func (s *Snapshot) Bound(key string) bool {
	_, _, ok := s.record(key)
	return ok
}

// record is the number and the record of key.
func (s *Snapshot) record(key string) (uint32, string, bool) {
	n := s.pilots.find(hashText(key, s.seed))
	if n >= s.keyCount {
		return 0, "", false // no keys at all, or damaged; Verify tells
	}
	r := s.sections[secKeys][keyRecord*uint64(n):][:keyRecord]
	if length := int(r[recLength]); length <= maxInlineKey {
		return n, r, r[recText:recText+length] == key
	}
	text, ok := s.longKey(r)
	return n, r, ok && text == key
}

func (s *Snapshot) longKey(r string) (string, bool) {
	length, off := uint64(load32(r[recLongLen:])), load64(r[recLongOff:])
	texts := s.sections[secKeyText]
	if r[recLength] != longKey || off > uint64(len(texts)) || length > uint64(len(texts))-off {
		return "", false
	}
	return texts[off : off+length], true
}

// probe is the reference key number n has in a scope's table, or noRef. Key numbers are the result of a hash and so
// spread evenly: the place of n is guessed, and the few entries around it are looked at.
func (s *Snapshot) probe(n, table uint32) (uint32, error) {
	t := s.sections[secTables]
	at := 4 * uint64(table)
	if at+4 > uint64(len(t)) {
		return noRef, s.damaged(secTables, at, "a table")
	}
	count := uint64(load32(t[at:]))
	if 8*count > uint64(len(t))-at-4 {
		return noRef, s.damaged(secTables, at, "at most %d entries", (uint64(len(t))-at-4)/8)
	}
	if count == 0 || s.keyCount == 0 {
		return noRef, nil
	}
	ids, refs := t[at+4:at+4+4*count], t[at+4+4*count:at+4+8*count]
	i, ok := position(ids, count, n, s.keyCount)
	if !ok {
		return noRef, nil
	}
	return load32(refs[4*i:]), nil
}

// nearEntries is how far from the guess entries are looked at one by one before the rest is halved.
const nearEntries = 8

func position(ids string, count uint64, n, keys uint32) (uint64, bool) {
	id := func(i uint64) uint32 { return load32(ids[4*i:]) }
	i := uint64(n) * count / uint64(keys)
	lo, hi := uint64(0), count // what is left to look at
	if id(i) < n {
		for lo = i + 1; lo < min(count, i+nearEntries); lo++ {
			if got := id(lo); got >= n {
				return lo, got == n
			}
		}
	} else {
		for hi = i + 1; hi > 0 && hi+nearEntries > i; hi-- {
			if got := id(hi - 1); got <= n {
				return hi - 1, got == n
			}
		}
	}
	for lo < hi {
		if mid := (lo + hi) / 2; id(mid) < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < count && id(lo) == n
}

// Recipe is the number of the recipe ref refers to, if it is a computed value.
func (r Ref) Recipe() (int, bool) { return int(r &^ refKind), r&refKind == refRecipe }

// Value is the constant ref refers to. Arrays, hashes and strings are views of the snapshot.
func (s *Snapshot) Value(ref Ref) (value.Value, error) {
	n := uint32(ref &^ refKind)
	switch ref & refKind {
	case refInline:
		return inlineValue(n), nil
	case refHeap:
		heap := s.sections[secHeap]
		if 4*uint64(n) >= uint64(len(heap)) {
			return value.Value{}, s.damaged(secHeap, 4*uint64(n), "a value")
		}
		v, _, err := value.View(heap[4*uint64(n):])
		if err != nil {
			return value.Value{}, s.damaged(secHeap, 4*uint64(n), "a value")
		}
		return v, nil
	case refRecipe:
		return value.Value{}, s.damaged(secRecipes, 0, "a constant where recipe %d stands", n)
	}
	text, err := s.blockValue(n)
	if err != nil {
		return value.Value{}, err
	}
	v, _, err := value.View(text)
	if err != nil {
		return value.Value{}, s.damaged(secBlocks, 0, "a value in the block of value %d", n)
	}
	return v, nil
}

func inlineValue(n uint32) value.Value {
	if n&3 == inlineInt {
		return value.FromInt(int64(int32(n<<2) >> 4))
	}
	switch n >> 2 {
	case 1, 2:
		return value.FromBool(n>>2 == 2)
	case 3:
		return value.TheDefault()
	}
	return value.Value{}
}

// Recipes is the number of computed values.
func (s *Snapshot) Recipes() int { return int(s.recipeCount) }

// Recipe is the encoded recipe with the given number.
func (s *Snapshot) Recipe(n int) (string, error) {
	if n < 0 || n >= int(s.recipeCount) {
		return "", s.damaged(secRecipeTab, 8*uint64(n), "one of %d recipes", s.recipeCount)
	}
	tab, recipes := s.sections[secRecipeTab], s.sections[secRecipes]
	from, to := load64(tab[8*n:]), load64(tab[8*n+8:])
	if from > to || to > uint64(len(recipes)) {
		return "", s.damaged(secRecipeTab, 8*uint64(n), "a recipe inside section %s", secRecipes)
	}
	return recipes[from:to], nil
}
