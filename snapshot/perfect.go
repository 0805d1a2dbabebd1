package snapshot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// A perfect hash sends n known texts to the numbers 0 to n-1. Texts fall into buckets of three on average; each bucket
// has a pilot, 16 bits that move its texts to free slots. There are a few more slots than texts, and a table that sends
// the slots beyond n to the numbers that stayed free: 5.3 bits a text for pilots, one for the table. (Pilots of a byte
// need a tenth more slots and texts moved out again while building, for the same size in the end.)
//
// Encoded: a pilot u16 per bucket padded to a multiple of 4, slots-n numbers u32. The numbers stand in section meta.
type perfect struct {
	n, buckets, slots uint32
	pilots, remap     string
}

const (
	bucketTexts = 3
	spareSlots  = 32 // one more slot for so many texts
	seedTries   = 8
)

var errNoPerfectHash = errors.New("no perfect hash found for the keys or the values of a category")

// slot is where h goes under a pilot.
func slotOf(h uint64, pilot uint16, slots uint32) uint32 {
	return reduce(mix(h, 0x9e3779b97f4a7c15*(uint64(pilot)+1)), slots)
}

// reduce maps the high bits of h to 0..n-1 without a division.
func reduce(h uint64, n uint32) uint32 {
	hi, _ := bits.Mul64(h, uint64(n))
	return uint32(hi)
}

// buildPerfect finds the pilots for hashes, which are distinct. It is as good as impossible that no pilot fits; the
// caller then takes another seed.
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
	p.view(string(out)) // nothing is missing in what was just made
	return p, out, nil
}

// bySize is the hashes by bucket, the fullest bucket first, empty ones left out.
func bySize(hashes []uint64, buckets uint32) [][]uint64 {
	sorted := slices.Clone(hashes)
	slices.Sort(sorted) // reduce keeps the order, so that buckets come out one behind the other
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

// placeBucket finds the first pilot that sends all texts of a bucket to slots of their own.
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

// appendRemap appends, for every slot from n on, the free number below n it stands for; 0 where nothing uses the slot.
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

// view finds pilots and remap of p, whose numbers are known, at the start of b; rest is what follows them.
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

// find is the number of the text with hash h, if it is one of the texts; any number below n, or n and above in a
// damaged file, if not.
func (p *perfect) find(h uint64) uint32 {
	s := slotOf(h, at16(p.pilots, 2*uint64(reduce(h, p.buckets))), p.slots) // view found every pilot
	if s >= p.n {
		s = p.moved(s)
	}
	return s
}

// moved is the number that slot s, from n on, stands for.
func (p *perfect) moved(s uint32) uint32 { return load32(p.remap[4*uint64(s-p.n):]) }
