package lookup

import (
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/value"
)

// dig looks up a dotted key of plain words whose root is bound to a constant hash. For such a key no other binding
// matters: keys with lookup_options are bound to recipes, and dig is not used with a default_hierarchy. For any
// other key, and if it finds nothing, dig returns false, and the caller applies all rules of Hiera 5.
func (r *Request) dig(key string) (v value.Value, ok bool) {
	root, path, more := strings.Cut(key, ".")
	if !r.snap.digs || !more || !plainWord(root) || lookupkey.Reserved(key) {
		return value.Value{}, false
	}
	ref, found, err := r.file.Find(root, &r.view.Scopes)
	if _, computed := ref.Recipe(); !found || err != nil || computed {
		return value.Value{}, false
	}
	if v, err = r.file.Value(ref); err != nil {
		return value.Value{}, false
	}
	for more {
		var segment string
		segment, path, more = strings.Cut(path, ".")
		if !plainWord(segment) || v.Kind() != value.Hash {
			return value.Value{}, false
		}
		if v, ok = v.Get(value.FromString(segment)); !ok {
			return value.Value{}, false
		}
	}
	return v, value.Sound(v)
}

// wordBytes has 2 for bytes that a plain word may begin with, 1 for bytes that are allowed after the first, and 0
// for others.
var wordBytes = func() (table [256]uint8) {
	for c := range table {
		switch lower := c | 0x20; {
		case 'a' <= lower && lower <= 'z' || c == '_':
			table[c] = 2
		case '0' <= c && c <= '9' || c == ':':
			table[c] = 1
		}
	}
	return table
}()

// plainWord reports whether a segment of a key is a literal hash key, not a number or a quoted segment.
func plainWord(segment string) bool {
	for i := range len(segment) {
		if wordBytes[segment[i]] == 0 {
			return false
		}
	}
	return segment != "" && wordBytes[segment[0]] == 2
}
