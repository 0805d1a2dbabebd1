package snapshot

import "strings"

// Digs reports whether a key without bindings may lead into a value. Nearly all keys consist of letters, digits, colons
// and underscores. So it tests eight bytes at a time whether any is below '0', as dots and quotes are.
func Digs(key string) bool {
	if len(key) < 8 {
		return hasSpecial(key)
	}
	for at := 0; at < len(key)-8; at += 8 {
		if below0(key[at:]) {
			return hasSpecial(key)
		}
	}
	return below0(key[len(key)-8:]) && hasSpecial(key)
}

func hasSpecial(key string) bool {
	return strings.IndexByte(key, '.') >= 0 || strings.IndexByte(key, '\'') >= 0 || strings.IndexByte(key, '"') >= 0
}

// below0 reports whether one of the first eight bytes of s is less than '0'.
func below0(s string) bool {
	const each = 0x0101010101010101
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return (x-each*'0')&^x&(each*0x80) != 0
}

// plain returns allPlain only if none of eight bytes is a dot or a quote, which have neither bit 4 nor bit 6. All
// letters, digits, colons and underscores have one of these bits, but some other bytes have none.
func plain(bytes uint64) uint64 { return (bytes | bytes<<2) & allPlain }

const allPlain = 0x4040404040404040
