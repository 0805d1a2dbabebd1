package snapshot

import (
	"crypto/sha256"
	"io"
	"iter"
	"math/bits"
	"strings"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/value"
)

// SectionInfo is one part of the file, for reports.
type SectionInfo struct {
	Name   string
	Offset uint64
	Bytes  uint64
}

// Info is what a snapshot is, for reports.
type Info struct {
	Version    int
	Digest     Digest
	Size       int
	Keys       int // that can be looked up
	Bindings   uint64
	Levels     int
	Layers     []string
	Dimensions []Dimension
	Sections   []SectionInfo
}

// Info describes the snapshot; it costs a pass over the keys.
func (s *Snapshot) Info() Info {
	in := Info{Version: Version, Digest: s.digest, Size: len(s.data), Bindings: s.bindings,
		Levels: len(s.levels), Layers: s.layers, Dimensions: s.dimensions}
	for range s.Keys() {
		in.Keys++
	}
	for i := range s.sections {
		at := s.data[offSectionTab+sectionEntry*i:]
		in.Sections = append(in.Sections, SectionInfo{section(i).String(), load64(at), load64(at[8:])})
	}
	return in
}

// Dimensions are the categories, highest first, and the guards behind them. The caller must not change them.
func (s *Snapshot) Dimensions() []Dimension { return s.dimensions }

// Keys ranges over the keys that can be looked up, in no particular order.
func (s *Snapshot) Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range s.hash.n {
			key, ok := s.keyName(n)
			if ok && !strings.HasPrefix(key, "\x00") && !yield(key) {
				return
			}
		}
	}
}

// Strict tells whether the use of an unknown variable is an error.
func (s *Snapshot) Strict() bool { return s.strict }

func (s *Snapshot) keyName(n uint32) (string, bool) {
	r := s.keys[keyRecord*uint64(n):][:keyRecord]
	if length := int(r[recLength]); length <= maxInlineKey {
		return r[recText : recText+length], true
	}
	return s.longKey(r)
}

// Inputs are the files the site was read from. They do not refer to the mapped file. The error is a *DamageError.
func (s *Snapshot) Inputs() ([]Input, error) {
	sec := s.sections[secInputs]
	if len(sec) < inputsHead {
		return nil, s.damaged(secInputs, 0, "a length")
	}
	raw, ok := decompress(sec[inputsHead:], uint64(load32(sec)))
	if !ok {
		return nil, s.damaged(secInputs, 0, "a zstd frame")
	}
	r := reader{b: string(raw)}
	var out []Input
	for n := r.count(); n > 0 && !r.failed; n-- {
		out = append(out, Input{Path: r.text()})
	}
	for i := range out {
		out[i].Size = int64(r.number())
	}
	for i := range out {
		out[i].Hash = r.u64()
	}
	if r.failed || r.b != "" {
		return nil, s.damaged(secInputs, uint64(len(raw)), "a list of files")
	}
	return out, nil
}

// Verify checks what Open does not: every checksum, the digest, and every reference in the file. checkRecipe is called
// with each recipe. The error is a *DamageError.
func (s *Snapshot) Verify(checkRecipe func(string) error) error {
	v := verifier{Snapshot: s, checked: make([]uint64, len(s.keys)/(64*cellUnit)+1), folds: map[uint32]uint64{}}
	for _, check := range []func() error{v.checkSums, v.checkDicts, v.checkKeys, v.checkLevels, v.checkBlocks, v.checkOrigins} {
		if err := check(); err != nil {
			return err
		}
	}
	for n := range s.Recipes() {
		text, err := s.Recipe(n)
		if err == nil {
			err = checkRecipe(text)
		}
		if err != nil {
			return s.damaged(secRecipes, load64(s.sections[secRecipeTab][8*n:]), "a recipe: %v", err)
		}
	}
	return nil
}

// verifier checks the index. On a forged file, where everything may refer to one large thing, or things may overlap, its
// work is bounded by the bytes there are: things that together are longer than their section overlap.
type verifier struct {
	*Snapshot
	checked []uint64             // a bit per cell whose value was checked
	folds   map[uint32]uint64    // per cell of an exact mask that was checked, its words folded to one
	seen    [sectionCount]uint64 // bytes of what was checked
	bound   [maxColumns]uint32   // per narrow column, the keys that it binds
}

// see notes that so many bytes of a section are checked, at an offset.
func (v *verifier) see(sec section, at uint64, bytes int) error {
	if v.seen[sec] += uint64(bytes); v.seen[sec] > uint64(len(v.sections[sec])) {
		return v.damaged(sec, at, "things that do not overlap")
	}
	return nil
}

func (v *verifier) checkSums() error {
	for i, sec := range v.sections {
		if xxhash.Sum64String(sec) != load64(v.data[offSectionTab+sectionEntry*i+16:]) {
			return v.damaged(section(i), 0, "the checksum of the section")
		}
	}
	digest := sha256.New()
	io.WriteString(digest, v.data[headerSize:])
	if Digest(digest.Sum(nil)) != v.digest {
		return headerDamage(offDigest, "the digest of the file")
	}
	return nil
}

func (v *verifier) checkDicts() error {
	for d := range v.dicts {
		dict := &v.dicts[d]
		if err := v.see(secDicts, dict.at, len(dict.offsets)); err != nil {
			return err
		}
		for n := range dict.hash.n {
			text, ok := dict.value(n)
			if err := v.see(secDicts, dict.at, len(text)); err != nil {
				return err
			}
			if !ok || dict.number(text, v.seed) != n {
				return v.damaged(secDicts, dict.at, "value %d of dimension %s", n, v.dimensions[d].Name)
			}
		}
	}
	return nil
}

// checkKeys checks that every key is found where the hash sends it, and that its references lead to values.
func (v *verifier) checkKeys() error {
	for n := range v.hash.n {
		at := keyRecord * uint64(n)
		key, ok := v.keyName(n)
		if err := v.see(secKeys, at, len(key)); err != nil {
			return err
		}
		if got, found := v.number(key); !ok || !found || got != n {
			return v.damaged(secKeys, at, "a key whose number is %d", n)
		}
		record := v.keys[at:][:keyRecord]
		if err := v.checkRef(Ref(load32(record[recDefault:])), secKeys, at+recDefault); err != nil {
			return err
		}
		if err := v.checkColumns(n); err != nil {
			return err
		}
	}
	return nil
}

// checkColumns checks the mask of a key, and its values in narrow columns.
func (v *verifier) checkColumns(n uint32) error {
	at := keyRecord*uint64(n) + recMask
	mask := at64(v.keys, at)
	fold, err := v.fold(n)
	if err != nil {
		return err
	}
	if fold != mask {
		return v.damaged(secKeys, at, "a mask of %d columns", v.columns)
	}
	for m := mask & v.narrow; m != 0; m &= m - 1 {
		v.bound[bits.TrailingZeros64(m)]++
		ref, err := v.inColumn(n, mask, bits.TrailingZeros64(m), nil)
		if err == nil {
			err = v.checkRef(ref, secKeys, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fold is the words of the exact mask of a key in one, without what is no column.
func (v *verifier) fold(n uint32) (fold uint64, err error) {
	cell := at32(v.keys, keyRecord*uint64(n)+recList)
	if v.words > 1 {
		if fold, ok := v.folds[cell]; ok {
			return fold, nil
		}
		if err := v.see(secKeys, cellUnit*uint64(cell), 8*v.words); err != nil {
			return 0, err
		}
	}
	for w := range v.words {
		mask, err := v.word(n, w)
		if err != nil {
			return 0, err
		}
		if left := v.columns - 64*w; left < 64 && mask>>left != 0 {
			return 0, v.damaged(secKeys, cellUnit*uint64(cell), "a mask of %d columns", v.columns)
		}
		fold |= mask
	}
	if v.words > 1 {
		v.folds[cell] = fold
	}
	return fold, nil
}

func (v *verifier) checkRef(ref Ref, sec section, at uint64) error {
	if ref == noRef {
		return nil
	}
	if n, computed := ref.Recipe(); computed {
		if n >= v.Recipes() {
			return v.damaged(sec, at, "one of %d recipes", v.recipeCount)
		}
		return nil
	}
	cell := uint64(ref &^ refKind)
	switch ref & refKind {
	case refInline:
		return nil
	case refBlock: // all of them are checked
		if cell >= uint64(v.blockValues) {
			return v.damaged(sec, at, "one of %d values in blocks", v.blockValues)
		}
		return nil
	}
	if cell/64 < uint64(len(v.checked)) {
		if v.checked[cell/64]>>(cell%64)&1 != 0 {
			return nil
		}
		v.checked[cell/64] |= 1 << (cell % 64)
	}
	bytes, err := v.checkValue(ref)
	if err != nil {
		return err
	}
	return v.see(secKeys, cellUnit*cell, bytes)
}

// checkValue checks the value ref refers to, and returns the bytes of its encoding.
func (v *verifier) checkValue(ref Ref) (bytes int, err error) {
	text, err := v.encoded(ref)
	if err != nil {
		return 0, err
	}
	_, rest, err := value.View(text)
	if err != nil {
		return 0, v.badValue(ref)
	}
	return len(text) - len(rest), nil
}

// checkBlocks checks the values in blocks. They stand in order, so that no block is decoded twice.
func (v *verifier) checkBlocks() error {
	block, end := uint32(0), uint64(0) // of the value before
	for n := range v.blockValues {
		b, off, err := v.blockPlace(n)
		if err != nil {
			return err
		}
		if b < block || b == block && uint64(off) < end {
			return v.damaged(secBlockTab, 0, "value %d behind the one before", n)
		}
		if b > block || n == 0 {
			packed, at, _, err := v.frame(b)
			if err == nil {
				err = v.see(secBlocks, at, len(packed))
			}
			if err != nil {
				return err
			}
		}
		bytes, err := v.checkValue(Ref(refBlock | n))
		if err != nil {
			return err
		}
		block, end = b, uint64(off)+uint64(bytes)
	}
	return nil
}

func (v *verifier) checkLevels() error {
	for i := range v.levels {
		l := &v.levels[i]
		if err := v.see(secScopes, l.at, len(l.directory)); err != nil {
			return err
		}
		width := l.slotBytes()
		for slot := range int(l.slots) {
			if err := v.checkSlot(l, l.at+uint64(width*slot), l.directory[width*slot:][:width]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSlot checks the slot of a directory that is at an offset.
func (v *verifier) checkSlot(l *levelView, at uint64, slot string) error {
	place := load32(slot[len(slot)-4:])
	if place == 0 {
		return nil
	}
	var tuple []uint32
	for i, d := range l.dims {
		if l.direct {
			break
		}
		n := load32(slot[4*i:])
		if n >= v.dicts[d].hash.n {
			return v.damaged(secScopes, at, "one of %d values of %s", v.dicts[d].hash.n, v.dimensions[d].Name)
		}
		tuple = append(tuple, n)
	}
	if !l.direct && l.hashed(tuple) != place {
		return v.damaged(secScopes, at, "a scope where its hash sends it")
	}
	if l.narrow {
		if uint64(place) > uint64(l.count) {
			return v.damaged(secScopes, at, "one of %d columns", l.count)
		}
		return nil
	}
	return v.checkTable(l.first, place-1)
}

// checkTable checks the table of a scope of a wide column.
func (v *verifier) checkTable(column int, at uint32) error {
	t, err := v.table(at)
	if err != nil {
		return err
	}
	if err := v.see(secTables, 4*uint64(at), 4+len(t.keys)+len(t.refs)); err != nil {
		return err
	}
	for i := range t.n {
		n := t.key(i)
		if n >= v.hash.n || i > 0 && n <= t.key(i-1) {
			return v.damaged(secTables, 4*uint64(at), "ascending numbers of %d keys", v.hash.n)
		}
		mask, err := v.word(n, column/64)
		if err != nil {
			return err
		}
		if mask>>(column%64)&1 == 0 {
			return v.damaged(secTables, 4*uint64(at), "keys that column %d binds", column)
		}
		if err := v.checkRef(Ref(load32(t.refs[4*uint64(i):])), secTables, 4*uint64(at)); err != nil {
			return err
		}
	}
	return nil
}

// checkOrigins checks that every scope and every key has its record, and only one.
func (v *verifier) checkOrigins() error {
	list, err := v.Inputs()
	if err != nil {
		return err
	}
	scopes, keys, inputs := map[[2]uint32]bool{}, uint32(0), uint32(len(list))
	for l := range v.levels {
		v.eachPlace(l, func(place uint32) { scopes[[2]uint32{uint32(l), place}] = true })
	}
	for block := range v.coldBlocks() {
		packed, _, err := v.coldFrame(block)
		if err == nil {
			err = v.see(secOrigins, load64(v.coldEntry(block)), len(packed))
		}
		if err == nil && v.coldLevel(block) == coldKeys {
			err = v.checkColdKeys(block, &keys, inputs)
		} else if err == nil {
			err = v.checkColdScopes(block, scopes, inputs)
		}
		if err != nil {
			return err
		}
	}
	if len(scopes) > 0 || keys != v.hash.n {
		return v.damaged(secOrigins, 0, "the origins of all scopes and keys")
	}
	return nil
}

// eachPlace ranges over the places of the scopes of a level.
func (v *verifier) eachPlace(level int, yield func(place uint32)) {
	l := &v.levels[level]
	for slot := range int(l.slots) {
		if place := load32(l.directory[l.slotBytes()*(slot+1)-4:]); place != 0 {
			yield(place)
		}
	}
}

// checkColdScopes checks a block of scopes, and strikes them off the list.
func (v *verifier) checkColdScopes(block int, scopes map[[2]uint32]bool, inputs uint32) error {
	level, first, sound := v.coldLevel(block), true, true
	err := v.eachScope(block, func(place uint32, r *scopeOrigins) {
		id := [2]uint32{level, place}
		sound = sound && scopes[id] && (!first || place == v.coldFirst(block)) && v.originsFit(level, place, r) && r.known(inputs)
		delete(scopes, id)
		first = false
	})
	if err == nil && !sound {
		err = v.badBlock(block, "the origins of scopes, each once")
	}
	return err
}

// originsFit tells whether a record is of as many keys as its scope has, and of a narrow level of these.
func (v *verifier) originsFit(level, place uint32, r *scopeOrigins) bool {
	l := &v.levels[level]
	if !l.narrow {
		t, err := v.table(place - 1)
		return err == nil && t.n == r.n
	}
	if v.bound[l.first+int(place-1)] != r.n {
		return false
	}
	for i, n := range r.keys {
		if n >= v.hash.n || i > 0 && n <= r.keys[i-1] || at64(v.keys, keyRecord*uint64(n)+recMask)>>(l.first+int(place-1))&1 == 0 {
			return false
		}
	}
	return true
}

// known tells whether the origins are in files that there are.
func (r *scopeOrigins) known(inputs uint32) bool {
	if r.input.one {
		return r.input.same < inputs || r.line.one && r.line.same == 0
	}
	for i, input := range r.input.all {
		if input >= inputs && r.line.at(uint32(i)) > 0 {
			return false
		}
	}
	return true
}

// checkColdKeys checks a block of keys, of which next is the first.
func (v *verifier) checkColdKeys(block int, next *uint32, inputs uint32) error {
	sound := v.coldFirst(block) == *next
	err := v.eachKey(block, func(_ uint32, bs []Binding) {
		for _, b := range bs {
			sound = sound && (b.Origin.Input < inputs || b.Origin.Line == 0)
		}
		*next++
	})
	if err == nil && !sound {
		err = v.badBlock(block, "bindings of keys, in order")
	}
	return err
}
