package lint

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/loader"
)

// NearKeys returns the number of keys in site that near_key reports. It reads files only if there may be such keys.
func NearKeys(site *loader.Site, opts Options) int {
	opts.Codes = []diag.Code{"near_key"}
	var found diag.List
	l := &linter{site: site, opts: opts, diags: &found, ignored: map[commentedLine]bool{}, paths: pathsOf(site)}
	if l.checkNearKeys(); len(found.Sorted()) == 0 {
		return 0
	}
	found = diag.List{}
	Check(site, nil, opts, &found)
	return len(found.Sorted())
}

// boundKey counts the places that bind a key, and records the first place.
type boundKey struct {
	at          diag.Pos
	places      int
	isParameter bool // a class has a parameter with this key
	byOwner     bool // the module whose name the key begins with binds it
}

// isTrusted reports whether k is the correct one of two similar keys. A parameter's key is correct, because Puppet
// looks it up. So is a key that the module itself binds. Otherwise, the key with more places counts as correct, because
// a typo is rarely repeated. On a tie, the earlier key does.
func (k *boundKey) isTrusted(other *boundKey) bool {
	if k.isParameter != other.isParameter {
		return k.isParameter
	}
	if k.byOwner != other.byOwner {
		return k.byOwner
	}
	return k.places > other.places || k.places == other.places && k.at.Compare(other.at) < 0
}

// checkNearKeys reports keys that are probably typos of another key. Of two similar keys, it reports the key that
// isTrusted does not consider correct. If lookups are known, unused_key replaces this check.
func (l *linter) checkNearKeys() {
	if !l.wants("near_key") || l.opts.Lookups != nil && l.wants("unused_key") {
		return
	}
	keys := l.boundKeys()
	near := nearWords(keys)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		own := keys[key]
		twin := withDoubleColons(key, keys)
		for from, to := range words(key) {
			for _, other := range near[key[from:to]] {
				k := key[:from] + other + key[to:]
				if b := keys[k]; b != nil && twin == "" && l.judged(k, b).isTrusted(l.judged(key, own)) {
					twin = k
				}
			}
		}
		if twin == "" || l.isOfClass(twin) || l.opts.Lookups != nil && l.opts.Lookups.Includes(key) {
			continue
		}
		l.add(diag.Diagnostic{Pos: own.at, Code: "near_key",
			Message: "'" + key + "' looks like a typo for '" + twin + "'",
			Notes:   []diag.Note{{Pos: keys[twin].at, Message: "this key is '" + twin + "'"}},
			Fix:     diag.MeantAs(key, twin)})
	}
}

// isOfClass reports whether key is the key of a class parameter. Another check reports typos of such keys.
func (l *linter) isOfClass(key string) bool {
	return l.isComposed && l.judged(key, &boundKey{}).isParameter
}

// judged returns b, which holds the bindings of key, after setting b.isParameter.
func (l *linter) judged(key string, b *boundKey) *boundKey {
	b.isParameter = l.opts.IsParameter != nil && l.opts.IsParameter(key)
	return b
}

// withDoubleColons replaces each run of colons in a key by '::', as in 'app::port' for 'app:port'. It returns "" if the
// result is not a bound key.
func withDoubleColons(key string, keys map[string]*boundKey) string {
	parts := strings.FieldsFunc(key, func(r rune) bool { return r == ':' })
	if twin := strings.Join(parts, "::"); twin != key && keys[twin] != nil {
		return twin
	}
	return ""
}

func (l *linter) boundKeys() map[string]*boundKey {
	byID := make([]boundKey, len(l.site.Keys))
	for b := range l.bindings {
		k := &byID[b.id]
		if k.places++; k.places == 1 || b.at.Compare(k.at) < 0 {
			k.at = b.at
		}
		if prefix, _, ok := strings.Cut(b.key, "::"); ok && !k.byOwner {
			k.byOwner = l.module(b.at.File) == prefix
		}
	}
	keys := map[string]*boundKey{}
	for id := range byID {
		if key := l.site.Keys[id]; byID[id].places > 0 && !recipe.IsReserved(key) {
			keys[key] = &byID[id]
		}
	}
	return keys
}

// words yields the start and the end of each word in a key, if the word is long enough to check for typos.
func words(key string) func(func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		from := 0
		for i, r := range key + " " {
			if unicode.IsLetter(r) {
				continue
			}
			if i-from >= minWord && !yield(from, i) {
				return
			}
			from = i + len(string(r))
		}
	}
}

// minWord is the length of the shortest word that is checked for typos.
const minWord = 5

// maxNear limits a group of words that become equal if one letter is removed. A larger group is a series of names.
const maxNear = 8

// nearWords maps each word in the keys to the words that it may be a typo of. A word may be a typo of another if they
// differ in one letter, or by a swap of two letters: such words become equal if one letter is removed from each.
func nearWords(keys map[string]*boundKey) map[string][]string {
	without := map[string][]string{}
	known := map[string]bool{}
	for key := range keys {
		for from, to := range words(key) {
			word := key[from:to]
			if known[word] || len(word) > maxNearWord {
				continue
			}
			known[word] = true
			without[word] = append(without[word], word)
			for i := 1; i < len(word)-1; i++ {
				if word[i] != word[i-1] {
					rest := word[:i] + word[i+1:]
					without[rest] = append(without[rest], word)
				}
			}
		}
	}
	near := map[string][]string{}
	for _, list := range without {
		if len(list) > maxNear {
			continue
		}
		for _, a := range list {
			for _, b := range list {
				if isTypoOf(a, b) && !slices.Contains(near[a], b) {
					near[a] = append(near[a], b)
				}
			}
		}
	}
	for _, list := range near {
		slices.Sort(list)
	}
	return near
}

// maxNearWord is the length of the longest word that is checked for typos.
const maxNearWord = 64
