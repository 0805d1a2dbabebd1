package value

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Plain returns the length of the longest prefix of s that consists of plain characters: ASCII without control
// characters, quotes and backslashes. A JSON string contains them unchanged. Plain tests eight bytes at a time.
func Plain(s string) int {
	b := []byte(s) // not copied, because nothing modifies b
	for ; len(b) >= 8; b = b[8:] {
		if n := plainBytes(binary.LittleEndian.Uint64(b)); n < 8 {
			return len(s) - len(b) + n
		}
	}
	if at := len(s) - len(b); at > 0 && len(b) > 0 { // read the last eight bytes; the zeros shifted in are not plain
		return at + plainBytes(le64(s[len(s)-8:])>>(64-8*len(b)))
	}
	for i, c := range b {
		if c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// plainBytes returns how many of eight bytes come before the first that is not plain.
func plainBytes(x uint64) int {
	const each = 0x0101010101010101
	quote, backslash := x^each*'"', x^each*'\\'
	return bits.TrailingZeros64((x|(x-each*0x20)|(quote-each)|(backslash-each))&(each*0x80)) / 8
}

// appendPlain appends s as a JSON string if all of it is plain.
func appendPlain(dst []byte, s string) (out []byte, ok bool) {
	if Plain(s) < len(s) {
		return dst, false
	}
	return append(append(append(dst, '"'), s...), '"'), true
}

// isUTF8 is utf8.ValidString, but faster for plain text.
func isUTF8(s string) bool { return Plain(s) == len(s) || utf8.ValidString(s) }
