package value

import "unicode/utf8"

// IsPlain reports whether s consists of plain characters: ASCII without control characters, quotes and backslashes. A
// JSON string contains them unchanged. IsPlain tests eight bytes at a time.
func IsPlain(s string) bool {
	const high = 0x8080808080808080
	n := len(s)
	if n < 8 {
		return others(le56(s))&high == 0
	}
	found := others(le64(s[n-8:])) // overlaps the word before, unless n is a multiple of eight
	for ; len(s) > 8; s = s[8:] {
		found |= others(le64(s))
	}
	return found&high == 0
}

// others sets the highest bit of one of eight bytes if, and only if, one of them is not plain.
func others(x uint64) uint64 {
	const each = 0x0101010101010101
	return x | (x - each*0x20) | ((x ^ each*'"') - each) | ((x ^ each*'\\') - each)
}

// le56 returns a word with all bytes of s, which has less than eight. Some bytes appear twice. The remaining bytes of
// the word are spaces.
func le56(s string) uint64 {
	const spaces = 0x2020202020202020
	switch n := len(s); {
	case n >= 4:
		return le32(s) | le32(s[n-4:])<<32
	case n > 0:
		return uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16 | spaces&^0xffffff
	}
	return spaces
}

// le32 returns the first four bytes of b as a little-endian number.
func le32(b string) uint64 {
	_ = b[3] // a single bounds check
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24
}

// appendPlain appends s as a JSON string if all of it is plain.
func appendPlain(dst []byte, s string) (out []byte, ok bool) {
	if !IsPlain(s) {
		return dst, false
	}
	return append(append(append(dst, '"'), s...), '"'), true
}

// isUTF8 is utf8.ValidString, but faster for plain text.
func isUTF8(s string) bool { return IsPlain(s) || utf8.ValidString(s) }
