package merge

import (
	"slices"
	"strings"
)

// patternIndex selects the patterns that may match a key. Nearly all patterns begin with a literal text, such as
// '^module::', so only a few of them may match a given key.
type patternIndex struct {
	byPrefix map[string][]int // patterns by the text they begin with, which may be ""
	lengths  []int            // the lengths of the texts in byPrefix, ascending
	all      []int
}

// add adds the pattern number i. source begins with '^'.
func (x *patternIndex) add(i int, source string) {
	if x.byPrefix == nil {
		x.byPrefix = map[string][]int{}
	}
	prefix := literalPrefix(source)
	if at, found := slices.BinarySearch(x.lengths, len(prefix)); !found {
		x.lengths = slices.Insert(x.lengths, at, len(prefix))
	}
	x.byPrefix[prefix] = append(x.byPrefix[prefix], i)
	x.all = append(x.all, i)
}

// candidates returns the numbers of the patterns that may match key, sorted.
func (x *patternIndex) candidates(key string) []int {
	if strings.Contains(key, "\n") { // ^ also matches after a newline
		return x.all
	}
	var out []int
	for _, n := range x.lengths {
		if n > len(key) {
			break
		}
		found := x.byPrefix[key[:n]]
		if len(out) == 0 {
			out = found
		} else if len(found) > 0 {
			out = slices.Concat(out, found)
			slices.Sort(out)
		}
	}
	return out
}

// literalPrefix returns a literal text with which every match of the pattern begins. A longer one may exist.
func literalPrefix(source string) string {
	rest := strings.TrimPrefix(source, "^")
	n := strings.IndexFunc(rest, func(c rune) bool {
		return c != '_' && c != ':' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
	switch {
	case n < 0:
		return rest
	case hasAlternatives(rest):
		return ""
	case n > 0 && strings.IndexByte("*+?{", rest[n]) >= 0: // the quantifier applies only to the last character
		n--
	}
	return rest[:n]
}

// hasAlternatives reports whether a pattern may have a '|' outside of groups.
func hasAlternatives(source string) bool {
	depth := 0
	for i := 0; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case '[': // a ] of nested brackets ends the class too early, which is safe
			return strings.Contains(source[i:], "|")
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth <= 0 {
				return true
			}
		}
	}
	return false
}
