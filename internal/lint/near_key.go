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

// NearKeys returns the number of near_key lints. It reads files only if there are candidates,
// because a comment might silence them.
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

// boundKey counts the bindings of a key. at is the position of the first one.
type boundKey struct {
	at          diag.Pos
	places      int
	isParameter bool // whether a class has a parameter with this key
	byOwner     bool // whether the module that the key's prefix names binds it
}

// isTrusted reports whether k rather than other is the correct one of two similar keys. Keys of
// class parameters are correct, since Puppet looks them up. So are keys bound by their own module.
// Otherwise, the key with more bindings is correct, because typos are rarely repeated; if both have
// equally many, it is the earlier one.
func (k *boundKey) isTrusted(other *boundKey) bool {
	if k.isParameter != other.isParameter {
		return k.isParameter
	}
	if k.byOwner != other.byOwner {
		return k.byOwner
	}
	return k.places > other.places || k.places == other.places && k.at.Compare(other.at) < 0
}

// checkNearKeys reports keys that are probably typos of other keys. If all lookups are known,
// unused_key finds such keys more reliably, so checkNearKeys does nothing.
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

// isOfClass reports whether key belongs to a class parameter. Another check reports typos of such
// keys.
func (l *linter) isOfClass(key string) bool {
	return l.isComposed && l.judged(key, &boundKey{}).isParameter
}

// judged sets b.isParameter and returns b. b must describe key.
func (l *linter) judged(key string, b *boundKey) *boundKey {
	b.isParameter = l.opts.IsParameter != nil && l.opts.IsParameter(key)
	return b
}

// withDoubleColons replaces colons in a key by '::', so that app:port becomes app::port. It returns
// "" if the result is not a bound key.
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

// words returns an iterator over the words of a key that are long enough to be checked. It yields
// the start and the end of each word.
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

// minWord is the length in bytes of the shortest word that is checked for typos.
const minWord = 5

// maxNear limits the size of a group of similar words. A larger group is a series of names rather
// than typos.
const maxNear = 8

// nearWords maps each word in keys to the words that it may be a typo of. Two words are similar if
// they become equal when one letter is removed from each. That finds words that differ in one
// letter or by a swap of two letters.
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

// maxNearWord is the length in bytes of the longest word that is checked for typos.
const maxNearWord = 64
