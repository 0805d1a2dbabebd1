package snapshot

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Snapshot is an open file. All methods may be called concurrently. Strings and values it returns refer to the mapped
// file and must not be used after Close.
type Snapshot struct {
	seed   uint64
	hash   perfect // of the keys
	keys   string  // section keys
	prints string  // a byte of the hash of each key, so that most that are absent touch no record
	tables string  // section tables
	narrow uint64  // the narrow columns; none where there are more than maxColumns
	words  int     // of 64 columns, of an exact mask

	data        string // the whole file
	unmap       func() error
	sections    [sectionCount]string
	digest      Digest
	blockValues uint32
	recipeCount uint32
	bindings    uint64
	strict      bool
	layers      []string
	dimensions  []Dimension
	dicts       []dictionary
	levels      []levelView
	columns     int
	cache       blockCache
}

// levelView is a level as section meta has it.
type levelView struct {
	layer int
	dims  []uint32
	columns
	direct    bool
	at        uint64 // where the directory begins in section scopes
	directory string
	slots     uint32
}

// slotBytes is the size of a slot of the directory.
func (l *levelView) slotBytes() int {
	if l.direct {
		return 4
	}
	return 4 * (len(l.dims) + 1)
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

var errNoFile = errors.New("not a regular file")

// headBytes is how much of a file is read before anything else: the header and, mostly, section meta.
const headBytes = 4096

// Open maps the snapshot at path. It checks magic, version, size, the header's checksum and that of section meta, and that
// every section is inside the file, at a cost that does not grow with the file; Verify checks the rest. Errors are
// ErrFormat, ErrVersion, a *DamageError, or those of the operating system.
func Open(path string) (*Snapshot, error) {
	head, data, unmap, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	s, err := newSnapshot(head, data, unmap)
	if err != nil && unmap != nil {
		unmap()
	}
	return s, err
}

// openBytes reads a snapshot held in memory.
func openBytes(b []byte) (*Snapshot, error) {
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
		return nil, s.damaged(secMeta, 0, "the checksum of the section")
	}
	if err := s.readMeta(meta, load32(head[offLevels:])); err != nil {
		return nil, err
	}
	return s, nil
}

// Close unmaps the file.
func (s *Snapshot) Close() error { return s.unmap() }

func checkHeader(h string, size uint64) error {
	if !strings.HasPrefix(h, Magic) {
		return ErrFormat
	}
	if len(h) < headerSize {
		return headerDamage(uint64(len(h)), "a header of %d bytes", headerSize)
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

// readHeader fills s from the header, with which h begins.
func (s *Snapshot) readHeader(h string) error {
	for i := range s.sections {
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
		return s.damaged(secKeys, 0, "%d records of %d bytes", s.hash.n, keyRecord)
	}
	if uint64(len(s.sections[secRecipeTab])) != 8*(uint64(s.recipeCount)+1) {
		return s.damaged(secRecipeTab, 0, "%d entries of 8 bytes", s.recipeCount+1)
	}
	return nil
}

// meta is section meta, of head if it is there: that is in memory already.
func (s *Snapshot) meta(head string) string {
	meta := s.sections[secMeta]
	if off := load64(head[offSectionTab+sectionEntry*int(secMeta):]); off+uint64(len(meta)) <= uint64(len(head)) {
		return head[off : off+uint64(len(meta))]
	}
	return meta
}

// readMeta fills s from section meta.
func (s *Snapshot) readMeta(meta string, levels uint32) error {
	r := reader{b: meta}
	err := s.readParts(&r, levels)
	if err == nil && (r.failed || r.b != "") {
		err = s.damaged(secMeta, uint64(len(meta)-len(r.b)), "layers, dimensions and levels")
	}
	return err
}

func (s *Snapshot) readParts(r *reader, levels uint32) error {
	flags := r.byte()
	s.strict, r.failed = flags == 1, r.failed || flags > 1
	for n := r.count(); n > 0 && !r.failed; n-- {
		s.layers = append(s.layers, r.text())
	}
	for n := r.count(); n > 0 && !r.failed; n-- {
		if err := s.readDimension(r); err != nil {
			return err
		}
	}
	s.hash.buckets, s.hash.slots = r.u32(), r.u32()
	prints, ok := s.hash.view(s.sections[secPilots])
	if !r.failed && (!ok || uint64(len(prints)) != uint64(s.hash.n)) {
		return s.damaged(secPilots, 0, "a perfect hash of %d keys", s.hash.n)
	}
	s.prints = prints
	for ; levels > 0 && !r.failed; levels-- {
		if err := s.readLevel(r); err != nil {
			return err
		}
	}
	s.words = max(1, (s.columns+maxColumns-1)/maxColumns)
	for _, l := range s.levels {
		if l.narrow {
			r.failed = r.failed || s.words > 1
			s.narrow |= (1<<l.count - 1) << l.first
		}
	}
	return nil
}

func (s *Snapshot) readDimension(r *reader) error {
	d := Dimension{Name: r.text(), Category: int(r.u32()) - 1}
	d.Guard = r.byte() == 1
	d.Program = []byte(r.text())
	if d.Category >= len(s.dimensions) {
		r.failed = true // a category stands before its guards
	}
	dict := dictionary{at: 4 * uint64(r.u32()), hash: perfect{n: r.u32(), buckets: r.u32(), slots: r.u32()}}
	sec := s.sections[secDicts]
	if !r.failed && (dict.at > uint64(len(sec)) || !dict.view(sec[dict.at:])) {
		return s.damaged(secDicts, dict.at, "a dictionary of %d values", dict.hash.n)
	}
	s.dimensions, s.dicts = append(s.dimensions, d), append(s.dicts, dict)
	return nil
}

func (s *Snapshot) readLevel(r *reader) error {
	l := levelView{layer: int(r.u32())}
	for n := r.count(); n > 0 && !r.failed; n-- {
		d := r.u32()
		if d >= uint32(len(s.dimensions)) || len(l.dims) > 0 && d <= l.dims[len(l.dims)-1] {
			r.failed = true // of the dimensions, in ascending order
		}
		l.dims = append(l.dims, d)
	}
	flags, count, at, slots := r.byte(), r.u32(), 4*uint64(r.u32()), r.u32()
	l.narrow, l.direct = flags&levelNarrow != 0, flags&levelDirect != 0
	l.first, l.count, l.at, l.slots = s.columns, int(count), at, slots
	size, sec := 4*uint64(slots), s.sections[secScopes]
	switch {
	case r.failed:
		return nil
	case l.layer >= len(s.layers), flags > levelNarrow|levelDirect, l.narrow && count > maxColumns, !l.narrow && count != 1:
		r.failed = true
		return nil
	case l.direct && len(l.dims) > 1, len(l.dims) == 1 && l.direct && slots != s.dicts[l.dims[0]].hash.n:
		return s.damaged(secScopes, at, "a directory indexed by a dimension")
	case len(l.dims) == 0 && (!l.direct || slots != 1):
		return s.damaged(secScopes, at, "a directory of one place")
	case !l.direct:
		size *= uint64(len(l.dims)) + 1
		if slots == 0 || slots&(slots-1) != 0 {
			return s.damaged(secScopes, at, "a directory of a power of two of slots")
		}
	}
	if at > uint64(len(sec)) || size > uint64(len(sec))-at {
		return s.damaged(secScopes, at, "a directory of %d slots", slots)
	}
	l.directory = sec[at : at+size]
	s.columns += l.count
	s.levels = append(s.levels, l)
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

// u32 is a uvarint that fits 32 bits.
func (r *reader) u32() uint32 {
	n := r.number()
	r.failed = r.failed || n > math.MaxUint32
	return uint32(n)
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
