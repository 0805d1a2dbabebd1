package value

import "math/bits"

// A Source identifies its values by numbers. A number below Inline is the position of a value in the cells, see
// Position. A number from Inline to 2*Inline-1 contains the value itself, see FromInline. For values at odd positions,
// bit 63 is set.
const (
	CellUnit  = 2 // the distance between two positions, in bytes
	Inline    = 1 << 30
	InlineInt = 1 // the two lowest bits of an integer
)

// reader decodes the values of a Source, or returns the content of a sensitive value.
type reader struct {
	cells string // see NewSource
	load  func(n uint64) (Value, error)
}

// FromInline returns the value that n contains: an integer, or undef, false, true or default. It ignores bits above
// Inline.
func FromInline(n uint32) Value {
	if n&3 == InlineInt {
		return FromInt(int64(int32(n<<2) >> 4))
	}
	switch n &^ (3 * Inline) >> 2 {
	case 1, 2:
		return FromBool(n&4 == 0)
	case 3:
		return TheDefault()
	}
	return Value{}
}

// Position returns the position of value number n in the cells, unless n is inline. It is CellUnit*n, or one more if
// bit 63 is set.
func Position(n uint64) uint64 { return bits.RotateLeft64(n, 1) }

func (r *reader) read(n uint64) (Value, error) {
	if isInline(n) {
		return FromInline(uint32(n)), nil
	}
	if text, ok := r.text(n); ok {
		return FromString(text), nil
	}
	if kind, entries, ok := r.list(n); ok {
		return Value{ref: &plain[kind], num: uint64(entries[0]), str: entries[1:]}, nil
	}
	return r.load(n)
}

func isInline(n uint64) bool { return n/Inline == 1 }

// readKind returns the kind of value number n, see Value.ReadKind.
func (t *body) readKind(n uint64) Kind {
	r := t.reader
	if r == nil {
		return t.kind
	}
	if _, ok := r.text(n); ok {
		return String
	}
	if isInline(n) {
		return FromInline(uint32(n)).Kind()
	}
	return r.otherKind(n)
}

func (r *reader) otherKind(n uint64) Kind {
	if kind, _, ok := r.list(n); ok {
		return kind
	}
	v, err := r.load(n)
	if err != nil {
		return Invalid
	}
	return v.Kind()
}

// text returns value number n if it is a String of less than 128 bytes in cells.
func (r *reader) text(n uint64) (text string, ok bool) { // inlined
	if at := Position(n); at < uint64(len(r.cells)) {
		end := at + uint64(r.cells[at]) - (uint64(tagSmallStr) - 1)
		if at < end && end <= uint64(len(r.cells)) { // the tags of other values are smaller
			return r.cells[at+1 : end], true
		}
	}
	return "", false
}

// list returns the kind and the content of value number n if it is a short Array or Hash in cells: its length and its
// number of entries have one byte each. The content is the number of entries, followed by the entries.
func (r *reader) list(n uint64) (kind Kind, entries string, ok bool) {
	start := Position(n) + 2
	if start >= uint64(len(r.cells)) {
		return 0, "", false
	}
	tag, size := r.cells[start-2], r.cells[start-1]
	end := start + uint64(size)
	if tag != tagArray && tag != tagHash || size >= 0x80 || end > uint64(len(r.cells)) || r.cells[start] >= size {
		return 0, "", false
	}
	return Array + Kind(tag-tagArray), r.cells[start:end], true
}
