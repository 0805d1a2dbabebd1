package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendText appends v as a string interpolates it: undef is empty, and strings have no quotes, not even inside
// collections.
func AppendText(dst []byte, v Value) []byte {
	switch v.Kind() {
	case Undef:
		return dst
	case Default:
		return append(dst, "default"...)
	case Bool:
		return strconv.AppendBool(dst, v.num == 1)
	case Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case Float:
		return AppendFloat(dst, v.Float())
	case String:
		return append(dst, v.str...)
	case Regexp:
		return append(dst, Slashed(v.str)...)
	case Array:
		return appendArrayText(dst, v)
	case Hash:
		return appendHashText(dst, v)
	}
	return append(dst, typeText(v)...)
}

func appendArrayText(dst []byte, v Value) []byte {
	dst = append(dst, '[')
	first := true
	for e := range v.Elems() {
		if !first {
			dst = append(dst, ", "...)
		}
		dst, first = AppendText(dst, e), false
	}
	return append(dst, ']')
}

func appendHashText(dst []byte, v Value) []byte {
	dst = append(dst, '{')
	first := true
	for k, e := range v.Pairs() {
		if !first {
			dst = append(dst, ", "...)
		}
		dst = append(AppendText(dst, k), " => "...)
		dst, first = AppendText(dst, e), false
	}
	return append(dst, '}')
}

// AppendFloat appends f as Ruby prints it: 1.0, 1.5e-07, 1.0e+20.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 0):
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	}
	if a := math.Abs(f); a == 0 || a >= 1e-4 && (a < 1e15 || a < 1e16 && a != math.Trunc(a)) {
		at := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
		if !strings.Contains(string(dst[at:]), ".") {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	return append(append(append(dst, mantissa...), 'e'), exponent...)
}

// Slashed returns the regular expression literal /src/ of the Puppet language.
func Slashed(src string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; i < len(src); i++ {
		switch {
		case src[i] == '\\' && i+1 < len(src):
			b.WriteString(src[i : i+2])
			i++
		case src[i] == '/':
			b.WriteString(`\/`)
		default:
			b.WriteByte(src[i])
		}
	}
	b.WriteByte('/')
	return b.String()
}

// Quote returns a literal of the Puppet language for the string s. It has single quotes, or double quotes if s contains
// control characters.
func Quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return DoubleQuote(s)
	}
	b := append(make([]byte, 0, len(s)+2), '\'')
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' || s[i] == '\\' && (i+1 == len(s) || s[i+1] == '\'' || s[i+1] == '\\') {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return string(append(b, '\''))
}

// PuppetQuote quotes s as Puppet's String.new does. In single quotes, Puppet does not double backslashes, so the result
// may not parse as s.
func PuppetQuote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return DoubleQuote(s)
	}
	b := append(make([]byte, 0, len(s)+2), '\'')
	escaped := false
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' && !escaped {
			b = append(b, '\\')
		}
		escaped = s[i] == '\\' && !escaped
		b = append(b, s[i])
	}
	return string(append(b, '\''))
}

// DoubleQuote returns a double-quoted literal of the Puppet language for the string s.
func DoubleQuote(s string) string {
	b := append(make([]byte, 0, len(s)+2), '"')
	for _, r := range s {
		switch r {
		case '\t':
			b = append(b, `\t`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '"', '$', '\\':
			b = append(b, '\\', byte(r))
		default:
			if r < ' ' {
				b = fmt.Appendf(b, `\u{%X}`, r)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
	}
	return string(append(b, '"'))
}
