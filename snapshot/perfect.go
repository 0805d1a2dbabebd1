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
// Encoded: u32 n, u32 buckets, u32 slots, a pilot u16 per bucket padded to a multiple of 4, slots-n numbers u32.
type perfect struct {
	n, buckets, slots uint32
	pilots, remap     string
}

const (
	bucketTexts   = 3
	spareSlots    = 32 // one more slot for so many texts
	seedTries     = 8
	perfectHeader = 12
)

var errNoPerfectHash = errors.New("no perfect hash found: a text occurs twice")

// slot is where h goes under a pilot.
func slotOf(h uint64, pilot uint16, slots uint32) uint32 {
	return reduce(mix(h, 0x9e3779b97f4a7c15*(uint64(pilot)+1)), slots)
}

// reduce maps the high bits of h to 0..n-1 without a division.
func reduce(h uint64, n uint32) uint32 {
	hi, _ := bits.Mul64(h, uint64(n))
	return uint32(hi)
}

// buildPerfect finds the pilots for hashes. It fails when two hashes are equal, or, which is as good as impossible, when
// no pilot fits; the caller then takes another seed.
func buildPerfect(hashes []uint64) ([]byte, error) {
	n := uint32(len(hashes))
	slots, buckets := n+n/spareSlots+1, n/bucketTexts+1
	pilots, taken := make([]byte, 2*buckets), make([]uint64, slots/64+1)
	for _, b := range bySize(hashes, buckets) {
		if !place(b, pilots, taken, buckets, slots) {
			return nil, errNoPerfectHash
		}
	}
	out := binary.LittleEndian.AppendUint32(nil, n)
	out = binary.LittleEndian.AppendUint32(out, buckets)
	out = binary.LittleEndian.AppendUint32(out, slots)
	out = pad(append(out, pilots...), 4)
	return appendRemap(out, taken, n, slots), nil
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

// place finds the first pilot that sends all texts of a bucket to slots of their own.
func place(bucket []uint64, pilots []byte, taken []uint64, buckets, slots uint32) bool {
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

// viewPerfect reads an encoded perfect hash; rest is what follows it.
func viewPerfect(b string) (p perfect, rest string, ok bool) {
	if len(b) < perfectHeader {
		return perfect{}, "", false
	}
	p.n, p.buckets, p.slots = load32(b), load32(b[4:]), load32(b[8:])
	b = b[perfectHeader:]
	pilots := (2*uint64(p.buckets) + 3) &^ 3
	if p.slots < p.n || p.slots == 0 || p.buckets == 0 || pilots > uint64(len(b)) || 4*uint64(p.slots-p.n) > uint64(len(b))-pilots {
		return perfect{}, "", false
	}
	p.pilots = b[:2*uint64(p.buckets)]
	p.remap = b[pilots : pilots+4*uint64(p.slots-p.n)]
	return p, b[pilots+4*uint64(p.slots-p.n):], true
}

// find is the number of the text with hash h, if it is one of the texts; any number below n, or n and above in a damaged
// file, if not.
func (p *perfect) find(h uint64) uint32 {
	s := slotOf(h, load16(p.pilots[2*uint64(reduce(h, p.buckets)):]), p.slots)
	if s >= p.n {
		s = load32(p.remap[4*(s-p.n):])
	}
	return s
}
