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

// Inputs are the files the site was read from.
func (s *Snapshot) Inputs() ([]Input, error) {
	packed := s.sections[secInputs]
	raw, err := decoder().DecodeAll([]byte(packed), nil)
	if err != nil {
		return nil, s.damaged(secInputs, 0, "a zstd frame")
	}
	r := reader{b: string(raw)}
	var out []Input
	for r.b != "" && !r.failed {
		out = append(out, Input{Path: strings.Clone(r.text()), Size: int64(r.number()), Hash: r.u64()})
	}
	if r.failed {
		return nil, s.damaged(secInputs, uint64(len(raw)), "a list of files")
	}
	return out, nil
}

// Verify checks what Open does not: every checksum, the digest, and every reference in the file. checkRecipe is called
// with each recipe. The error is a *DamageError.
func (s *Snapshot) Verify(checkRecipe func(string) error) error {
	v := verifier{Snapshot: s, checked: make([]uint64, len(s.keys)/256+1), folds: map[uint32]uint64{}}
	for _, check := range []func() error{v.checkSums, v.checkDicts, v.checkKeys, v.checkLevels, v.checkBlocks} {
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
	_, err := s.Inputs()
	return err
}

// verifier checks the index. On a forged file, where everything may refer to one large thing, or things may overlap, its
// work is bounded by the bytes there are: things that together are longer than their section overlap.
type verifier struct {
	*Snapshot
	checked []uint64             // a bit per cell whose value was checked
	folds   map[uint32]uint64    // per cell of an exact mask that was checked, its words folded to one
	seen    [sectionCount]uint64 // bytes of what was checked
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
		if err := v.see(secKeys, 4*uint64(cell), 8*v.words); err != nil {
			return 0, err
		}
	}
	for w := range v.words {
		mask, err := v.word(n, w)
		if err != nil {
			return 0, err
		}
		if left := v.columns - 64*w; left < 64 && mask>>left != 0 {
			return 0, v.damaged(secKeys, 4*uint64(cell), "a mask of %d columns", v.columns)
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
	return v.see(secKeys, 4*cell, bytes)
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
