package lookup

import (
	"bindc/internal/value"
	"bindc/snapshot"
)

// dig is a fast path for a dotted key of plain words whose root is bound to a constant hash. No other binding matters
// for such a key: keys with lookup_options are bound to recipes, and dig is not used with a default_hierarchy. For any
// other key, and if it finds nothing, dig returns false. The caller then applies all rules of Hiera 5. The first word
// of key ends at position end.
func (r *Request) dig(key string, end int) (v value.Value, ok bool) {
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
		end = snapshot.WordEnd(key, start)
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
