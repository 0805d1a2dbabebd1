package snapshot

import "math/bits"

const k0, k1, k2, k3 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3

// hashText is the seeded hash of keys and category values. It belongs to the wyhash family and costs about a third of
// xxhash64 on the 20 to 40 bytes of a typical key. Most keys have 17 to 48 bytes. For them hashText multiplies three
// blocks of 16 bytes in parallel, which may overlap. It does not branch on the length. The hash is the same in every
// process; format.md, section "Hash", specifies it.
func hashText(s string, seed uint64) uint64 {
	n := uint64(len(s))
	if n <= shortText {
		a, b := ends(s, 0, n)
		return hashEnds(a, b, n, seed)
	}
	x := seed ^ k0
	at := uint64(0)
	for ; n-at > 48; at += 16 {
		x = mix(at64(s, at)^k1, at64(s, at+8)^x)
	}
	last := n - 16
	middle := min(at+16, last)
	p := mix(at64(s, at)^k1, at64(s, at+8)^x)
	q := mix(at64(s, middle)^k2, at64(s, middle+8)^seed)
	r := mix(at64(s, last)^k3, at64(s, last+8)^seed)
	return mix(p^q^n, r^k1)
}

// shortText is the maximum length of a text that ends can pack.
const shortText = 16

// ends packs the text s[at:at+n] into two numbers. The text must have at most shortText bytes. Texts of the same
// length have the same numbers only if they are equal.
func ends(s string, at, n uint64) (a, b uint64) {
	switch {
	case n >= 8:
		return at64(s, at), at64(s, at+n-8)
	case n >= 4:
		return uint64(at32(s, at)), uint64(at32(s, at+n-4))
	case n > 0:
		return uint64(at8(s, at))<<16 | uint64(at8(s, at+n/2))<<8 | uint64(at8(s, at+n-1)), 0
	}
	return 0, 0
}

// hashEnds returns the hash of a text of n bytes that ends packed into a and b.
func hashEnds(a, b, n, seed uint64) uint64 { return mix(seed^k0^n, mix(a^k2, b^seed)^k1) }

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func hashNumbers(ns []uint32) uint64 {
	h := uint64(len(ns))
	for _, n := range ns {
		h = mix(h^k0, uint64(n)^k1)
	}
	return h
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func load16(s string) uint16 { return uint16(s[0]) | uint16(s[1])<<8 }
