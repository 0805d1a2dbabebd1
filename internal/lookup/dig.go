package lookup

import (
	"encoding/binary"
	"math/bits"

	"bindc/internal/value"
)

// dig is a fast path for a dotted key of plain words whose root is bound to a constant hash. No other binding matters
// for such a key: keys with lookup_options are bound to recipes, and dig is not used with a default_hierarchy. For any
// other key, and if it finds nothing, dig returns false. The caller then applies all rules of Hiera 5.
func (r *Request) dig(key string) (v value.Value, ok bool) {
	end := wordEnd(key, 0)
	if !r.snap.digs || end == len(key) || !beginsWord(key, 0) || key[:end] == optionsKey {
		return value.Value{}, false
	}
	ref, found, err := r.file.Find(key[:end], &r.view.Scopes)
	if !found || err != nil {
		return value.Value{}, false
	}
	encoded, err := r.file.Encoded(ref)
	if err != nil {
		return value.Value{}, false
	}
	for end < len(key) {
		start := end + 1
		if key[end] != '.' || !beginsWord(key, start) {
			return value.Value{}, false
		}
		end = wordEnd(key, start)
		if encoded, ok = value.Entry(encoded, key[start:end]); !ok {
			return value.Value{}, false
		}
	}
	v, ok = value.Peek(encoded)
	return v, ok && value.Sound(v)
}

// beginsWord reports whether position i of key has a letter or an underscore. A segment that begins so, and has no byte
// below '0', is a literal hash key: not a number, not quoted, and not padded with white space.
func beginsWord(key string, i int) bool {
	return i < len(key) && (key[i] == '_' || 'a' <= key[i]|0x20 && key[i]|0x20 <= 'z')
}

// wordEnd returns the position of the first byte below '0' in key from i on, such as a dot or a quote, or len(key). It
// tests eight bytes at a time.
func wordEnd(key string, i int) int {
	const each = 0x0101010101010101
	b := []byte(key) // not copied, because nothing modifies b
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if below := (x - each*'0') &^ x & (each * 0x80); below != 0 {
			return i + bits.TrailingZeros64(below)/8
		}
	}
	for i < len(b) && b[i] >= '0' {
		i++
	}
	return i
}
