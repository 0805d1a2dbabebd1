package snapshot

import (
	"crypto/sha256"
	"io"
	"iter"
	"strings"

	"github.com/cespare/xxhash/v2"
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
		for n := range s.keyCount {
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
	r := s.sections[secKeys][keyRecord*uint64(n):][:keyRecord]
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
	for _, check := range []func() error{s.verifySums, s.verifyKeys, s.verifyDicts, s.verifyLevels} {
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
	for n := range s.blockValues {
		if _, err := s.Value(Ref(refBlock | n)); err != nil {
			return err
		}
	}
	_, err := s.Inputs()
	return err
}

func (s *Snapshot) verifySums() error {
	for i, sec := range s.sections {
		if xxhash.Sum64String(sec) != load64(s.data[offSectionTab+sectionEntry*i+16:]) {
			return s.damaged(section(i), 0, "the checksum of the section")
		}
	}
	digest := sha256.New()
	io.WriteString(digest, s.data[headerSize:])
	if Digest(digest.Sum(nil)) != s.digest {
		return headerDamage(offDigest, "the digest of the file")
	}
	return nil
}

// verifyKeys checks that every key is found where the hash sends it, and that its references lead to values.
func (s *Snapshot) verifyKeys() error {
	for n := range s.keyCount {
		at := keyRecord * uint64(n)
		key, ok := s.keyName(n)
		if !ok || s.pilots.find(hashText(key, s.seed)) != n {
			return s.damaged(secKeys, at, "a key whose number is %d", n)
		}
		r := s.sections[secKeys][at:]
		if err := s.verifyRef(load32(r[recDefault:]), secKeys, at+recDefault); err != nil {
			return err
		}
		if s.words > 1 && 8*uint64(s.words)*(uint64(load32(r[recMasks:]))+1) > uint64(len(s.sections[secMasks])) {
			return s.damaged(secKeys, at+recMasks, "a mask inside section %s", secMasks)
		}
	}
	return nil
}

func (s *Snapshot) verifyRef(ref uint32, sec section, at uint64) error {
	if ref == noRef {
		return nil
	}
	if n, computed := Ref(ref).Recipe(); computed {
		if n >= s.Recipes() {
			return s.damaged(sec, at, "one of %d recipes", s.recipeCount)
		}
		return nil
	}
	_, err := s.Value(Ref(ref))
	return err
}

func (s *Snapshot) verifyDicts() error {
	for d, dict := range s.dicts {
		for n := range dict.hash.n {
			from, to := uint64(load32(dict.offsets[4*n:])), uint64(load32(dict.offsets[4*n+4:]))
			if from > to || to > uint64(len(dict.text)) || s.ValueNumber(d, dict.text[from:to]) != n {
				return s.damaged(secDicts, 4*uint64(d), "value %d of dimension %s", n, s.dimensions[d].Name)
			}
		}
	}
	return nil
}

func (s *Snapshot) verifyLevels() error {
	for i := range s.levels {
		l := &s.levels[i]
		if len(l.dims) == 0 {
			if err := s.verifyTable(i, l.fixed); err != nil {
				return err
			}
			continue
		}
		width := len(l.dims) + 4
		for slot := range int(l.slots) {
			if err := s.verifySlot(i, l, l.directory[width*slot:][:width]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Snapshot) verifySlot(level int, l *levelView, cell string) error {
	table := load32(cell[len(cell)-4:])
	if table == 0 {
		return nil
	}
	numbers := make([]uint32, len(s.dimensions))
	for i := range len(l.dims) / 4 {
		d := load32(l.dims[4*i:])
		numbers[d] = load32(cell[4*i:])
		if numbers[d] >= s.dicts[d].hash.n {
			return s.damaged(secLevels, uint64(levelRecord*level), "one of %d values of %s", s.dicts[d].hash.n, s.dimensions[d].Name)
		}
	}
	if l.scope(numbers) != table-1 {
		return s.damaged(secLevels, uint64(levelRecord*level), "a scope where its hash sends it")
	}
	return s.verifyTable(level, table-1)
}

// binds tells whether the masks of a key have a level.
func (s *Snapshot) binds(key uint32, level int) bool {
	r := s.sections[secKeys][keyRecord*uint64(key):]
	bit := uint64(1) << (level % 64)
	if s.words == 1 {
		return load64(r[recMask:])&bit != 0
	}
	off := 8 * (uint64(load32(r[recMasks:]))*uint64(s.words) + uint64(level/64))
	masks := s.sections[secMasks]
	return load64(r[recMask:])&bit != 0 && off+8 <= uint64(len(masks)) && load64(masks[off:])&bit != 0
}

func (s *Snapshot) verifyTable(level int, table uint32) error {
	if table == noRef {
		return nil
	}
	if _, err := s.probe(0, table); err != nil {
		return err
	}
	t, at := s.sections[secTables], 4*uint64(table)
	count := uint64(load32(t[at:]))
	for i := range count {
		id := load32(t[at+4+4*i:])
		if id >= s.keyCount || i > 0 && id <= load32(t[at+4*i:]) {
			return s.damaged(secTables, at+4+4*i, "ascending numbers of %d keys", s.keyCount)
		}
		if !s.binds(id, level) {
			return s.damaged(secTables, at+4+4*i, "a key that is bound at level %d", level)
		}
		if err := s.verifyRef(load32(t[at+4+4*(count+i):]), secTables, at+4+4*(count+i)); err != nil {
			return err
		}
	}
	return nil
}
