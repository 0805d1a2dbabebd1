package snapshot

import "math/bits"

// hashText is the seeded hash of keys and category values, of the wyhash family: about a third of the cost of xxhash64
// on the 20 to 40 bytes a key has. format.md, section "Hash", states it; it is the same in every process.
func hashText(s string, seed uint64) uint64 {
	const k0, k1, k2 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3
	h := seed ^ k0
	n := uint64(len(s))
	for len(s) > 16 {
		h = mix(load64(s)^k1, load64(s[8:])^h)
		s = s[16:]
	}
	var a, b uint64
	switch {
	case len(s) >= 8:
		a, b = load64(s), load64(s[len(s)-8:])
	case len(s) >= 4:
		a, b = uint64(load32(s)), uint64(load32(s[len(s)-4:]))
	case len(s) > 0:
		a = uint64(s[0])<<16 | uint64(s[len(s)/2])<<8 | uint64(s[len(s)-1])
	}
	return mix(k1^n, mix(a^k2, b^h))
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// hashNumbers combines the value numbers of a scope.
func hashNumbers(ns []uint32) uint64 {
	h := uint64(len(ns))
	for _, n := range ns {
		h = mix(h^0xa0761d6478bd642f, uint64(n)^0xe7037ed1a0b428db)
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
