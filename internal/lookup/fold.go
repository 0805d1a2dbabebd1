package lookup

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// number returns the number of a value of a dimension. Case matters in an exact one only.
func (r *Request) number(dimension int, text string) uint32 {
	if r.snap.dimensions[dimension].exact || isFolded(text) {
		return r.file.ValueNumber(dimension, text)
	}
	if len(text) > foldedInPlace {
		return r.file.ValueNumber(dimension, strings.ToLower(text))
	}
	var buf [foldedInPlace]byte
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return r.file.ValueNumber(dimension, strings.ToLower(text))
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return r.file.ValueNumber(dimension, string(buf[:len(text)]))
}

// foldedInPlace limits the bytes of a value that is folded without allocating: Go allocates longer strings.
const foldedInPlace = 32

// isFolded reports whether text is ASCII without capitals, as most values are: then folding would change nothing.
func isFolded(text string) bool {
	b := []byte(text) // not copied, as nothing writes it
	for ; len(b) >= 8; b = b[8:] {
		if !allFolded(binary.LittleEndian.Uint64(b)) {
			return false
		}
	}
	for _, c := range b {
		if !allFolded(uint64(c)) {
			return false
		}
	}
	return true
}

// allFolded reports whether none of eight bytes is a capital or beyond ASCII. In each byte, the highest bit of the
// first sum says that it is at least 'A', and that of the second that it is more than 'Z'; of ASCII neither carries.
func allFolded(bytes uint64) bool {
	const each = 0x0101010101010101
	capitals := (bytes + (0x80-'A')*each) &^ (bytes + (0x80-'Z'-1)*each)
	return (bytes|capitals)&(0x80*each) == 0
}
