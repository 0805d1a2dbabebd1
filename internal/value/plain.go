package value

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Plain returns the length of the longest start of s that a JSON string contains unchanged and that consists of ASCII:
// no control characters, quotes, and backslashes. It tests eight bytes at a time.
func Plain(s string) int {
	b := []byte(s) // not copied, because nothing modifies b
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if n := plainBytes(binary.LittleEndian.Uint64(b[i:])); n < 8 {
			return i + n
		}
	}
	switch rest := len(b) - i; {
	case rest == 0:
	case i > 0: // read the last eight bytes; the zeros shifted in are not plain
		i += plainBytes(binary.LittleEndian.Uint64(b[len(b)-8:]) >> (64 - 8*rest))
	default:
		for i < rest && b[i] >= 0x20 && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
			i++
		}
	}
	return i
}

// plainBytes returns how many of eight bytes come before the first that is not plain.
func plainBytes(x uint64) int {
	const each = 0x0101010101010101
	quote, backslash := x^each*'"', x^each*'\\'
	return bits.TrailingZeros64((x|(x-each*0x20)|(quote-each)|(backslash-each))&(each*0x80)) / 8
}

// isUTF8 is utf8.ValidString, but faster for plain text.
func isUTF8(s string) bool { return Plain(s) == len(s) || utf8.ValidString(s) }
