package decision

import (
	"fmt"
	"slices"
	"strings"
)

// keyTables are the rows of a key in two snapshots, with what is contributed to them.
type keyTables struct {
	old, now                           []Row
	oldContributions, nowContributions []Row
}

// gone reports whether a key that was bound answers nobody any more.
func (t *keyTables) gone() bool { return isBound(t.old) && !isBound(t.now) }

// isNew reports whether a key answers that answered nobody before.
func (t *keyTables) isNew() bool { return !isBound(t.old) && isBound(t.now) }

// isBound reports whether rows answer some request. A key that has another name now still has rows, below that which
// erases it.
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

// content returns a text that two keys share if the same values are bound to both under the same conditions. It is ""
// if the values are encrypted.
func content(rows, contributions []Row) string {
	var b strings.Builder
	for _, list := range [][]Row{rows, contributions} {
		for _, r := range list {
			if r.Sealed {
				return ""
			}
			id := r.id
			switch { // recipes that name their key
			case r.collects:
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

// renames notes which keys are gone, and the new key that each became: one that takes its value from the old key, or
// that has the same values under the same conditions.
func renames(keys []KeyChanges, of map[string]*keyTables) {
	same, by := map[string][]string{}, map[string]string{}
	for key, t := range of {
		if !t.isNew() {
			continue
		}
		if id := content(t.now, t.nowContributions); id != "" {
			same[id] = append(same[id], key)
		}
		for _, r := range t.now {
			for _, used := range r.uses {
				by[named(used)] = max(by[named(used)], key)
			}
		}
	}
	for i := range keys {
		k := &keys[i]
		t := of[k.Key]
		if k.Gone = t != nil && t.gone(); !k.Gone {
			continue
		}
		if slices.ContainsFunc(t.now, func(r Row) bool { return r.Erased }) {
			k.Renamed = by[k.Key]
		} else if id := content(t.old, t.oldContributions); id != "" {
			k.Renamed = likest(k.Key, same[id])
		}
	}
}

// likest returns the name that shares most of its beginning and its end with key, "" without names.
func likest(key string, names []string) (best string) {
	most := -1
	for _, name := range slices.Sorted(slices.Values(names)) {
		if n := shared(key, name); n > most {
			best, most = name, n
		}
	}
	return best
}

// shared counts the characters at the beginning and at the end that two names have in common.
func shared(a, b string) (n int) {
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
