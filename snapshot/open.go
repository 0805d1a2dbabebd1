package snapshot

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/cespare/xxhash/v2"
)

// Snapshot is an open file. All methods may be called concurrently. Strings and values it returns refer to the mapped
// file and must not be used after Close.
type Snapshot struct {
	data     string // the whole file
	unmap    func() error
	sections [sectionCount]string

	seed        uint64
	digest      Digest
	keyCount    uint32
	blockValues uint32
	recipeCount uint32
	bindings    uint64
	strict      bool

	layers     []string
	dimensions []Dimension
	dicts      []dictionary
	levels     []levelView
	words      int // of a level mask
	pilots     perfect
	cache      blockCache
}

type levelView struct {
	layer     int
	dims      string // numbers of dimensions, u32 each
	directory string // the slots
	slots     uint32
	fixed     uint32 // the table of a level without dimensions, or noRef
}

type dictionary struct {
	hash    perfect
	offsets string
	text    string
}

var (
	// ErrFormat says that a file is no snapshot.
	ErrFormat = errors.New("not a snapshot")
	// ErrVersion says that a file is a snapshot of another version of the format.
	ErrVersion = errors.New("unsupported snapshot version")
)

// DamageError says where a snapshot breaks the format. Offset counts from the start of the section.
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

func headerDamage(off uint64, format string, args ...any) error {
	return &DamageError{"header", off, fmt.Sprintf(format, args...)}
}

// Open maps the snapshot at path. It checks magic, version, size, the header's checksum and that every section is inside
// the file, at a cost that does not grow with the file; Verify checks the rest. Errors are ErrFormat, ErrVersion, a
// *DamageError, or those of the operating system.
func Open(path string) (*Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, headerSize)
	n, err := f.ReadAt(head, 0) // with pread: touching the map first would read far ahead on a cold file
	if n < headerSize {
		return nil, shortFile(string(head[:n]), err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkHeader(string(head), uint64(info.Size())); err != nil {
		return nil, err
	}
	data, unmap, err := mapFile(f, info.Size())
	if err != nil {
		return nil, err
	}
	s := &Snapshot{data: data, unmap: unmap}
	if err := s.read(); err != nil {
		unmap()
		return nil, err
	}
	return s, nil
}

// OpenBytes reads a snapshot held in memory.
func OpenBytes(b []byte) (*Snapshot, error) {
	if len(b) < headerSize {
		return nil, shortFile(string(b), nil)
	}
	if err := checkHeader(string(b[:headerSize]), uint64(len(b))); err != nil {
		return nil, err
	}
	s := &Snapshot{data: string(b), unmap: func() error { return nil }}
	return s, s.read()
}

// Close unmaps the file.
func (s *Snapshot) Close() error { return s.unmap() }

func shortFile(head string, err error) error {
	if len(head) >= len(Magic) && head[:len(Magic)] == Magic {
		return headerDamage(uint64(len(head)), "a header of %d bytes", headerSize)
	}
	if err == nil || len(head) > 0 || errors.Is(err, os.ErrInvalid) {
		return ErrFormat
	}
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return err
	}
	return ErrFormat
}

func checkHeader(h string, size uint64) error {
	if h[:len(Magic)] != Magic {
		return ErrFormat
	}
	if v := load32(h[offVersion:]); v != Version {
		return fmt.Errorf("%w: the file has %d, this program reads %d", ErrVersion, v, Version)
	}
	if xxhash.Sum64String(h[:offHeaderSum]) != load64(h[offHeaderSum:]) {
		return headerDamage(offHeaderSum, "the checksum of the header")
	}
	if n := load32(h[offSections:]); n != uint32(sectionCount) {
		return headerDamage(offSections, "%d sections", sectionCount)
	}
	if n := load64(h[offSize:]); n != size {
		return headerDamage(offSize, "the size of the file, %d bytes", size)
	}
	return nil
}

// read fills s from the header and the small sections.
func (s *Snapshot) read() error {
	h := s.data[:headerSize]
	for i := range s.sections {
		at := uint64(offSectionTab + sectionEntry*i)
		off, length := load64(h[at:]), load64(h[at+8:])
		if off < headerSize || off > uint64(len(s.data)) || length > uint64(len(s.data))-off {
			return headerDamage(at, "section %s inside the file", section(i))
		}
		s.sections[i] = s.data[off : off+length]
	}
	s.seed = load64(h[offSeed:])
	copy(s.digest[:], h[offDigest:])
	s.keyCount, s.blockValues = load32(h[offKeys:]), load32(h[offBlockVals:])
	s.recipeCount, s.bindings = load32(h[offRecipes:]), load64(h[offBindings:])
	if uint64(len(s.sections[secKeys])) != keyRecord*uint64(s.keyCount) {
		return s.damaged(secKeys, 0, "%d records of %d bytes", s.keyCount, keyRecord)
	}
	if uint64(len(s.sections[secRecipeTab])) != 8*(uint64(s.recipeCount)+1) {
		return s.damaged(secRecipeTab, 0, "%d entries of 8 bytes", s.recipeCount+1)
	}
	var ok bool
	if s.pilots, _, ok = viewPerfect(s.sections[secPilots]); !ok || s.pilots.n != s.keyCount {
		return s.damaged(secPilots, 0, "a perfect hash of %d keys", s.keyCount)
	}
	if err := s.readMeta(); err != nil {
		return err
	}
	if err := s.readDicts(); err != nil {
		return err
	}
	return s.readLevels(load32(h[offLevels:]))
}

func (s *Snapshot) readMeta() error {
	r := reader{b: s.sections[secMeta]}
	flags := r.byte()
	s.strict, r.failed = flags == 1, r.failed || flags > 1
	for n := r.count(); n > 0 && !r.failed; n-- {
		s.layers = append(s.layers, r.text())
	}
	for n := r.count(); n > 0 && !r.failed; n-- {
		d := Dimension{Name: r.text(), Category: int(min(r.number(), math.MaxInt32)) - 1}
		d.Guard = r.byte() == 1
		d.Program = []byte(r.text())
		if d.Category >= len(s.dimensions) {
			r.failed = true // a category stands before its guards
		}
		s.dimensions = append(s.dimensions, d)
	}
	if r.failed || r.b != "" {
		return s.damaged(secMeta, uint64(len(s.sections[secMeta])-len(r.b)), "layers and dimensions")
	}
	return nil
}

func (s *Snapshot) readDicts() error {
	sec := s.sections[secDicts]
	s.dicts = make([]dictionary, len(s.dimensions))
	for d := range s.dicts {
		if len(sec) < 4*len(s.dicts) {
			return s.damaged(secDicts, 0, "%d offsets", len(s.dicts))
		}
		at := 4 * uint64(load32(sec[4*d:]))
		if at > uint64(len(sec)) {
			return s.damaged(secDicts, uint64(4*d), "an offset inside the section")
		}
		hash, rest, ok := viewPerfect(sec[at:])
		offsets := 4 * (uint64(hash.n) + 1)
		if !ok || offsets > uint64(len(rest)) {
			return s.damaged(secDicts, at, "a dictionary")
		}
		s.dicts[d] = dictionary{hash, rest[:offsets], rest[offsets:]}
	}
	return nil
}

func (s *Snapshot) readLevels(n uint32) error {
	sec := s.sections[secLevels]
	if levelRecord*uint64(n) > uint64(len(sec)) {
		return s.damaged(secLevels, 0, "%d level records", n)
	}
	s.levels, s.words = make([]levelView, n), maskWords(int(n))
	for i := range s.levels {
		at := uint64(levelRecord * i)
		r := sec[at:]
		l := levelView{layer: int(load16(r)), fixed: noRef}
		dims, slots := uint64(load16(r[2:])), load32(r[12:])
		first, directory := 4*uint64(load32(r[4:])), 4*uint64(load32(r[8:]))
		if l.layer >= len(s.layers) || first+4*dims > uint64(len(sec)) {
			return s.damaged(secLevels, at, "a level of %d layers with its dimensions", len(s.layers))
		}
		for d := range dims {
			dim := load32(sec[first+4*d:])
			if uint64(dim) >= uint64(len(s.dimensions)) || d > 0 && dim <= load32(sec[first+4*(d-1):]) {
				return s.damaged(secLevels, first+4*d, "one of %d dimensions, in ascending order", len(s.dimensions))
			}
		}
		l.dims = sec[first : first+4*dims]
		if dims == 0 {
			l.fixed = slots
		} else {
			size := 4 * (dims + 1) * uint64(slots)
			if slots == 0 || slots&(slots-1) != 0 || directory > uint64(len(sec)) || size > uint64(len(sec))-directory {
				return s.damaged(secLevels, at+8, "a directory inside the section")
			}
			l.directory, l.slots = sec[directory:directory+size], slots
		}
		s.levels[i] = l
	}
	return nil
}

// reader takes small things off a section; after a failure it yields zeros.
type reader struct {
	b      string
	failed bool
}

func (r *reader) byte() byte {
	if r.b == "" {
		r.failed = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

// count is a uvarint that is at most the bytes that remain, as the number of things of a byte or more each is.
func (r *reader) count() uint64 {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.failed = true
		return 0
	}
	return n
}

func (r *reader) number() uint64 {
	n := uint64(0)
	for shift := 0; shift < 64; shift += 7 {
		c := r.byte()
		n |= uint64(c&0x7f) << shift
		if shift == 63 && c > 1 {
			break
		}
		if c < 0x80 {
			return n
		}
	}
	r.failed = true
	return 0
}

func (r *reader) text() string {
	n := r.count()
	if r.failed {
		return ""
	}
	t := r.b[:n]
	r.b = r.b[n:]
	return t
}

func (r *reader) u64() uint64 {
	if len(r.b) < 8 {
		r.failed = true
		return 0
	}
	n := load64(r.b)
	r.b = r.b[8:]
	return n
}
