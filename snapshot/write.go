package snapshot

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/value"
)

// Digest identifies a snapshot: the SHA-256 of everything behind the header. Equal input gives an equal digest.
type Digest [sha256.Size]byte

func (d Digest) String() string { return fmt.Sprintf("%x", d[:]) }

// Write stores c in the file path and returns its size in bytes and its digest. The file is written beside its place,
// synced and renamed, so that path holds either what it held before or the whole new snapshot, whatever happens.
func Write(path string, c *Content) (size int64, digest Digest, err error) {
	head, sections, err := encode(c)
	if err != nil {
		return 0, Digest{}, err
	}
	err = replace(path, func(w io.Writer) error {
		for _, part := range append([][]byte{head}, sections[:]...) {
			if _, err := w.Write(pad(part, sectionAlign)); err != nil {
				return err
			}
		}
		return nil
	})
	copy(digest[:], head[offDigest:])
	return int64(binary.LittleEndian.Uint64(head[offSize:])), digest, err
}

// replace puts what write produces in the place of path, in one step.
func replace(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = cmp.Or(write(f), f.Chmod(0o644), f.Sync())
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		syncDir(filepath.Dir(path))
	}
	return err
}

// syncDir makes the rename last. Some file systems cannot sync a directory, and the file is complete without it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

type sectionBytes [sectionCount][]byte

// encode makes the header and the sections of c.
func encode(c *Content) ([]byte, *sectionBytes, error) {
	if err := checkLimits(c); err != nil {
		return nil, nil, err
	}
	var err error
	for seed := uint64(1); seed <= seedTries; seed++ {
		w := writer{c: c, seed: seed}
		if err = w.index(); err != nil {
			continue // the seed suits no perfect hash; the next one will
		}
		if err := w.store(); err != nil {
			return nil, nil, err
		}
		return w.header(), &w.out, nil
	}
	return nil, nil, err
}

// checkLimits refuses what the format cannot count.
func checkLimits(c *Content) error {
	switch {
	case len(c.Layers) > math.MaxUint16:
		return fmt.Errorf("a snapshot holds at most %d layers, this site has %d", math.MaxUint16, len(c.Layers))
	case len(c.Dimensions) > math.MaxUint16:
		return fmt.Errorf("a snapshot holds at most %d categories and guards, this site has %d", math.MaxUint16, len(c.Dimensions))
	case len(c.Keys) > 1<<30 || len(c.Values) > 1<<30:
		return fmt.Errorf("a snapshot holds at most %d keys and as many values", 1<<30)
	}
	return nil
}

// writer fills the sections of one snapshot.
type writer struct {
	c       *Content
	seed    uint64
	out     sectionBytes
	numbers []uint32            // per key of c, its number
	refs    []uint32            // per value of c, its reference
	values  []map[string]uint32 // per dimension, the number of each value
	blocks  int                 // values in blocks
	recipes int
}

// index builds the perfect hashes, of keys and of the values of each dimension.
func (w *writer) index() error {
	names := make([]string, len(w.c.Keys))
	for i, k := range w.c.Keys {
		names[i] = k.Name
	}
	pilots, numbers, err := w.perfect(names)
	if err != nil {
		return err
	}
	w.out[secPilots], w.numbers = pilots, numbers
	return w.dictionaries()
}

// perfect builds the perfect hash of texts and the number it gives each.
func (w *writer) perfect(texts []string) (encoded []byte, numbers []uint32, err error) {
	hashes := make([]uint64, len(texts))
	for i, t := range texts {
		hashes[i] = hashText(t, w.seed)
	}
	encoded, err = buildPerfect(hashes)
	if err != nil {
		return nil, nil, err
	}
	p, _, _ := viewPerfect(string(encoded))
	numbers = make([]uint32, len(texts))
	for i, h := range hashes {
		numbers[i] = p.find(h)
	}
	return encoded, numbers, nil
}

// dictionaries numbers the values of every dimension.
//
// Section dicts: per dimension the offset/4 of its dictionary u32, then the dictionaries: a perfect hash, n+1 offsets of
// texts u32, the texts in the order of their numbers, padded to a multiple of 4.
func (w *writer) dictionaries() error {
	w.values = make([]map[string]uint32, len(w.c.Dimensions))
	occurring := w.occurringValues()
	out := make([]byte, 4*len(occurring))
	for d, texts := range occurring {
		encoded, numbers, err := w.perfect(texts)
		if err != nil {
			return err
		}
		w.values[d] = make(map[string]uint32, len(texts))
		ordered := make([]string, len(texts))
		for i, t := range texts {
			w.values[d][t] = numbers[i]
			ordered[numbers[i]] = t
		}
		binary.LittleEndian.PutUint32(out[4*d:], uint32(len(out)/4))
		out = appendTexts(append(out, encoded...), ordered)
	}
	w.out[secDicts] = out
	return nil
}

func appendTexts(out []byte, texts []string) []byte {
	at := uint32(0)
	for _, t := range texts {
		out = binary.LittleEndian.AppendUint32(out, at)
		at += uint32(len(t))
	}
	out = binary.LittleEndian.AppendUint32(out, at)
	for _, t := range texts {
		out = append(out, t...)
	}
	return pad(out, 4)
}

// occurringValues is, per dimension, the values its scopes name, sorted.
func (w *writer) occurringValues() [][]string {
	out := make([][]string, len(w.c.Dimensions))
	for _, l := range w.c.Levels {
		for _, s := range l.Scopes {
			for i, d := range l.Dimensions {
				out[d] = append(out[d], s.Values[i])
			}
		}
	}
	for d := range out {
		slices.Sort(out[d])
		out[d] = slices.Compact(out[d])
	}
	return out
}

// store fills the sections the perfect hashes are the base of.
func (w *writer) store() error {
	w.meta()
	if err := w.storeValues(); err != nil {
		return err
	}
	masks, err := w.levels()
	if err != nil {
		return err
	}
	w.keys(masks)
	w.inputs()
	return nil
}

// meta: a byte of flags (1: the use of an unknown variable is an error); uvarint number of layers, their names; uvarint number of dimensions, per dimension its name, its category plus
// one (uvarint, 0: none), 1 for a guard else 0, its program. Texts are a uvarint length and bytes.
func (w *writer) meta() {
	flags := byte(0)
	if w.c.Strict {
		flags = 1
	}
	out := binary.AppendUvarint([]byte{flags}, uint64(len(w.c.Layers)))
	for _, name := range w.c.Layers {
		out = appendText(out, name)
	}
	out = binary.AppendUvarint(out, uint64(len(w.c.Dimensions)))
	for _, d := range w.c.Dimensions {
		out = appendText(out, d.Name)
		out = binary.AppendUvarint(out, uint64(d.Category+1))
		guard := byte(0)
		if d.Guard {
			guard = 1
		}
		out = appendText(append(out, guard), string(d.Program))
	}
	w.out[secMeta] = out
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// storeValues puts every value where its kind and size belong.
func (w *writer) storeValues() error {
	w.refs = make([]uint32, len(w.c.Values))
	var recipeTab []byte
	blocks := blockWriter{}
	for i, v := range w.c.Values {
		switch {
		case v.Computed:
			w.refs[i] = refRecipe | uint32(w.recipes)
			w.recipes++
			recipeTab = binary.LittleEndian.AppendUint64(recipeTab, uint64(len(w.out[secRecipes])))
			w.out[secRecipes] = append(w.out[secRecipes], v.Bytes...)
		case len(v.Bytes) >= blockFrom:
			w.refs[i] = refBlock | uint32(blocks.add(v.Bytes))
		default:
			ref, ok := inlineRef(v.Bytes)
			if !ok {
				ref = refHeap | uint32(len(w.out[secHeap])/4)
				w.out[secHeap] = pad(append(w.out[secHeap], v.Bytes...), 4)
			}
			w.refs[i] = ref
		}
	}
	w.out[secRecipeTab] = binary.LittleEndian.AppendUint64(recipeTab, uint64(len(w.out[secRecipes])))
	if len(w.out[secHeap]) > 4*(1<<30) {
		return fmt.Errorf("the small values of this site take more than 4 GiB")
	}
	var err error
	w.out[secBlockTab], w.out[secBlocks], err = blocks.finish()
	w.blocks = blocks.values
	return err
}

// inlineRef is the reference that holds the value itself, where it is small enough.
func inlineRef(encoded string) (uint32, bool) {
	v, _, err := value.View(encoded)
	if err != nil {
		return 0, false
	}
	special := map[value.Kind]uint32{value.Undef: 0, value.Default: 3}
	switch v.Kind() {
	case value.Undef, value.Default:
		return refInline | special[v.Kind()]<<2 | inlineSpecial, true
	case value.Bool:
		n := uint32(1)
		if v.Bool() {
			n = 2
		}
		return refInline | n<<2 | inlineSpecial, true
	case value.Int:
		if n := v.Int(); n >= inlineMin && n <= inlineMax {
			return refInline | uint32(n)<<2&^refKind | inlineInt, true
		}
	}
	return 0, false
}

// levels writes the scope tables, the scope directories and the level records. It returns, per key number, the words of
// its level mask.
func (w *writer) levels() ([][]uint64, error) {
	masks := w.emptyMasks()
	records := make([]byte, levelRecord*len(w.c.Levels))
	out := records
	for l, level := range w.c.Levels {
		first := len(out) / 4
		for _, d := range level.Dimensions {
			out = binary.LittleEndian.AppendUint32(out, uint32(d))
		}
		directory, slots := len(out)/4, uint32(0)
		if len(level.Dimensions) == 0 {
			slots = noRef
			for _, s := range level.Scopes {
				slots = w.table(s, l, masks)
			}
		} else {
			out, slots = w.directory(out, level, l, masks)
		}
		r := out[levelRecord*l:]
		binary.LittleEndian.PutUint16(r, uint16(level.Layer))
		binary.LittleEndian.PutUint16(r[2:], uint16(len(level.Dimensions)))
		binary.LittleEndian.PutUint32(r[4:], uint32(first))
		binary.LittleEndian.PutUint32(r[8:], uint32(directory))
		binary.LittleEndian.PutUint32(r[12:], slots)
	}
	w.out[secLevels] = out
	if len(w.out[secTables]) >= 4*noRef {
		return nil, fmt.Errorf("the bindings of this site take more than 16 GiB")
	}
	return masks, nil
}

func (w *writer) emptyMasks() [][]uint64 {
	words := maskWords(len(w.c.Levels))
	all := make([]uint64, words*len(w.c.Keys))
	masks := make([][]uint64, len(w.c.Keys))
	for i := range masks {
		masks[i] = all[words*i : words*(i+1)]
	}
	return masks
}

func maskWords(levels int) int { return max(1, (levels+63)/64) }

// directory appends the scope directory of a level: an open table of a load of at most three quarters.
func (w *writer) directory(out []byte, level Level, l int, masks [][]uint64) ([]byte, uint32) {
	slots := uint32(1)
	for uint64(slots)*3 < uint64(len(level.Scopes))*4 {
		slots *= 2
	}
	width := 4 * (len(level.Dimensions) + 1)
	at := len(out)
	out = append(out, make([]byte, width*int(slots))...)
	numbers := make([]uint32, len(level.Dimensions))
	for _, s := range level.Scopes {
		for i, d := range level.Dimensions {
			numbers[i] = w.values[d][s.Values[i]]
		}
		slot := uint32(hashNumbers(numbers)) & (slots - 1)
		for binary.LittleEndian.Uint32(out[at+width*int(slot)+width-4:]) != 0 {
			slot = (slot + 1) & (slots - 1)
		}
		cell := out[at+width*int(slot):]
		for i, n := range numbers {
			binary.LittleEndian.PutUint32(cell[4*i:], n)
		}
		binary.LittleEndian.PutUint32(cell[width-4:], w.table(s, l, masks)+1)
	}
	return out, slots
}

// table appends the table of a scope and returns its offset/4: u32 n, n key numbers ascending, n value references.
func (w *writer) table(s Scope, level int, masks [][]uint64) uint32 {
	out := w.out[secTables]
	at := uint32(len(out) / 4)
	entries := make([]Entry, len(s.Entries))
	for i, e := range s.Entries {
		entries[i] = Entry{w.numbers[e.Key], w.refs[e.Value]}
		masks[entries[i].Key][level/64] |= 1 << (level % 64)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
	out = binary.LittleEndian.AppendUint32(out, uint32(len(entries)))
	for _, e := range entries {
		out = binary.LittleEndian.AppendUint32(out, e.Key)
	}
	for _, e := range entries {
		out = binary.LittleEndian.AppendUint32(out, e.Value)
	}
	w.out[secTables] = out
	return at
}

// keys writes the key records, in the order of key numbers.
func (w *writer) keys(masks [][]uint64) {
	records := make([]byte, keyRecord*len(w.c.Keys))
	exact := map[string]uint32{}
	for i, k := range w.c.Keys {
		n := w.numbers[i]
		r := records[keyRecord*int(n):][:keyRecord]
		folded := uint64(0)
		for _, word := range masks[n] {
			folded |= word
		}
		binary.LittleEndian.PutUint64(r[recMask:], folded)
		binary.LittleEndian.PutUint32(r[recDefault:], noRef)
		if k.Default >= 0 {
			binary.LittleEndian.PutUint32(r[recDefault:], w.refs[k.Default])
		}
		if len(masks[n]) > 1 {
			binary.LittleEndian.PutUint32(r[recMasks:], w.mask(masks[n], exact))
		}
		w.keyText(r, k.Name)
	}
	w.out[secKeys] = records
}

// mask is the index of a mask of several words in section masks; equal masks are stored once.
func (w *writer) mask(words []uint64, seen map[string]uint32) uint32 {
	var b []byte
	for _, word := range words {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	at, ok := seen[string(b)]
	if !ok {
		at = uint32(len(seen))
		seen[string(b)] = at
		w.out[secMasks] = append(w.out[secMasks], b...)
	}
	return at
}

func (w *writer) keyText(r []byte, name string) {
	if len(name) <= maxInlineKey {
		r[recLength] = byte(len(name))
		copy(r[recText:], name)
		return
	}
	r[recLength] = longKey
	binary.LittleEndian.PutUint32(r[recLongLen:], uint32(len(name)))
	binary.LittleEndian.PutUint64(r[recLongOff:], uint64(len(w.out[secKeyText])))
	w.out[secKeyText] = append(w.out[secKeyText], name...)
}

// inputs: a zstd frame of, per file, its path (uvarint length, bytes), its size (uvarint), its xxhash64 u64.
func (w *writer) inputs() {
	var raw []byte
	for _, in := range w.c.Inputs {
		raw = binary.AppendUvarint(appendText(raw, in.Path), uint64(in.Size))
		raw = binary.LittleEndian.AppendUint64(raw, in.Hash)
	}
	w.out[secInputs] = compress(raw)
}

// header lays the sections out and sums them up.
func (w *writer) header() []byte {
	h := make([]byte, headerSize)
	copy(h, Magic)
	le := binary.LittleEndian
	le.PutUint32(h[offVersion:], Version)
	le.PutUint32(h[offSections:], uint32(sectionCount))
	le.PutUint64(h[offSeed:], w.seed)
	le.PutUint32(h[offKeys:], uint32(len(w.c.Keys)))
	le.PutUint32(h[offLevels:], uint32(len(w.c.Levels)))
	le.PutUint32(h[offBlockVals:], uint32(w.blocks))
	le.PutUint32(h[offRecipes:], uint32(w.recipes))
	le.PutUint64(h[offBindings:], uint64(w.c.Bindings))
	digest, at := sha256.New(), uint64(headerSize)
	for s := range w.out {
		entry := h[offSectionTab+sectionEntry*s:]
		le.PutUint64(entry, at)
		le.PutUint64(entry[8:], uint64(len(w.out[s])))
		le.PutUint64(entry[16:], xxhash.Sum64(w.out[s]))
		w.out[s] = pad(w.out[s], sectionAlign)
		digest.Write(w.out[s])
		at += uint64(len(w.out[s]))
	}
	le.PutUint64(h[offSize:], at)
	copy(h[offDigest:], digest.Sum(nil))
	le.PutUint64(h[offHeaderSum:], xxhash.Sum64(h[:offHeaderSum]))
	return h
}

// pad appends zero bytes up to a multiple of align.
func pad(b []byte, align int) []byte {
	for len(b)%align != 0 {
		b = append(b, 0)
	}
	return b
}
