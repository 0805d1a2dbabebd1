package ruby

import (
	"fmt"
	"strings"
	"unicode"

	"bindc/internal/value"
)

// ToS converts v to text like Ruby's to_s.
func ToS(v value.Value) string {
	if v.IsSensitive() {
		return redacted
	}
	switch v.Kind() {
	case value.Array, value.Hash:
		return Inspect(v)
	case value.Regexp:
		return "(?-mix:" + v.Text() + ")"
	}
	return string(value.AppendText(nil, v))
}

// redacted replaces sensitive values in text.
const redacted = "Sensitive [value redacted]"

// Inspect converts v to text like Ruby's inspect: strings have double quotes, and undef is nil.
func Inspect(v value.Value) string {
	if v.IsSensitive() {
		return "#<" + redacted + ">"
	}
	switch v.Kind() {
	case value.Undef:
		return "nil"
	case value.Default:
		return ":default"
	case value.String:
		return inspectText(v.Text())
	case value.Array:
		parts := make([]string, 0, v.Len())
		for e := range v.Elems() {
			parts = append(parts, Inspect(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case value.Hash:
		parts := make([]string, 0, v.Len())
		for k, e := range v.Pairs() {
			parts = append(parts, Inspect(k)+"=>"+Inspect(e))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return string(value.AppendText(nil, v))
}

var inspectEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\t': `\t`, '\r': `\r`, '\f': `\f`, '\v': `\v`,
	'\a': `\a`, '\b': `\b`, 0x1b: `\e`}

func inspectText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case inspectEscapes[r] != "":
			b.WriteString(inspectEscapes[r])
		case r == '#' && i+1 < len(s) && strings.IndexByte("{$@", s[i+1]) >= 0:
			b.WriteString(`\#`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02X`, r)
		case isPrinted(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPrinted reports whether Ruby's inspect prints r without an escape. It does so for all kinds of spaces, and for
// formatting and private characters.
func isPrinted(r rune) bool {
	return unicode.IsPrint(r) || unicode.In(r, unicode.Zs, unicode.Cf, unicode.Co) || r == 0x85
}
