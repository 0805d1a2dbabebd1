package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text in a form that is safe for a terminal. It replaces characters that move the cursor, change
// colors or reorder text with escapes such as \x1b or \u202e.
func Visible(text string) string {
	if !strings.ContainsFunc(text, hazardous) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && strings.HasPrefix(text[i:], string(utf8.RuneError)):
			b.WriteRune(r)
		case r == utf8.RuneError, r < 0x80 && hazardous(r):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case hazardous(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hazardous reports whether r is a control character or a line separator, changes the direction of text, or may be an
// invalid byte.
func hazardous(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r) ||
		r == '\u2028' || r == '\u2029'
}
