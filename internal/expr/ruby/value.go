package ruby

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

// Puppet's functions hand much to Ruby's own methods. This file holds what those do with values.

// numeric is a number in text: sign, hexadecimal, whole part, rest.
var numeric = pattern.Lazy(`^[ \t]*([-+]?)[ \t]*(?:(0[xX][0-9A-Fa-f]+)|(\d+)((?:\.\d+)?(?:[eE]-?\d+)?))[ \t]*$`)

// toNumber is v as a number, also where it is text that is one.
func Number(v value.Value) (value.Value, bool) {
	switch v.Kind() {
	case value.Int, value.Float:
		return v, true
	case value.String:
		return ParseNumber(v.Text())
	}
	return v, false
}

func ParseNumber(s string) (value.Value, bool) {
	m := numeric().FindStringSubmatch(strings.TrimPrefix(s, "::"))
	if m == nil {
		return value.Value{}, false
	}
	sign, hex, whole, rest := m[1], m[2], m[3], m[4]
	if sign == "+" {
		sign = ""
	}
	switch {
	case hex != "":
		return ParseInt(sign+hex[2:], 16)
	case rest != "":
		return parseFloat(sign, whole, rest)
	case len(whole) > 1 && whole[0] == '0':
		return ParseInt(sign+whole, 8)
	}
	return ParseInt(sign+whole, 10)
}

func ParseInt(digits string, base int) (value.Value, bool) {
	n, err := strconv.ParseInt(digits, base, 64)
	return value.FromInt(n), err == nil
}

// parseFloat refuses 0e1, as Puppet does.
func parseFloat(sign, whole, rest string) (value.Value, bool) {
	zero := strings.Trim(whole, "0") == ""
	if zero && strings.ContainsAny(rest, "eE") && strings.Trim(rest[:strings.IndexAny(rest, "eE")], ".0") == "" {
		return value.Value{}, false
	}
	f, err := strconv.ParseFloat(sign+whole+rest, 64)
	return value.FromFloat(f), err == nil
}

// same is Ruby's ==: 1 is 1.0, and case counts.
func Equal(a, b value.Value) bool {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case IsNumeric(ka) && IsNumeric(kb):
		c, ok := CompareNumbers(a, b)
		return ok && c == 0
	case ka != kb || ka != value.Array && ka != value.Hash:
		return value.Identical(a, b)
	case a.Len() != b.Len():
		return false
	case ka == value.Hash:
		for k, e := range a.Pairs() {
			if f, ok := b.Get(k); !ok || !Equal(e, f) {
				return false
			}
		}
		return true
	}
	right, i := b.Slice(), 0
	for e := range a.Elems() {
		if !Equal(e, right[i]) {
			return false
		}
		i++
	}
	return true
}

// indexOf is where v is in elems, by Ruby's ==, or -1.
func IndexOf(elems []value.Value, v value.Value) int {
	for i, e := range elems {
		if Equal(e, v) {
			return i
		}
	}
	return -1
}

// Order is Ruby's <=>; ok is false where values cannot be ordered.
func Order(a, b value.Value) (c int, ok bool) {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case IsNumeric(ka) && IsNumeric(kb):
		return CompareNumbers(a, b)
	case ka != kb:
		return 0, false
	case ka == value.String:
		return strings.Compare(a.Text(), b.Text()), true
	case ka == value.Array:
		return arrayOrder(a.Slice(), b.Slice())
	}
	return 0, Equal(a, b)
}

func arrayOrder(a, b []value.Value) (int, bool) {
	for i := range min(len(a), len(b)) {
		if c, ok := Order(a[i], b[i]); c != 0 || !ok {
			return c, ok
		}
	}
	return len(a) - len(b), true
}

// flatten spreads arrays in list, depth levels of them; all if it is negative.
func Flatten(list []value.Value, depth int) []value.Value {
	var out []value.Value
	for _, v := range list {
		if v.Kind() == value.Array && depth != 0 {
			out = append(out, Flatten(v.Slice(), depth-1)...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// toS is Ruby's to_s.
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

// redacted is the text of what is sensitive.
const redacted = "Sensitive [value redacted]"

// Inspect is Ruby's inspect: strings in double quotes, undef as nil.
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

// isPrinted tells whether Ruby shows r as it is: also blanks of all kinds, what only formats, and private characters.
func isPrinted(r rune) bool {
	return unicode.IsPrint(r) || unicode.In(r, unicode.Zs, unicode.Cf, unicode.Co) || r == 0x85
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// downcase, upcase and capitalize know all of Unicode, without the rules of any one language.
func Downcase(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und, cases.HandleFinalSigma(false)).String(s)
}

func Upcase(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

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

func IsNumeric(k value.Kind) bool { return k == value.Int || k == value.Float }

// compareNumbers compares exactly, also integers that no float holds.
func CompareNumbers(a, b value.Value) (int, bool) {
	switch {
	case a.Kind() == value.Int && b.Kind() == value.Int:
		return CompareInts(a.Int(), b.Int()), true
	case a.Kind() == value.Float && b.Kind() == value.Float:
		return CompareFloats(a.Float(), b.Float()), !math.IsNaN(a.Float()) && !math.IsNaN(b.Float())
	case a.Kind() == value.Float:
		c, ok := CompareNumbers(b, a)
		return -c, ok
	}
	f := b.Float()
	switch {
	case f >= 1<<63:
		return -1, true
	case f < -1<<63:
		return 1, true
	}
	if c := CompareInts(a.Int(), int64(f)); c != 0 { // int64 drops the fraction
		return c, !math.IsNaN(f)
	}
	return CompareFloats(math.Trunc(f), f), !math.IsNaN(f)
}

func CompareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func CompareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func Float(v value.Value) float64 {
	if v.Kind() == value.Int {
		return float64(v.Int())
	}
	return v.Float()
}

func Magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// entries are the pairs of a Hash as arrays of two.
func Pairs(h value.Value) []value.Value {
	out := make([]value.Value, 0, h.Len())
	for k, e := range h.Pairs() {
		out = append(out, value.FromSlice([]value.Value{k, e}))
	}
	return out
}

func Keys(h value.Value) []value.Value {
	out := make([]value.Value, 0, h.Len())
	for k := range h.Pairs() {
		out = append(out, k)
	}
	return out
}

// fromEnd is element i, counted from the end where it is negative.
func At(v value.Value, i int64) value.Value {
	if i < 0 {
		i += int64(v.Len())
	}
	if i < 0 || i >= int64(v.Len()) {
		return value.Value{}
	}
	return v.Index(int(i))
}
