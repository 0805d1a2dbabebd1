package decision

import (
	"fmt"
	"slices"
	"strings"
)

// keyTables holds the rows of a key in two snapshots, and its contributions.
type keyTables struct {
	old, now                           []Row
	oldContributions, nowContributions []Row
}

// gone reports whether a key was bound before, but no longer is.
func (t *keyTables) gone() bool { return isBound(t.old) && !isBound(t.now) }

// isNew reports whether a key was not bound before.
func (t *keyTables) isNew() bool { return !isBound(t.old) && isBound(t.now) }

// isBound reports whether rows have an answer for some request. A key that was renamed still has rows, below the row
// that erases it.
func isBound(rows []Row) bool {
	for _, r := range rows {
		if !r.Erased {
			return true
		}
		if len(r.When) == 0 {
			return false
		}
	}
	return false
}

// contentText returns a string that is equal for keys with the same values under the same conditions. It returns "" if
// a value is encrypted.
func contentText(rows, contributions []Row) string {
	var b strings.Builder
	for _, list := range [][]Row{rows, contributions} {
		for _, r := range list {
			if r.Sealed {
				return ""
			}
			id := r.contentID
			switch { // recipes that contain their key
			case r.isMultibind:
				id = "multibinding"
			case r.merge != nil:
				id = r.Computed
			}
			fmt.Fprintf(&b, "%q %q %q\n", r.When, r.Name, id)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// renames marks the keys that are gone, and finds the new name of each. A new name is a key that takes its value from
// the old key, or has the same values under the same conditions.
func renames(keys []KeyChanges, tables map[string]*keyTables) {
	same, users := map[string][]string{}, map[string]string{}
	for key, t := range tables {
		if !t.isNew() {
			continue
		}
		if id := contentText(t.now, t.nowContributions); id != "" {
			same[id] = append(same[id], key)
		}
		for _, r := range t.now {
			for _, used := range r.uses {
				users[displayName(used)] = max(users[displayName(used)], key)
			}
		}
	}
	for i := range keys {
		k := &keys[i]
		t := tables[k.Key]
		if k.Gone = t != nil && t.gone(); !k.Gone {
			continue
		}
		if slices.ContainsFunc(t.now, func(r Row) bool { return r.Erased }) {
			k.Renamed = users[k.Key]
		} else if id := contentText(t.old, t.oldContributions); id != "" {
			k.Renamed = mostSimilar(k.Key, same[id])
		}
	}
}

// mostSimilar returns the name that shares the longest prefix and suffix with key, or "" if there are no names.
func mostSimilar(key string, names []string) (best string) {
	most := -1
	for _, name := range slices.Sorted(slices.Values(names)) {
		if n := commonLength(key, name); n > most {
			best, most = name, n
		}
	}
	return best
}

// commonLength returns the total length of the common prefix and the common suffix of two names.
func commonLength(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
		n++
	}
	return n
}
