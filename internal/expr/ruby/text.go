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

// Downcase converts s to lower case like Ruby. Downcase, Upcase and Capitalize follow Unicode, without the rules for
// individual languages.
func Downcase(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return convert(s, func(r rune) string {
		if r == 'İ' {
			return "i̇" // lower case of İ: the standard library omits the second dot
		}
		return string(unicode.ToLower(r))
	})
}

// Upcase converts s to upper case like Ruby.
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

// Capitalize converts the first letter of s to upper case and all others to lower case, like Ruby.
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

// convert applies with to each character of s. It keeps bytes that are not valid UTF-8.
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
