package merge

import (
	"slices"
	"strings"
)

// patternIndex finds the patterns that may match a key without trying all of them. Nearly all patterns begin with text,
// such as '^module::', so a key is compared with few patterns even if a site has one for each key.
type patternIndex struct {
	byPrefix map[string][]int // patterns by the text they begin with, which may be ""
	lengths  []int            // lengths of these texts, ascending
	all      []int
}

// add adds pattern number i, which begins with ^.
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

// candidates returns the patterns that may match key, in order.
func (x *patternIndex) candidates(key string) []int {
	if strings.Contains(key, "\n") { // ^ matches at the beginning of any line
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

// literalPrefix returns a text that every match of the pattern within a line begins with. A longer
// one may exist.
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
	case n > 0 && strings.IndexByte("*+?{", rest[n]) >= 0: // it applies to the last character only
		n--
	}
	return rest[:n]
}

// hasAlternatives reports whether a pattern may have a | outside all groups.
func hasAlternatives(source string) bool {
	depth := 0
	for i := 0; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case '[': // nested brackets are not parsed
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
