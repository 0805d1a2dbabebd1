package decision

import (
	"fmt"
	"slices"
	"strings"
)

// keyTables has the rows and the contributions of a key in two snapshots.
type keyTables struct {
	old, now                           []Row
	oldContributions, nowContributions []Row
}

func (t *keyTables) gone() bool { return isBound(t.old) && !isBound(t.now) }

func (t *keyTables) isNew() bool { return !isBound(t.old) && isBound(t.now) }

// isBound reports whether rows give an answer for some request. A renamed key has rows but no answer, because its first
// row erases it.
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
// this cannot be decided because a value is encrypted.
func contentText(rows, contributions []Row) string {
	var b strings.Builder
	for _, list := range [][]Row{rows, contributions} {
		for _, r := range list {
			if r.Sealed {
				return ""
			}
			id := r.contentID
			switch { // the texts of these recipes contain the key itself
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

// renames sets the fields Gone and Renamed. The new name of a key is a new key that takes its value from the old key,
// or has the same values under the same conditions.
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

// mostSimilar returns the name that has the most in common with key at its beginning and end, or "" if names is empty.
func mostSimilar(key string, names []string) (best string) {
	most := -1
	for _, name := range slices.Sorted(slices.Values(names)) {
		if n := commonLength(key, name); n > most {
			best, most = name, n
		}
	}
	return best
}

// commonLength returns the length of the common prefix plus that of the common suffix.
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
