package ruby

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
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
	return cases.Lower(language.Und, cases.HandleFinalSigma(false)).String(s)
}

// Upcase works like Ruby's upcase.
func Upcase(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

// Capitalize works like Ruby's capitalize: the first letter in upper case, the others in lower
// case.
func Capitalize(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	first := s[:size]
	if isASCII(first) {
		first = strings.ToUpper(first)
	} else {
		first = cases.Title(language.Und, cases.NoLower).String(first)
	}
	return first + Downcase(s[size:])
}
