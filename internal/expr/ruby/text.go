package ruby

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Downcase works like Ruby's downcase. Like Upcase and Capitalize, it follows Unicode without
// language-specific rules.
func Downcase(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return convert(s, func(r rune) string {
		if r == 'İ' {
			return "i̇" // with a second dot, which the standard library omits
		}
		return string(unicode.ToLower(r))
	})
}

// Upcase works like Ruby's upcase.
func Upcase(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return convert(s, func(r rune) string {
		if i, ok := findSpecial(r); ok {
			return special[i].upper
		}
		return string(unicode.ToUpper(r))
	})
}

// Capitalize works like Ruby's capitalize: the first letter in upper case, the others in lower
// case.
func Capitalize(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	first := convert(s[:size], func(r rune) string {
		if i, ok := findSpecial(r); ok {
			return special[i].title
		}
		return string(unicode.ToTitle(r))
	})
	return first + Downcase(s[size:])
}

func findSpecial(r rune) (int, bool) {
	i := sort.Search(len(special), func(i int) bool { return special[i].lower >= r })
	return i, i < len(special) && special[i].lower == r
}

// convert replaces each character of s. Bytes that are not UTF-8 are kept.
func convert(s string, with func(rune) string) string {
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError {
			out.WriteString(s[:size])
		} else {
			out.WriteString(with(r))
		}
		s = s[size:]
	}
	return out.String()
}
