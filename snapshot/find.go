package snapshot

import (
	"math/bits"

	"bindc/internal/value"
)

// Ref refers to a value of a snapshot.
type Ref uint32

// None is the number of a category value that no binding is conditional on.
const None = 1<<32 - 1

// Scopes is where a request stands. Resolve fills it; it is then only read.
type Scopes struct {
	active uint64             // bit i: the request is in column i, i+64, ...
	filter filter             // the keys that the tables of the request have
	tables [maxColumns]uint32 // per wide column, offset/4 of the scope's table
	more   *moreScopes        // with more than maxColumns, in place of tables
}

// moreScopes is for the columns of a site of more than maxColumns.
type moreScopes struct {
	exact  []uint64
	tables []uint32
}

// filter tells which keys are in no table, so that most tables are not looked into. Key numbers are spread evenly, so
// that their last bits do for a hash.
type filter [64]uint64

func (f *filter) add(key uint32)      { f[key/64%64] |= 1 << (key % 64) }
func (f *filter) has(key uint32) bool { return f[key/64%64]>>(key%64)&1 != 0 }

// fullFilter is from how many keys on a filter says yes to all.
const fullFilter = 2048

// ValueNumber is the number of a value of dimension dim, folded to lower case, or None if nothing depends on it.
func (s *Snapshot) ValueNumber(dim int, text string) uint32 { return s.dicts[dim].number(text, s.seed) }

// Resolve finds the scopes of a request, whose value numbers are given per dimension. The error is a *DamageError.
func (s *Snapshot) Resolve(numbers []uint32, at *Scopes) error {
	at.active, at.filter, at.more = 0, filter{}, s.moreScopes(at.more)
	keys := uint32(0)
	for i := range s.levels {
		l := &s.levels[i]
		place := l.place(numbers)
		if place == 0 {
			continue
		}
		column := l.first
		if l.narrow {
			column += int(place - 1)
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
	if keys >= fullFilter {
		for i := range at.filter {
			at.filter[i] = 1<<64 - 1
		}
	}
	return nil
}

// moreScopes is what Resolve fills with more than maxColumns, else nil: old, if it fits.
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

// addKeys adds the keys of a table to f, behind others that were before, and returns how many they are, at most fullFilter.
// Once there are too many it only counts.
func (s *Snapshot) addKeys(table uint32, f *filter, before uint32) (uint32, error) {
	t, err := s.table(table)
	if n := min(t.n, fullFilter); err != nil || before+n >= fullFilter {
		return n, err
	}
	for i := range t.n {
		f.add(t.key(i))
	}
	return t.n, nil
}

// place is where the scope of the request is in the level, as the directory has it; 0 is nowhere.
func (l *levelView) place(numbers []uint32) uint32 {
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

// hashed looks a tuple of value numbers up in an open table.
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

// Find is the value that wins for key where the request stands. Not bound there: ok is false. The error is a *DamageError.
//
// For keys of the usual length it is number written out, hash and comparison by the same six words, without a branch on the
// length: the calls would cost a fifth of the whole. What it reads unchecked is the pilot, the print and the record of n, and
// for each n below s.hash.n Open found them inside their sections.
func (s *Snapshot) Find(key string, at *Scopes) (ref Ref, ok bool, err error) {
	length := uint64(len(key))
	if length-17 > maxInlineKey-17 {
		n, ok := s.number(key)
		if !ok {
			return 0, false, nil
		}
		mask, m := s.candidates(n, at)
		return s.findIn(n, mask, m, at)
	}
	last := length - 16
	middle := least(16, last)
	a0, a1, b0, b1, c0, c1 := at64(key, 0), at64(key, 8), at64(key, middle), at64(key, middle+8), at64(key, last), at64(key, last+8)
	h := mix(mix(a0^k1, a1^s.seed^k0)^mix(b0^k2, b1^s.seed)^length, mix(c0^k3, c1^s.seed)^k1)
	n := slotOf(h, at16(s.hash.pilots, 2*uint64(reduce(h, s.hash.buckets))), s.hash.slots)
	if n >= s.hash.n {
		if n = s.hash.moved(n); n >= s.hash.n {
			return 0, false, nil
		}
	}
	if at8(s.prints, uint64(n)) != uint8(h) {
		return 0, false, nil
	}
	r := keyRecord * uint64(n)
	t := r + recText
	if at64(s.keys, t)^a0|at64(s.keys, t+8)^a1|at64(s.keys, t+middle)^b0|at64(s.keys, t+middle+8)^b1|
		at64(s.keys, t+last)^c0|at64(s.keys, t+last+8)^c1|uint64(at8(s.keys, r+recLength))^length != 0 {
		return 0, false, nil
	}
	mask, m := s.candidates(n, at)
	if m != 0 {
		return s.findIn(n, mask, m, at)
	}
	ref = Ref(at32(s.keys, r+recDefault))
	return ref, ref != noRef, nil
}

// least is min without the branch that a compiler makes of it: of the lengths of keys, one in four is on either side.
func least(a, b uint64) uint64 {
	d := int64(b) - int64(a)
	return a + uint64(d&(d>>63))
}

// candidates is the mask of key number n, and the columns of it that may have a value where the request stands.
func (s *Snapshot) candidates(n uint32, at *Scopes) (mask, m uint64) {
	mask = at64(s.keys, keyRecord*uint64(n)+recMask)
	m = mask & at.active
	if !at.filter.has(n) {
		m &= s.narrow // the tables of the request lack the key
	}
	return mask, m
}

// number is the number of key, if it is a key.
func (s *Snapshot) number(key string) (uint32, bool) {
	h := hashText(key, s.seed)
	n := s.hash.find(h)
	if n >= s.hash.n || s.prints[n] != uint8(h) {
		return 0, false // no keys at all, or damaged; Verify tells
	}
	name, ok := s.keyName(n)
	return n, ok && name == key
}

// findIn is Find for a key that the columns m may bind.
func (s *Snapshot) findIn(n uint32, mask, m uint64, at *Scopes) (Ref, bool, error) {
	if at.more != nil && m != 0 {
		for ref, err := range s.references(n, at) {
			return ref, err == nil, err
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

// inColumn is the reference key number n has in a column, one of at most maxColumns; noRef where a wide one has none.
func (s *Snapshot) inColumn(n uint32, mask uint64, column int, at *Scopes) (Ref, error) {
	bit := uint64(1) << column
	if s.narrow&bit == 0 {
		return s.probe(n, at.tables[column%maxColumns])
	}
	before := bits.OnesCount64(mask & s.narrow & (bit - 1))
	off := cellUnit*uint64(at32(s.keys, keyRecord*uint64(n)+recList)) + 4*uint64(before)
	if off+4 > uint64(len(s.keys)) {
		return noRef, s.damaged(secKeys, keyRecord*uint64(n)+recList, "a list inside the section")
	}
	return Ref(load32(s.keys[off:])), nil
}

// references ranges over the references a key has in the columns the request is in, highest first.
func (s *Snapshot) references(n uint32, at *Scopes) func(func(Ref, error) bool) {
	return func(yield func(Ref, error) bool) {
		for w := range s.words {
			m, err := s.word(n, w)
			mask := m
			if at.more != nil {
				m &= at.more.exact[w]
			} else {
				m &= at.active
			}
			if err != nil && !yield(noRef, err) {
				return
			}
			for ; m != 0; m &= m - 1 {
				ref, err := Ref(noRef), error(nil)
				if at.more != nil {
					ref, err = s.probe(n, at.more.tables[64*w+bits.TrailingZeros64(m)])
				} else {
					ref, err = s.inColumn(n, mask, bits.TrailingZeros64(m), at)
				}
				if (err != nil || ref != noRef) && !yield(ref, err) {
					return
				}
			}
		}
	}
}

// word is 64 columns of the exact mask of a key.
func (s *Snapshot) word(n uint32, w int) (uint64, error) {
	if s.words == 1 {
		return at64(s.keys, keyRecord*uint64(n)+recMask), nil
	}
	off := cellUnit*uint64(at32(s.keys, keyRecord*uint64(n)+recList)) + 8*uint64(w)
	if off+8 > uint64(len(s.keys)) {
		return 0, s.damaged(secKeys, keyRecord*uint64(n)+recList, "a mask inside the section")
	}
	return load64(s.keys[off:]), nil
}

// FindAll ranges over the values of key in every scope the request is in, in order of precedence, highest first. The
// contributions to a multibinding are kept this way.
func (s *Snapshot) FindAll(key string, at *Scopes) func(func(Ref, error) bool) {
	n, ok := s.number(key)
	if !ok {
		return func(func(Ref, error) bool) {}
	}
	return s.references(n, at)
}

func (s *Snapshot) longKey(r string) (string, bool) {
	length, off := uint64(load32(r[recLongLen:])), cellUnit*uint64(load32(r[recLongCell:]))
	if r[recLength] != longKey || length <= maxInlineKey || off > uint64(len(s.keys)) || length > uint64(len(s.keys))-off {
		return "", false
	}
	return s.keys[off : off+length], true
}

// tableView is the table of a scope.
type tableView struct {
	n          uint32
	short      bool
	keys, refs string
}

func (s *Snapshot) table(at uint32) (tableView, error) {
	t, off := s.tables, 4*uint64(at)
	if off+4 > uint64(len(t)) {
		return tableView{}, s.damaged(secTables, off, "a table")
	}
	v := tableView{n: load32(t[off:]), short: s.hash.n <= maxShortKeys}
	t = t[off+4:]
	keys := 4 * uint64(v.n)
	if v.short {
		keys = (2*uint64(v.n) + 3) &^ 3
	}
	if keys+4*uint64(v.n) > uint64(len(t)) {
		return tableView{}, s.damaged(secTables, off, "a table of %d entries", v.n)
	}
	v.keys, v.refs = t[:keys], t[keys:keys+4*uint64(v.n)]
	return v, nil
}

func (t *tableView) key(i uint32) uint32 {
	if t.short {
		return uint32(load16(t.keys[2*uint64(i):]))
	}
	return load32(t.keys[4*uint64(i):])
}

// probe is the reference key number n has in a table, or noRef.
func (s *Snapshot) probe(n, table uint32) (Ref, error) {
	t, err := s.table(table)
	if err != nil || t.n == 0 {
		return noRef, err
	}
	i, ok := t.position(n, s.hash.n)
	if !ok {
		return noRef, nil
	}
	return Ref(load32(t.refs[4*uint64(i):])), nil
}

// nearEntries is how far from the guess entries are looked at one by one before the rest is halved.
const nearEntries = 8

// position finds key number n. Numbers are the result of a hash and so spread evenly: the place of n is guessed, and the
// few entries around it are looked at.
func (t *tableView) position(n, keys uint32) (uint32, bool) {
	i := uint32(uint64(n) * uint64(t.n) / uint64(keys))
	lo, hi := uint32(0), t.n // what is left to look at
	if t.key(i) < n {
		for lo = i + 1; lo < min(t.n, i+nearEntries); lo++ {
			if got := t.key(lo); got >= n {
				return lo, got == n
			}
		}
	} else {
		for hi = i + 1; hi > 0 && hi+nearEntries > i; hi-- {
			if got := t.key(hi - 1); got <= n {
				return hi - 1, got == n
			}
		}
	}
	for lo < hi {
		if mid := lo + (hi-lo)/2; t.key(mid) < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < t.n && t.key(lo) == n
}

// Recipe is the number of the recipe ref refers to, if it is a computed value.
func (r Ref) Recipe() (int, bool) { return int(r &^ refKind), r&refKind == refRecipe }

// Small tells whether ref is a constant that Value reads without decoding a block.
func (r Ref) Small() bool { return r&(refRecipe&refBlock) == 0 }

// Value is the constant ref refers to. Arrays, hashes and strings are views of the snapshot. What is inside arrays and
// hashes is not looked at: Verify checks it, and so can value.Sound.
func (s *Snapshot) Value(ref Ref) (value.Value, error) {
	if ref&refKind == refInline {
		return inlineValue(uint32(ref &^ refKind)), nil
	}
	text, err := s.encoded(ref)
	if err != nil {
		return value.Value{}, err
	}
	v, ok := value.Peek(text)
	if !ok {
		return value.Value{}, s.badValue(ref)
	}
	return v, nil
}

// encoded begins with the encoded value ref refers to.
func (s *Snapshot) encoded(ref Ref) (string, error) {
	n := uint32(ref &^ refKind)
	switch ref & refKind {
	case refCell:
		if off := cellUnit * uint64(n); off < uint64(len(s.keys)) {
			return s.keys[off:], nil
		}
		return "", s.badValue(ref)
	case refBlock:
		return s.blockValue(n)
	}
	return "", s.damaged(secRecipes, 0, "a constant where recipe %d stands", n)
}

func (s *Snapshot) badValue(ref Ref) error {
	n := uint64(ref &^ refKind)
	if ref&refKind == refBlock {
		return s.damaged(secBlocks, 0, "a value in the block of value %d", n)
	}
	return s.damaged(secKeys, cellUnit*n, "a value")
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
