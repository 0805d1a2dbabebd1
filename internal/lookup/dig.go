package lookup

import (
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/value"
)

// dig looks up a dotted key of plain words whose root is bound to a constant hash. Only this binding matters then: a
// key that lookup_options apply to is bound to a recipe, and without default_hierarchy there is no other source. dig
// returns false for any other key and if it finds nothing. The caller then applies all the rules of Hiera 5.
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

// wordBytes marks the bytes that plain words consist of: 2 if a word may begin with the byte, 1 if the byte may only
// follow.
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
