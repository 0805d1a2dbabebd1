package lookup

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// number returns the value number of text in a dimension, or snapshot.None. It folds the case of text unless the
// dimension is exact.
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

// foldedInPlace is the length in bytes up to which number folds text without allocating memory.
const foldedInPlace = 32

// isFolded reports whether text is ASCII without capital letters, as most values are. Folding would not change it.
func isFolded(text string) bool {
	b := []byte(text) // the compiler does not copy text, because b is not modified
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

// allFolded reports whether all eight bytes are ASCII and none is a capital letter. In the first sum, the high bit of a
// byte is set if the byte is at least 'A'; in the second, if it is greater than 'Z'. ASCII bytes do not overflow into
// the next byte.
func allFolded(bytes uint64) bool {
	const each = 0x0101010101010101
	capitals := (bytes + (0x80-'A')*each) &^ (bytes + (0x80-'Z'-1)*each)
	return (bytes|capitals)&(0x80*each) == 0
}
