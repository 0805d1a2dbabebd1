package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/fsx"
)

// Digest identifies a snapshot: it is the SHA-256 of everything after the header. Equal contents have equal digests.
type Digest [sha256.Size]byte

// String returns d in hexadecimal digits.
func (d Digest) String() string { return fmt.Sprintf("%x", d[:]) }

// A snapshot gets the permissions of the file that it replaces, limited to these.
const (
	anyone  = 0o777
	guarded = 0o640 // permissions of a snapshot with sensitive values
)

// Written describes the file that Write wrote.
type Written struct {
	Size   int64    // size of the whole file in bytes
	Digest Digest   // the digest in the header
	Sum    [32]byte // SHA-256 of the whole file
}

// Write stores c in the file path. It writes a temporary file in the same directory, syncs it and renames it. Even
// after a crash, path has either its previous content or the whole new snapshot.
func Write(path string, c *Content) (Written, error) {
	e, err := encode(c)
	if err != nil {
		return Written{}, err
	}
	return e.replace(path, c.Sensitive)
}

func (e *encoded) replace(path string, sensitive bool) (out Written, err error) {
	options := fsx.ReplaceOptions{Limit: anyone, Synced: true}
	if sensitive {
		options.Limit = guarded
	}
	err = fsx.Replace(path, options, func(f *os.File) error {
		out, err = e.writeTo(f)
		return err
	})
	return out, err
}

// Update is like Write, but does not touch the file if it already has exactly this content. news reports whether it
// wrote the file, even if it returns fsx.ErrUnsynced.
func Update(path string, c *Content) (out Written, news bool, err error) {
	e, err := encode(c)
	if err != nil {
		return Written{}, false, err
	}
	out, _ = e.writeTo(io.Discard) // io.Discard never fails
	if holds(path, out) {
		return out, false, fsx.SyncDir(filepath.Dir(path)) // an earlier sync may have failed
	}
	out, err = e.replace(path, c.Sensitive)
	return out, fsx.InPlace(err), err
}

// holds reports whether the file at path already has the size and the sum of w.
func holds(path string, w Written) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Size() != w.Size { // Lstat instead of Stat, so that Update replaces a symbolic link
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	io.Copy(sum, f) // after a read error the sums differ, so that Update writes the file
	return [32]byte(sum.Sum(nil)) == w.Sum
}

// WriteTo writes c to w. If c exceeds a limit of the format, it writes nothing.
func WriteTo(w io.Writer, c *Content) (Written, error) {
	e, err := encode(c)
	if err != nil {
		return Written{}, err
	}
	return e.writeTo(w)
}

type encoded struct {
	head     []byte
	sections *sectionBytes
}

// writeTo writes the header and the sections, which are already padded.
func (e *encoded) writeTo(w io.Writer) (Written, error) {
	parts, sum, hashed := append([][]byte{e.head}, e.sections[:]...), sha256.New(), make(chan struct{})
	go func() {
		for _, part := range parts {
			sum.Write(part) // never fails
		}
		close(hashed)
	}()
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return Written{}, err
		}
	}
	<-hashed
	out := Written{Size: int64(binary.LittleEndian.Uint64(e.head[offSize:])), Sum: [32]byte(sum.Sum(nil))}
	copy(out.Digest[:], e.head[offDigest:])
	return out, nil
}

type sectionBytes [sectionCount][]byte

func encode(c *Content) (*encoded, error) {
	if err := checkContent(c); err != nil {
		return nil, err
	}
	var err error
	for seed := uint64(1); seed <= seedTries; seed++ {
		w := newWriter(c, seed)
		if err = w.index(); err != nil {
			continue // there is no perfect hash with this seed; try the next
		}
		if err := w.store(); err != nil {
			return nil, err
		}
		return &encoded{w.header(), &w.out}, nil
	}
	return nil, err
}

// checkContent rejects contents that exceed a limit of the format, or whose keys are not sorted or not unique.
func checkContent(c *Content) error {
	if err := checkCounts(len(c.Layers), len(c.Dimensions), len(c.Keys), len(c.Values)); err != nil {
		return err
	}
	for _, v := range c.Values {
		if len(v.Bytes) > maxValue {
			return fmt.Errorf("a snapshot holds values of at most %d bytes; this site has a value of %d bytes", maxValue,
				len(v.Bytes))
		}
	}
	for i := range c.Keys[:max(1, len(c.Keys))-1] {
		if c.Keys[i].Name >= c.Keys[i+1].Name {
			return fmt.Errorf("expected sorted keys without duplicates, found %q before %q",
				c.Keys[i].Name, c.Keys[i+1].Name)
		}
	}
	return nil
}

// checkCounts rejects contents with more items than the format can number.
func checkCounts(layers, dimensions, keys, values int) error {
	switch {
	case layers > math.MaxUint16:
		return fmt.Errorf("a snapshot holds at most %d layers; this site has %d", math.MaxUint16, layers)
	case dimensions > math.MaxUint16:
		return fmt.Errorf("a snapshot holds at most %d categories and guards; this site has %d", math.MaxUint16,
			dimensions)
	case keys > maxKeys || values > maxStored:
		return fmt.Errorf("a snapshot holds at most %d keys and %d values; this site has %d and %d", maxKeys,
			maxStored, keys, values)
	}
	return nil
}

// checkSize returns an error for a section that is longer than offsets can reach.
func checkSize(sec section, bytes uint64) error {
	limit := uint64(math.MaxUint64)
	switch sec {
	case secKeys:
		limit = maxCells
	case secDicts, secScopes, secTables:
		limit = maxSection
	}
	if bytes > limit {
		return fmt.Errorf("section %s of the snapshot holds at most %d bytes; this site needs %d", sec, limit, bytes)
	}
	return nil
}

type writer struct {
	c       *Content
	seed    uint64
	out     sectionBytes
	hash    perfect  // perfect hash of the keys
	numbers []uint32 // number of each key, by index in c.Keys
	dicts   []numbering
	columns []columns  // columns of each level
	words   int        // number of 64-bit words in a mask
	masks   []uint64   // exact mask of each key, by key number; each has this number of words
	lists   [][]uint32 // values in narrow columns, by key number
	refs    []uint32   // reference of each value, by index in c.Values; noRef until it has one
	records []byte     // key records, without the cells
	cells   []byte     // the cells after the records
	blocks  blockWriter
	recipes int
	cold    coldWriter
	packed  []uint64 // buffer that inOrder reuses
	order   []int    // buffer that inOrder reuses
}

func newWriter(c *Content, seed uint64) *writer {
	w := &writer{c: c, seed: seed, refs: make([]uint32, len(c.Values))}
	for i := range w.refs {
		w.refs[i] = noRef
	}
	return w
}

// index builds the perfect hashes of the keys and of the values of each dimension.
func (w *writer) index() (err error) {
	names := make([]string, len(w.c.Keys))
	for i, k := range w.c.Keys {
		names[i] = k.Name
	}
	w.hash, w.out[secPilots], w.numbers, err = w.perfect(names)
	if err != nil {
		return err
	}
	w.out[secPilots] = append(w.out[secPilots], w.prints(names)...)
	return w.dictionaries()
}

// perfect builds the perfect hash of texts. It also returns the encoded hash and the number of each text.
func (w *writer) perfect(texts []string) (p perfect, encoded []byte, numbers []uint32, err error) {
	hashes := make([]uint64, len(texts))
	for i, t := range texts {
		hashes[i] = hashText(t, w.seed)
	}
	if p, encoded, err = buildPerfect(hashes); err != nil {
		return p, nil, nil, err
	}
	numbers = make([]uint32, len(texts))
	for i, h := range hashes {
		numbers[i] = p.find(h)
	}
	return p, encoded, numbers, nil
}

// prints returns the fingerprint of each key, which is the last byte of its hash, in the order of key numbers.
func (w *writer) prints(names []string) []byte {
	out := make([]byte, len(names))
	for i, name := range names {
		out[w.numbers[i]] = byte(hashText(name, w.seed))
	}
	return out
}

// store fills the sections that depend on the perfect hashes. It stores the values of keys before the values of
// tables, so that the data of keys is contiguous.
func (w *writer) store() error {
	w.gather()
	w.keys()
	w.meta(w.directories())
	w.inputs()
	w.origins()
	w.out[secSeal] = w.c.Seal
	w.finishValues()
	for sec, b := range w.out {
		if err := checkSize(section(sec), uint64(len(b))); err != nil {
			return err
		}
	}
	return nil
}

// features returns the features that the file uses. A reader that does not support all of them must reject the file.
func (w *writer) features() (f uint64) {
	if w.c.Seal != nil {
		f |= featureSealed
	}
	if len(w.c.Slice) > 0 {
		f |= featureSlice
	}
	if len(w.c.Hiera) > 0 {
		f |= featureHiera
	}
	if w.c.ARM8 {
		f |= featureARM8
	}
	return f
}

// header returns the header. It assigns offsets to the sections and computes the checksums and the digest.
func (w *writer) header() []byte {
	h := make([]byte, headerSize)
	copy(h, Magic)
	le := binary.LittleEndian
	le.PutUint32(h[offVersion:], Version)
	le.PutUint32(h[offSections:], uint32(sectionsOf(w.features())))
	le.PutUint64(h[offFeatures:], w.features())
	le.PutUint64(h[offSeed:], w.seed)
	le.PutUint32(h[offKeys:], uint32(len(w.c.Keys)))
	le.PutUint32(h[offLevels:], uint32(len(w.c.Levels)))
	le.PutUint32(h[offBlockVals:], uint32(w.blocks.values))
	le.PutUint32(h[offRecipes:], uint32(w.recipes))
	le.PutUint64(h[offBindings:], uint64(w.c.Bindings))
	digest, at := sha256.New(), uint64(headerSize)
	for s := range sectionsOf(w.features()) {
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
