package snapshot

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Snapshot is an open file. Its methods are safe for concurrent use, except Close. Unless their comments say otherwise,
// the strings and values that they return refer to the mapped file and must not be used after Close.
type Snapshot struct {
	seed   uint64
	hash   perfect // perfect hash of the keys
	keys   string  // section keys
	prints string  // fingerprints, one hash byte per key, which settle most lookups of absent keys
	tables string  // section tables
	narrow uint64  // bits of the narrow columns; 0 if there are more than maxColumns columns
	words  int     // number of 64-bit words in an exact mask

	data        string // the whole file
	unmap       func() error
	sections    [sectionCount]string
	digest      Digest
	blockValues uint32
	recipeCount uint32
	bindings    uint64
	strict      bool
	sealed      bool // the file has a section seal
	layers      []string
	dimensions  []Dimension
	slice       []Term       // if set, the file only answers requests with these values
	hiera       []HieraPlace // places of the layers; nil if no layer belongs to Hiera 5
	dicts       []dictionary
	levels      []levelView
	columns     int
	cache       blockCache
}

var (
	// ErrFormat is the error for a file that is not a snapshot.
	ErrFormat = errors.New("not a snapshot")
	// ErrVersion is the error for a snapshot in another version of the format.
	ErrVersion = errors.New("unsupported snapshot version")
)

// DamageError is the error for a snapshot that violates the format. Offset counts from the start of the section.
type DamageError struct {
	Section  string
	Offset   uint64
	Expected string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("snapshot damaged: section %s, offset %d: expected %s", e.Section, e.Offset, e.Expected)
}

func (s *Snapshot) damaged(sec section, off uint64, format string, args ...any) error {
	return &DamageError{sec.String(), off, fmt.Sprintf(format, args...)}
}

// broken is like damaged, without an offset.
func (s *Snapshot) broken(sec section, format string, args ...any) error {
	return s.damaged(sec, 0, format, args...)
}

func headerDamage(off uint64, format string, args ...any) error {
	return &DamageError{"header", off, fmt.Sprintf(format, args...)}
}

var (
	errNoFile   = errors.New("not a regular file")
	errTooLarge = errors.New("too large for a 32-bit program; use a 64-bit one")
)

// fits reports whether the program can address size bytes.
func fits(size int64) bool { return int64(int(size)) == size }

// headBytes is the number of bytes that Open reads first. They include the header and usually section meta.
const headBytes = 4096

// Open maps the snapshot at path. It checks the magic, the version, the size, the checksums of the header and of
// section meta, and that every section is inside the file. Where files are mapped, the cost does not depend on the
// number of keys. Verify checks the rest. Errors are ErrFormat, ErrVersion, a *DamageError, or an error of the
// operating system.
func Open(path string) (*Snapshot, error) {
	head, data, unmap, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	var s *Snapshot
	err = (&Snapshot{data: data}).Protect(func() (err error) {
		s, err = newSnapshot(head, data, unmap)
		return err
	})
	if err != nil && unmap != nil {
		unmap()
	}
	return s, err
}

// OpenBytes opens a snapshot from a copy of b, the content of a file. It returns the same errors as Open.
func OpenBytes(b []byte) (*Snapshot, error) {
	data := string(b)
	return newSnapshot(data, data, func() error { return nil })
}

// newSnapshot opens the file data, which begins with head.
func newSnapshot(head, data string, unmap func() error) (*Snapshot, error) {
	if err := checkHeader(head, uint64(len(data))); err != nil {
		return nil, err
	}
	s := &Snapshot{data: data, unmap: unmap}
	if err := s.readHeader(head); err != nil {
		return nil, err
	}
	meta := s.meta(head)
	if xxhash.Sum64String(meta) != load64(head[offSectionTab+sectionEntry*int(secMeta)+16:]) {
		return nil, s.broken(secMeta, "the section to match its checksum")
	}
	if err := s.readMeta(meta, load32(head[offLevels:])); err != nil {
		return nil, err
	}
	return s, nil
}

// Sum returns the SHA-256 of the whole mapped file. It reads the file from end to end.
func (s *Snapshot) Sum() [32]byte {
	h, buf := sha256.New(), make([]byte, 64<<10)
	for rest := s.data; rest != ""; {
		n := copy(buf, rest)
		h.Write(buf[:n]) // never fails
		rest = rest[n:]
	}
	return [32]byte(h.Sum(nil))
}

// Close unmaps the file.
func (s *Snapshot) Close() error { return s.unmap() }

// Release unmaps the file once the garbage collector finds s unreachable, so that running readers can finish. Call it
// once, instead of Close.
func (s *Snapshot) Release() {
	runtime.AddCleanup(s, func(unmap func() error) { unmap() }, s.unmap) // unmapping a valid map does not fail
}

// buildAgain is the advice for a snapshot in another version of the format.
const buildAgain = "build it again with the bindc of this program's version"

func checkHeader(h string, size uint64) error {
	if !strings.HasPrefix(h, Magic) {
		return ErrFormat
	}
	if len(h) < headerSize {
		return headerDamage(uint64(len(h)), "a header of %d bytes", headerSize)
	}
	if v := load32(h[offVersion:]); v != Version {
		return fmt.Errorf("%w: the file has version %d, this program reads %d; %s", ErrVersion, v, Version, buildAgain)
	}
	if xxhash.Sum64String(h[:offHeaderSum]) != load64(h[offHeaderSum:]) {
		return headerDamage(offHeaderSum, "the header to match its checksum")
	}
	f := load64(h[offFeatures:])
	if unknown := f &^ knownFeatures; unknown != 0 {
		return fmt.Errorf("%w: the file uses features %#x that this program does not know; %s", ErrVersion, unknown,
			buildAgain)
	}
	if n := load32(h[offSections:]); n != uint32(sectionsOf(f)) {
		return headerDamage(offSections, "%d sections", sectionsOf(f))
	}
	if n := load64(h[offSize:]); n != size {
		return headerDamage(offSize, "the size of the file, %d bytes", size)
	}
	return nil
}

func (s *Snapshot) readHeader(h string) error {
	s.sealed = load64(h[offFeatures:])&featureSealed != 0
	for i := range s.sectionCount() {
		at := uint64(offSectionTab + sectionEntry*i)
		off, length := load64(h[at:]), load64(h[at+8:])
		if off < headerSize || off > uint64(len(s.data)) || length > uint64(len(s.data))-off {
			return headerDamage(at, "section %s inside the file", section(i))
		}
		s.sections[i] = s.data[off : off+length]
	}
	s.seed, s.keys, s.tables = load64(h[offSeed:]), s.sections[secKeys], s.sections[secTables]
	copy(s.digest[:], h[offDigest:])
	s.hash.n, s.blockValues = load32(h[offKeys:]), load32(h[offBlockVals:])
	s.recipeCount, s.bindings = load32(h[offRecipes:]), load64(h[offBindings:])
	if keyRecord*uint64(s.hash.n) > uint64(len(s.keys)) {
		return s.broken(secKeys, "%d records of %d bytes", s.hash.n, keyRecord)
	}
	if uint64(len(s.sections[secRecipeTab])) != 8*(uint64(s.recipeCount)+1) {
		return s.broken(secRecipeTab, "%d entries of 8 bytes", s.recipeCount+1)
	}
	return nil
}

// meta returns section meta, from head if possible, because that is already in memory.
func (s *Snapshot) meta(head string) string {
	meta := s.sections[secMeta]
	if off := load64(head[offSectionTab+sectionEntry*int(secMeta):]); off+uint64(len(meta)) <= uint64(len(head)) {
		return head[off : off+uint64(len(meta))]
	}
	return meta
}
