package lookup

import (
	"bindc/internal/value"
	"bindc/snapshot"
)

// dig is a fast path for a dotted key of plain words whose root is bound to a constant hash. Such a hash is never
// merged, because keys with lookup_options are bound to recipes. end is the position where the first word of key ends.
// The value has the source of the snapshot as owner. If dig returns false, the caller must apply all rules of Hiera 5.
func (r *Request) dig(key string, end int) (v value.Value, ok bool) {
	if !r.snap.digs || end == len(key) || !beginsWord(key, 0) || key[:end] == optionsKey {
		return value.Value{}, false
	}
	text, at, ok := r.view.Encoded(key[:end])
	if !ok {
		return value.Value{}, false
	}
	inCells := at != 0
	for end < len(key) {
		start := end + 1
		if key[end] != '.' || !beginsWord(key, start) {
			return value.Value{}, false
		}
		end = snapshot.WordEnd(key, start)
		if at, ok = value.Entry(text, at, key[start:end]); !ok {
			return value.Value{}, false
		}
	}
	if inCells { // like other constants in cells, it is checked when it is read
		return r.snap.values.At(uint64(at)), true
	}
	v, ok = value.Peek(text[at:])
	return r.snap.values.Own(v), ok && value.Sound(v)
}

// beginsWord reports whether key[i] is a letter or an underscore. A segment that starts with one and has no byte below
// '0' is a literal hash key: it is not a number, not quoted, and not padded with white space.
func beginsWord(key string, i int) bool {
	return i < len(key) && ((key[i]|0x20)-'a' < 26 || key[i] == '_')
}
