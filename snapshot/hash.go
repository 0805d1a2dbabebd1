package snapshot

import "math/bits"

const k0, k1, k2, k3 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3

// hashText is the seeded hash of keys and category values. It belongs to the wyhash family and costs about a third of
// xxhash64 on the 20 to 40 bytes of a typical key. Most keys have 17 to 48 bytes. For them hashText multiplies three
// blocks of 16 bytes in parallel, which may overlap. It does not branch on the length. The hash is the same in every
// process; format.md, section "Hash", specifies it.
func hashText(s string, seed uint64) uint64 {
	n := uint64(len(s))
	x := seed ^ k0
	if n <= 16 {
		a, b := ends(s)
		return mix(x^n, mix(a^k2, b^seed)^k1)
	}
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

// ends packs a string of at most 16 bytes into two numbers.
func ends(s string) (a, b uint64) {
	switch {
	case len(s) >= 8:
		return load64(s), load64(s[len(s)-8:])
	case len(s) >= 4:
		return uint64(load32(s)), uint64(load32(s[len(s)-4:]))
	case len(s) > 0:
		return uint64(s[0])<<16 | uint64(s[len(s)/2])<<8 | uint64(s[len(s)-1]), 0
	}
	return 0, 0
}

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
