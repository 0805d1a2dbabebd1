package diag

import (
	"strconv"
	"strings"
)

// DidYouMean returns a hint that suggests the element of words most similar to word. If none is similar enough, it
// returns "".
func DidYouMean(word string, words []string) string { return Correct(word, words).Hint() }

// maxCompared limits the total number of names that a List compares, so that hints take little of a build's time.
const maxCompared = 1 << 20

// Misspelt is like the function Misspelt, but returns "" once the list has compared too many names.
func (l *List) Misspelt(word string, words []string) string {
	if !l.mayCompare(word, words) {
		return ""
	}
	return Misspelt(word, words)
}

// mayCompare reports whether the list may still search words for a hint. It counts the comparisons that the search
// makes.
func (l *List) mayCompare(word string, words []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := maxCompared - l.compared
	l.compared += len(words) * (1 + len(word)/16)
	return left > 0
}

// maxWord is the maximum length in bytes of a word to compare, because the time grows with the square of the length.
const maxWord = 200

// nearest returns the candidate with the fewest edits from word, or a candidate that begins with word. other is another
// candidate that is as good, or "". nearest returns "" if no candidate is similar enough for a typo.
func nearest(word string, candidates []string) (best, other string) {
	if len(word) > maxWord {
		return "", ""
	}
	limit := max(1, len(word)/3)
	for _, c := range candidates {
		switch d := distance(word, c, limit); {
		case d == 0 || d > limit || d >= len(word) || c == best:
		case best == "" || d < limit || d == limit && hasSameLetters(c, word) && !hasSameLetters(best, word):
			best, other, limit = c, "", d
		case !hasSameLetters(best, word):
			other = c
		}
	}
	if best != "" || len(word) <= 2 {
		return best, other
	}
	for _, c := range candidates {
		switch {
		case c == word || c == best || !strings.HasPrefix(c, word):
		case best == "":
			best = c
		default:
			other = c
		}
	}
	return best, other
}

// hasSameLetters reports whether a and b differ only in case and in separators, like data_dir and datadir.
func hasSameLetters(a, b string) bool {
	letters := strings.NewReplacer("_", "", "-", "")
	return strings.EqualFold(letters.Replace(a), letters.Replace(b))
}

// shortest is the minimum length of a name for Misspelt. Shorter names resemble too many others.
const shortest = 4

// Misspelt returns the element of words that differs from word by one character or by two swapped neighbours. If words
// contains word itself, or if word is short or has a digit, it returns "". Elements with digits do not count. Misspelt
// is for warnings, which must be more certain than hints.
func Misspelt(word string, words []string) string {
	near, _ := misspelt(word, words)
	return near
}

// misspelt is like Misspelt, but also returns another such element, or "".
func misspelt(word string, words []string) (near, other string) {
	for _, k := range words {
		switch {
		case k == word || len(word) < shortest:
			return "", ""
		case k != near && isNear(word, k) && !strings.ContainsAny(k+word, "0123456789"):
			near, other = k, near
		}
	}
	return near, other
}

// IsNear reports whether two names differ by one character or by two swapped neighbours. Names with digits are never
// near.
func IsNear(a, b string) bool {
	return a != b && isNear(a, b) && !strings.ContainsAny(a+b, "0123456789")
}

func isNear(a, b string) bool {
	if abs(len(a)-len(b)) > 1 {
		return false
	}
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || max(len(a), len(b)) == 1
}

// Unknown returns an error for a name that is not in allowed. In the message, kind says what the name is, and found
// quotes it. If the source is sensitive, the message only shows a typo of an allowed name, because any other name may
// be a wrongly indented part of a secret.
func Unknown(at Pos, code Code, kind, name, found string, allowed []string) Diagnostic {
	fix := Correct(name, allowed)
	unknown := "unknown " + kind + ": "
	d := Diagnostic{Pos: at, Code: code, Message: unknown + strings.TrimPrefix(found, "the string "),
		Hint: fix.Hint(), Fix: fix}
	d.Discreet = d.Message
	if d.Hint == "" {
		expected := "; expected " + quoted(allowed, maxExpected, "or")
		d.Message += expected
		d.Discreet = unknown + "it may be sensitive and is not shown" + expected
	}
	return d
}

// synonyms maps names in other tools, and other likely guesses, to the names in this language.
var synonyms = map[string]string{
	"value": "to", "values": "to", "val": "to", "default": "to", "key": "name", "if": "when",
	"condition": "when", "bindings": "bind", "hierarchy": "categories", "category": "categories",
	"lookup": "to_lookup_of", "alias": "to_alias_of", "expression": "to_expression",
	"multibind": "multibind_id", "lookup_type": "type", "includes": "include",
	"confdir-hiera5": "hiera", "module-hiera-5": "module-hiera5", "uris": "include", "uri": "include",
	"array": "unique", "native": "hash", "priority": "first", "hash_merge": "hash",
	"deeper": "deep", "deep_merge": "deep", "deep merge": "deep", "deep-merge": "deep",
}

// distance returns the edit distance of a and b. A swap of neighbours counts as one edit. If the distance exceeds
// limit, it returns limit+1.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) > limit {
		return limit + 1
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		// Cells further than limit from the diagonal have a larger distance anyway.
		from, to := max(1, i-limit), min(len(b), i+limit)
		if from > 1 {
			cur[from-1] = limit + 1
		}
		for j := from; j <= to; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		if to < len(b) {
			cur[to+1] = limit + 1
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], limit+1)
}

func abs(n int) int { return max(n, -n) }

// maxQuoted limits the number of names in a message.
const maxQuoted = 200

// maxWithHint limits the number of names in a message whose hint already suggests one.
const maxWithHint = 8

// maxExpected limits the number of expected names in a message about an unknown name.
const maxExpected = 12

// Quoted formats names for a message: 'a', 'b' and 'c'.
func Quoted(names []string) string { return quoted(names, maxQuoted, "and") }

// AnyOf formats alternative names for a message: 'a', 'b' or 'c'.
func AnyOf(names []string) string { return quoted(names, maxQuoted, "or") }

// QuotedFor is like Quoted, but formats fewer names if hint is not "".
func QuotedFor(hint string, names []string) string {
	if hint != "" {
		return quoted(names, maxWithHint, "and")
	}
	return Quoted(names)
}

// quoted formats up to most names, and joins the last two with the word last. If there are more names, it adds how
// many.
func quoted(names []string, most int, last string) string {
	if more := len(names) - most; more > 0 {
		return "'" + strings.Join(names[:most], "', '") + "' and " + strconv.Itoa(more) + " more"
	}
	out := ""
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			out += " " + last + " "
		default:
			out += ", "
		}
		out += "'" + n + "'"
	}
	return out
}
