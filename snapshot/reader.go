package snapshot

import (
	"math"
)

// reader reads numbers and strings from a section. After a failure, failed stays set and the results are meaningless.
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

// flags reads a byte of flags. It fails if a flag is not allowed.
func (r *reader) flags(allowed byte) byte {
	f := r.byte()
	r.failed = r.failed || f&^allowed != 0
	return f
}

// count reads the number of items that follow. It fails if the rest is too short for that many items. bytes is the
// minimum size of an item.
func (r *reader) count(bytes int) uint64 {
	n := r.uvarint()
	if n > uint64(len(r.b)/bytes) {
		r.failed = true
		return 0
	}
	return n
}

// uvarint reads a number of at most ten bytes.
func (r *reader) uvarint() uint64 {
	n := uint64(0)
	for shift := 0; ; shift += 7 {
		c := r.byte()
		n |= uint64(c&0x7f) << shift
		if shift == 63 && c > 1 {
			r.failed = true
			return 0
		}
		if c < 0x80 {
			return n
		}
	}
}

// u32 reads a uvarint and fails if it exceeds 32 bits.
func (r *reader) u32() uint32 {
	n := r.uvarint()
	r.failed = r.failed || n > math.MaxUint32
	return uint32(n)
}

// int reads a uvarint and fails if it does not fit into an int32.
func (r *reader) int() int {
	n := r.uvarint()
	if n > math.MaxInt32 {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count(1)
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
