package snapshot

import "math/bits"

// Digs reports whether key may lead into the value of another key if it has no bindings itself: it contains a dot or
// a quote.
func Digs(key string) bool { return digsFrom(key, WordEnd(key, 0)) }

// digsFrom is Digs for a key whose first byte below '0' is at position at.
func digsFrom(key string, at int) bool {
	for ; at < len(key); at = WordEnd(key, at+1) {
		if c := key[at]; c == '.' || c == '\'' || c == '"' {
			return true
		}
	}
	return false
}

// WordEnd returns the position of the first byte of key, from position at on, that is below '0', such as a dot or a
// quote. If there is none, it returns len(key). It tests eight bytes at a time, because nearly all keys consist of
// letters, digits, colons and underscores.
func WordEnd(key string, at int) int {
	for ; at+8 <= len(key); at += 8 {
		if below := below0(at64(key, uint64(at))); below != 0 {
			return at + bits.TrailingZeros64(below)/8
		}
	}
	if len(key) >= 8 { // read the last eight bytes; the zeros shifted in are below '0'
		last := at64(key, uint64(len(key)-8)) >> (64 - 8*uint(len(key)-at))
		return at + bits.TrailingZeros64(below0(last))/8
	}
	for at < len(key) && key[at] >= '0' {
		at++
	}
	return at
}

// below0 returns 0 if none of the eight bytes is less than '0'. Otherwise, the lowest bit of the result is in the
// first such byte.
func below0(bytes uint64) uint64 {
	const each = 0x0101010101010101
	return (bytes - each*'0') &^ bytes & (each * 0x80)
}

// plain returns allPlain only if none of the eight bytes is a dot or a quote. These have neither bit 4 nor bit 6. All
// letters, digits, colons and underscores have one of these bits, but some other bytes have none.
func plain(bytes uint64) uint64 { return (bytes | bytes<<2) & allPlain }

const allPlain = 0x4040404040404040
