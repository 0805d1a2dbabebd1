package snapshot

import (
	"crypto/sha256"
	"io"
	"math/bits"
	"strings"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/value"
)

// RecipeCheck checks an encoded recipe. contributes reports whether the recipe contains the contributions of a scope
// to a multibinding. Internal keys of multibindings must have such recipes, and other keys must not. alone reports
// whether the recipe needs no other binding, as internal Hiera 5 keys require.
type RecipeCheck func(encoded string) (contributes, alone bool, err error)

// Verify checks what Open does not: every checksum, the digest, and every reference in the file, so that no later call
// reports damage. It calls check with each recipe. The error is a *DamageError.
func (s *Snapshot) Verify(check RecipeCheck) error {
	v := verifier{Snapshot: s, checkRecipe: check, checked: newBits(len(s.keys) / cellUnit), folds: map[uint64]uint64{},
		contributes: newBits(s.Recipes()), alone: newBits(s.Recipes())}
	for _, check := range []func() error{
		v.checkSums, v.checkRecipes, v.checkDicts, v.checkKeys, v.checkLevels, v.checkBlocks, v.checkOrigins,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// verifier checks all records and references. In a forged file, many references may lead to one large item, or items
// may overlap. The size of the file limits the work: verification fails if the checked items of a section are longer
// in total than the section.
type verifier struct {
	*Snapshot
	checkRecipe RecipeCheck
	contributes bitset               // recipes that contain contributions, by number
	alone       bitset               // recipes that need no other binding, by number
	checked     bitset               // cells whose value has been checked
	folds       map[uint64]uint64    // all words of each checked exact mask combined with OR, by the offset of the mask
	seen        [sectionCount]uint64 // number of bytes checked, by section
	bound       [maxColumns]uint32   // number of keys bound in each narrow column
}

type bitset []uint64

func newBits(n int) bitset { return make(bitset, n/64+1) }

func (b bitset) set(n uint64)      { b[n/64] |= 1 << (n % 64) }
func (b bitset) has(n uint64) bool { return b[n/64]>>(n%64)&1 != 0 }

// see records that an item of a section has been checked. It returns an error if more bytes have been checked than
// the section has.
func (v *verifier) see(sec section, at uint64, bytes int) error {
	if v.seen[sec] += uint64(bytes); v.seen[sec] > uint64(len(v.sections[sec])) {
		return v.damaged(sec, at, "items that do not overlap")
	}
	return nil
}

func (v *verifier) checkSums() error {
	for i, sec := range v.sections[:v.sectionCount()] {
		if xxhash.Sum64String(sec) != load64(v.data[offSectionTab+sectionEntry*i+16:]) {
			return v.broken(section(i), "the section to match its checksum")
		}
	}
	digest := sha256.New()
	io.WriteString(digest, v.data[headerSize:])
	if Digest(digest.Sum(nil)) != v.digest {
		return headerDamage(offDigest, "the file to match its digest")
	}
	return nil
}

// checkRecipes checks every recipe. Recipes cannot overlap: each begins where the previous one ends.
func (v *verifier) checkRecipes() error {
	for n := range v.Recipes() {
		text, err := v.Recipe(n)
		if err != nil {
			return err
		}
		contributes, alone, err := v.checkRecipe(text)
		if err != nil {
			return v.damaged(secRecipes, load64(v.sections[secRecipeTab][8*n:]), "a recipe: %v", err)
		}
		if contributes {
			v.contributes.set(uint64(n))
		}
		if alone {
			v.alone.set(uint64(n))
		}
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
			text, _ := dict.value(n) // if the text is damaged, find fails below
			if err := v.see(secDicts, dict.at, len(text)); err != nil {
				return err
			}
			if dict.find(text, v.seed) != n {
				return v.damaged(secDicts, dict.at, "value %d of dimension %s", n, v.dimensions[d].Name)
			}
		}
	}
	return nil
}

// checkKeys checks that every key is found through the hash, and that its references lead to values.
func (v *verifier) checkKeys() error {
	for n := range v.hash.n {
		at := keyRecord * uint64(n)
		key, _ := v.keyName(n) // if the name is damaged, keyNumber fails below
		if err := v.see(secKeys, at, len(key)); err != nil {
			return err
		}
		if got, found := v.keyNumber(key); !found || got != n {
			return v.damaged(secKeys, at, "a key whose number is %d", n)
		}
		if strings.HasPrefix(key, hieraKey) && len(v.hiera) == 0 {
			return v.damaged(secKeys, at, "no internal key of Hiera 5")
		}
		if ref := Ref(load32(v.keys[at+recDefault:])); ref != noRef {
			if err := v.checkRef(n, ref, secKeys, at+recDefault); err != nil {
				return err
			}
		}
		if err := v.checkColumns(n); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) checkColumns(n uint32) error {
	at, mask := keyRecord*uint64(n), v.mask(n)
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
			err = v.checkRef(n, ref, secKeys, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fold combines all words of the exact mask of key number n with OR. It returns an error if the mask has a bit for a
// column that does not exist.
func (v *verifier) fold(n uint32) (fold uint64, err error) {
	list := v.list(n)
	if v.words > 1 {
		if fold, ok := v.folds[list]; ok {
			return fold, nil
		}
		if err := v.see(secKeys, list, 8*v.words); err != nil {
			return 0, err
		}
	}
	for w := range v.words {
		mask, err := v.maskWord(n, w)
		if err != nil {
			return 0, err
		}
		if mask>>(v.columns-64*w) != 0 { // a shift by 64 or more gives 0
			return 0, v.damaged(secKeys, list, "a mask of %d columns", v.columns)
		}
		fold |= mask
	}
	if v.words > 1 {
		v.folds[list] = fold
	}
	return fold, nil
}

// checkRef checks a value reference of key number n, which is stored in section sec at the given offset.
func (v *verifier) checkRef(n uint32, ref Ref, sec section, at uint64) error {
	cell := uint64(ref &^ refKind)
	if ref&refKind != refRecipe && v.collects(n) {
		return v.damaged(sec, at, "contributions in an internal key")
	}
	switch ref & refKind {
	case refInline:
		return nil
	case refRecipe:
		if cell >= uint64(v.recipeCount) {
			return v.damaged(sec, at, "a recipe number below %d", v.recipeCount)
		}
		if !v.isAllowed(n, v.contributes.has(cell), v.alone.has(cell)) {
			return v.damaged(sec, at, "a recipe that this key may have")
		}
		return nil
	case refBlock: // checkBlocks checks all values in blocks
		if cell >= uint64(v.blockValues) {
			return v.damaged(sec, at, "a block value number below %d", v.blockValues)
		}
		return nil
	}
	if cell < uint64(len(v.keys)/cellUnit) {
		if v.checked.has(cell) {
			return nil
		}
		v.checked.set(cell)
	}
	bytes, err := v.checkValue(ref)
	if err != nil {
		return err
	}
	return v.see(secKeys, cellUnit*cell, bytes)
}

// checkValue checks the value that ref refers to and returns its encoded length.
func (v *verifier) checkValue(ref Ref) (bytes int, err error) {
	text, err := v.Encoded(ref)
	if err != nil {
		return 0, err
	}
	_, rest, err := value.View(text)
	if err != nil {
		return 0, v.badValue(ref)
	}
	return len(text) - len(rest), nil
}

// checkBlocks checks the values in blocks. They must be in order, so that no block is decoded twice.
func (v *verifier) checkBlocks() error {
	block, end := uint32(0), uint64(0) // block and end of the previous value
	for n := range v.blockValues {
		b, off, err := v.blockPlace(n)
		if err != nil {
			return err
		}
		if b < block || b == block && uint64(off) < end {
			return v.broken(secBlockTab, "value %d after the previous one", n)
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

// All internal keys begin with internalKey. Those that belong to Hiera 5 begin with hieraKey; the others are for
// contributions to multibindings.
const (
	internalKey    = "\x00"
	hieraKey       = "\x00\x00"
	hierarchiesKey = "\x00\x00hierarchies" // bound to constants only
)

// collects reports whether key number n is an internal key for the contributions to a multibinding.
func (v *verifier) collects(n uint32) bool {
	key := v.KeyName(n)
	return strings.HasPrefix(key, internalKey) && !strings.HasPrefix(key, hieraKey)
}

// isAllowed reports whether a recipe may be bound to key number n. contributes and alone are the results of its
// RecipeCheck.
func (v *verifier) isAllowed(n uint32, contributes, alone bool) bool {
	switch key := v.KeyName(n); {
	case key == hierarchiesKey:
		return false
	case strings.HasPrefix(key, hieraKey):
		return alone
	case strings.HasPrefix(key, internalKey):
		return contributes
	}
	return !contributes
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

// checkSlot checks a slot of a directory. at is its offset in section scopes.
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
			return v.damaged(secScopes, at, "a value number of %s below %d", v.dimensions[d].Name, v.dicts[d].hash.n)
		}
		tuple = append(tuple, n)
	}
	if !l.direct && l.hashed(tuple) != place {
		return v.damaged(secScopes, at, "a scope in the slot that its hash leads to")
	}
	if l.narrow {
		if uint64(place) > uint64(l.count) {
			return v.damaged(secScopes, at, "a place among %d columns", l.count)
		}
		return nil
	}
	return v.checkTable(l.first, place-1)
}

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
			return v.damaged(secTables, 4*uint64(at), "ascending key numbers below %d", v.hash.n)
		}
		mask, err := v.maskWord(n, column/64)
		if err != nil {
			return err
		}
		if mask>>(column%64)&1 == 0 {
			return v.damaged(secTables, 4*uint64(at), "keys that column %d binds", column)
		}
		if err := v.checkRef(n, Ref(load32(t.refs[4*uint64(i):])), secTables, 4*uint64(at)); err != nil {
			return err
		}
	}
	return nil
}
