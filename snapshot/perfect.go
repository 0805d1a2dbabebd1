package snapshot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// A perfect hash maps n known strings to the numbers 0 to n-1. It distributes the strings to buckets of three on
// average. Each bucket has a pilot, a 16-bit number chosen so that all its strings get free slots. There are slightly
// more slots than strings. A table, called remap, maps the slots from n on to the free slots below n. The pilots take
// 5.3 bits per string and the table takes one. (8-bit pilots would need 10% more slots and would have to move strings
// again during construction. The total size would be the same.)
//
// Encoding: one pilot u16 per bucket, padded to a multiple of 4, then slots-n numbers u32. Section meta has n,
// buckets and slots.
type perfect struct {
	n, buckets, slots uint32
	pilots, remap     string
}

const (
	bucketTexts = 3
	spareSlots  = 32 // one spare slot per this many strings
	seedTries   = 8
)

var errNoPerfectHash = errors.New("no perfect hash found for the keys or the values of a category")

// slotOf returns the slot of hash h if its bucket has this pilot.
func slotOf(h uint64, pilot uint16, slots uint32) uint32 { return reduce(spread(h, pilot), slots) }

// spread returns a hash of h together with a pilot.
func spread(h uint64, pilot uint16) uint64 { return mix(h, 0x9e3779b97f4a7c15*(uint64(pilot)+1)) }

// reduce maps h to a number below n. It uses the high bits of h and no division.
func reduce(h uint64, n uint32) uint32 { return uint32(share(h, uint64(n))) }

// share is like reduce for 64-bit numbers.
func share(h, n uint64) uint64 {
	hi, _ := bits.Mul64(h, n)
	return hi
}

// buildPerfect finds the pilots for hashes, which must be distinct. It practically never fails. If it does, the
// caller tries another seed.
func buildPerfect(hashes []uint64) (perfect, []byte, error) {
	p := perfect{n: uint32(len(hashes))}
	p.slots, p.buckets = p.n+p.n/spareSlots+1, p.n/bucketTexts+1
	pilots, taken := make([]byte, 2*p.buckets), make([]uint64, p.slots/64+1)
	for _, b := range bySize(hashes, p.buckets) {
		if !placeBucket(b, pilots, taken, p.buckets, p.slots) {
			return perfect{}, nil, errNoPerfectHash
		}
	}
	out := appendRemap(pad(pilots, 4), taken, p.n, p.slots)
	p.view(string(out)) // cannot fail, because out is complete
	return p, out, nil
}

// bySize groups the hashes by bucket, fullest bucket first, without empty buckets.
func bySize(hashes []uint64, buckets uint32) [][]uint64 {
	sorted := slices.Clone(hashes)
	slices.Sort(sorted) // reduce preserves the order, so each bucket is a contiguous run
	var out [][]uint64
	for len(sorted) > 0 {
		b, end := reduce(sorted[0], buckets), 1
		for end < len(sorted) && reduce(sorted[end], buckets) == b {
			end++
		}
		out = append(out, sorted[:end])
		sorted = sorted[end:]
	}
	slices.SortStableFunc(out, func(a, b []uint64) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// placeBucket finds the first pilot that gives every string of a bucket its own free slot. It returns false if there
// is none.
func placeBucket(bucket []uint64, pilots []byte, taken []uint64, buckets, slots uint32) bool {
	var buf [64]uint32
	for p := range 1 << 16 {
		at := buf[:0]
		for _, h := range bucket {
			s := slotOf(h, uint16(p), slots)
			if taken[s/64]&(1<<(s%64)) != 0 || slices.Contains(at, s) {
				break
			}
			at = append(at, s)
		}
		if len(at) < len(bucket) {
			continue
		}
		for _, s := range at {
			taken[s/64] |= 1 << (s % 64)
		}
		binary.LittleEndian.PutUint16(pilots[2*reduce(bucket[0], buckets):], uint16(p))
		return true
	}
	return false
}

// appendRemap appends the number below n that each slot from n on maps to, or 0 if the slot is unused.
func appendRemap(out []byte, taken []uint64, n, slots uint32) []byte {
	free := uint32(0)
	for s := n; s < slots; s++ {
		number := uint32(0)
		if taken[s/64]&(1<<(s%64)) != 0 {
			for taken[free/64]&(1<<(free%64)) != 0 {
				free++
			}
			number = free
			free++
		}
		out = binary.LittleEndian.AppendUint32(out, number)
	}
	return out
}

// view finds the pilots and the remap table of p at the start of b and returns the rest. The caller has set n, buckets
// and slots.
func (p *perfect) view(b string) (rest string, ok bool) {
	pilots := (2*uint64(p.buckets) + 3) &^ 3
	if p.slots < p.n || p.slots == 0 || p.buckets == 0 || pilots > uint64(len(b)) ||
		4*uint64(p.slots-p.n) > uint64(len(b))-pilots {
		return "", false
	}
	p.pilots, b = b[:2*uint64(p.buckets)], b[pilots:]
	p.remap, b = b[:4*uint64(p.slots-p.n)], b[4*uint64(p.slots-p.n):]
	return b, true
}

// find returns the number of the text with hash h. For an unknown text it returns any number below n, or in a damaged
// file even n or more.
func (p *perfect) find(h uint64) uint32 { // inlined; view checked the length of pilots
	s := uint32(share(spread(h, at16(p.pilots, 2*share(h, uint64(p.buckets)))), uint64(p.slots)))
	if s >= p.n {
		s = p.moved(s)
	}
	return s
}

// moved returns the number that slot s maps to. The slot must be at least n.
func (p *perfect) moved(s uint32) uint32 { return load32(p.remap[4*uint64(s-p.n):]) }
