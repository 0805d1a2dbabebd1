package yaml

import (
	"math"
	"strconv"
	"strings"

	"bindc/internal/value"
)

// This file determines the values of plain scalars, like Psych's scalar_scanner.rb. It is written by hand for speed,
// because it runs on every scalar of a site. Where several tests match, their order is Psych's.

// fault is the reason why a plain scalar has no value.
type fault uint8

const (
	noFault fault = iota
	isDate
	tooLarge
)

// resolve returns the value of a plain scalar, like Psych.
func resolve(text string) (value.Value, fault) {
	if text == "" {
		return value.Value{}, noFault
	}
	switch c := text[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return resolveNumber(text)
	case len(text) <= len("false"):
		return resolveWord(text), noFault
	}
	return value.FromString(text), noFault
}

// resolveWord resolves null and the booleans, in any case. As in Psych, y and n are strings.
func resolveWord(text string) value.Value {
	switch text[0] {
	case '~':
		if text == "~" {
			return value.Value{}
		}
	case 'n', 'N':
		if strings.EqualFold(text, "null") {
			return value.Value{}
		}
		if strings.EqualFold(text, "no") {
			return value.FromBool(false)
		}
	case 't', 'T', 'y', 'Y':
		if strings.EqualFold(text, "true") || strings.EqualFold(text, "yes") {
			return value.FromBool(true)
		}
	case 'f', 'F':
		if strings.EqualFold(text, "false") {
			return value.FromBool(false)
		}
	case 'o', 'O':
		if strings.EqualFold(text, "on") {
			return value.FromBool(true)
		}
		if strings.EqualFold(text, "off") {
			return value.FromBool(false)
		}
	}
	return value.FromString(text)
}

// resolveNumber resolves a scalar that begins with a digit, a sign or a point. A scalar that is not a number is a
// string.
func resolveNumber(text string) (value.Value, fault) {
	if isDateOrTime(text) {
		return value.Value{}, isDate
	}
	if v, ok := resolveSpecial(text); ok {
		return v, noFault
	}
	sign, digits := splitSign(text)
	if strings.IndexByte(digits, ':') > 0 {
		return resolveSexagesimal(text, sign, digits)
	}
	if strings.IndexByte(digits, '.') >= 0 {
		return resolveFloat(text, sign, digits), noFault
	}
	return resolveInteger(text, sign, digits)
}

// splitSign splits the sign off a number. sign is "-", or "" for plus.
func splitSign(text string) (sign, rest string) {
	switch text[0] {
	case '-':
		return "-", text[1:]
	case '+':
		return "", text[1:]
	}
	return "", text
}

func resolveSpecial(text string) (value.Value, bool) {
	if len(text) > len("+.inf") {
		return value.Value{}, false
	}
	switch {
	case strings.EqualFold(text, ".inf"), strings.EqualFold(text, "+.inf"):
		return value.FromFloat(math.Inf(1)), true
	case strings.EqualFold(text, "-.inf"):
		return value.FromFloat(math.Inf(-1)), true
	case strings.EqualFold(text, ".nan"):
		return value.FromFloat(math.NaN()), true
	}
	return value.Value{}, false
}

// resolveInteger resolves binary, octal, decimal and hexadecimal integers. A decimal integer may have single
// underscores and commas between digits. Other integers may have any number of them after the prefix.
func resolveInteger(text, sign, digits string) (value.Value, fault) {
	base := integerBase(digits)
	if base == 0 {
		return value.FromString(text), noFault
	}
	if base == 2 || base == 16 {
		digits = digits[2:]
	}
	digits = withoutGroups(digits)
	if digits == "" { // such as 0x_, which is an error in Psych
		return value.FromString(text), noFault
	}
	n, err := strconv.ParseInt(sign+digits, base, 64)
	if err != nil {
		return value.Value{}, tooLarge
	}
	return value.FromInt(n), noFault
}

// integerBase returns the base of the integer in digits, or 0 if it is not an integer.
func integerBase(digits string) int {
	if digits == "" {
		return 0
	}
	if digits[0] != '0' {
		if isGrouped(digits) {
			return 10
		}
		return 0
	}
	switch rest := digits[1:]; {
	case rest == "":
		return 10
	case rest[0] == 'b' && consistsOf(rest[1:], "01_,"):
		return 2
	case rest[0] == 'x' && consistsOf(rest[1:], "0123456789abcdefABCDEF_,"):
		return 16
	case consistsOf(rest, "01234567_,"):
		return 8
	}
	return 0
}

// isGrouped reports whether s consists of digits with single underscores or commas between them.
func isGrouped(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
		case (c == '_' || c == ',') && i > 0 && isDigit(s[i-1]) && i+1 < len(s):
		default:
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// consistsOf reports whether s is not empty and contains only bytes in set.
func consistsOf(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

func withoutGroups(s string) string {
	if strings.IndexByte(s, '_') < 0 && strings.IndexByte(s, ',') < 0 {
		return s
	}
	return strings.NewReplacer("_", "", ",", "").Replace(s)
}

// resolveFloat resolves floats with a point. An exponent must have a sign: 1.5e3 is a string.
func resolveFloat(text, sign, digits string) value.Value {
	whole, frac, _ := strings.Cut(digits, ".")
	frac, exponent, ok := cutExponent(frac)
	if !ok || !isWhole(whole) || frac != "" && !consistsOf(frac, "0123456789") || whole == "" && frac == "" {
		return value.FromString(text)
	}
	f, err := strconv.ParseFloat(sign+withoutGroups(whole)+"."+frac+exponent, 64)
	if err != nil && !math.IsInf(f, 0) {
		return value.FromString(text)
	}
	return value.FromFloat(f)
}

// isWhole reports whether s may precede the point: it is empty, or begins with a digit, followed by digits, underscores
// and commas.
func isWhole(s string) bool {
	return s == "" || isDigit(s[0]) && consistsOf(s, "0123456789_,")
}

// cutExponent splits the exponent off frac, the digits after the point. It returns false if the exponent is
// malformed.
func cutExponent(frac string) (rest, exponent string, ok bool) {
	i := strings.IndexAny(frac, "eE")
	if i < 0 {
		return frac, "", true
	}
	rest, exponent = frac[:i], frac[i:]
	ok = len(exponent) > 2 && (exponent[1] == '+' || exponent[1] == '-') && consistsOf(exponent[2:], "0123456789")
	return rest, exponent, ok
}

// resolveSexagesimal resolves numbers in base 60, such as 12:30:00, to a number of seconds. The seconds are optional.
// If the last part has a point, the result is a float.
func resolveSexagesimal(text, sign, digits string) (value.Value, fault) {
	parts := strings.Split(digits, ":")
	last := parts[len(parts)-1]
	lastWhole, frac, isFloat := strings.Cut(last, ".")
	if len(parts) > 3 || !isDigit(digits[0]) || !consistsOf(parts[0], "0123456789_") ||
		!isBase60Digit(lastWhole) || len(parts) == 3 && !isBase60Digit(parts[1]) ||
		frac != "" && !consistsOf(frac, "0123456789_") {
		return value.FromString(text), noFault
	}
	if isFloat {
		return value.FromFloat(sexagesimalFloat(sign, parts)), noFault
	}
	return sexagesimalInt(sign, parts)
}

// isBase60Digit reports whether s is a number from 0 to 59 with one or two digits.
func isBase60Digit(s string) bool {
	return len(s) == 1 && isDigit(s[0]) || len(s) == 2 && s[0] >= '0' && s[0] <= '5' && isDigit(s[1])
}

var unitSeconds = [3]int64{3600, 60, 1}

// sexagesimalInt returns the number of seconds in parts, which are hours, minutes and seconds. As in Psych, the sign
// only applies to the first part.
func sexagesimalInt(sign string, parts []string) (value.Value, fault) {
	var sum int64
	for i, part := range parts {
		n, err := strconv.ParseInt(sign+leadingDigits(part), 10, 64)
		if err != nil || n > math.MaxInt64/unitSeconds[i]-3600 || n < math.MinInt64/unitSeconds[i]+3600 {
			return value.Value{}, tooLarge
		}
		sum += n * unitSeconds[i]
		sign = ""
	}
	return value.FromInt(sum), noFault
}

// sexagesimalFloat is like sexagesimalInt, but the last part may have a point.
func sexagesimalFloat(sign string, parts []string) float64 {
	var sum float64
	for i, part := range parts {
		whole, frac, _ := strings.Cut(part, ".")
		number := sign + leadingDigits(whole)
		if frac != "" && isDigit(frac[0]) && whole[len(whole)-1] != '_' {
			number += "." + leadingDigits(frac)
		}
		f, _ := strconv.ParseFloat(number, 64)      // only digits; after a range error, f is the right infinity
		sum += float64(f * float64(unitSeconds[i])) // rounded before the addition, also on arm64
		sign = ""
	}
	return sum
}

// leadingDigits returns the number at the start of s without single underscores, like Ruby's to_i and to_f.
func leadingDigits(s string) string {
	if strings.IndexByte(s, '_') < 0 {
		return s
	}
	if i := strings.Index(s, "__"); i >= 0 {
		s = s[:i]
	}
	return strings.ReplaceAll(s, "_", "")
}

// isDateOrTime reports whether Psych reads text as a date or a time.
func isDateOrTime(text string) bool {
	if len(text) < len("2001-1-1") || text[4] != '-' && text[0] != '-' {
		return false
	}
	p := textMatcher{rest: strings.TrimPrefix(text, "-")}
	if !p.digits(4, 4) || !p.char("-") {
		return false
	}
	month := p.rest
	if !p.digits(1, 2) || !p.char("-") {
		return false
	}
	day := p.rest
	if !p.digits(1, 2) {
		return false
	}
	if p.rest == "" {
		return text[0] != '-' && isMonth(month[:len(month)-len(day)-1]) && isDay(day)
	}
	return p.clock()
}

func isMonth(s string) bool { return len(s) == 1 || s[0] == '0' || s >= "10" && s <= "12" }

func isDay(s string) bool { return len(s) == 1 || s <= "31" }

// textMatcher matches a string from left to right. rest is the text that is not matched yet.
type textMatcher struct{ rest string }

// digits skips at least low and at most high digits. It returns false if there are fewer than low.
func (p *textMatcher) digits(low, high int) bool {
	n := 0
	for n < high && n < len(p.rest) && isDigit(p.rest[n]) {
		n++
	}
	if n < low {
		return false
	}
	p.rest = p.rest[n:]
	return true
}

// char skips the next byte if it is in set, and reports whether it did.
func (p *textMatcher) char(set string) bool {
	if p.rest == "" || strings.IndexByte(set, p.rest[0]) < 0 {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *textMatcher) blanks() bool {
	before := len(p.rest)
	p.rest = strings.TrimLeft(p.rest, " \t")
	return len(p.rest) < before
}

// clock reports whether the rest is a time of day with an optional zone.
func (p *textMatcher) clock() bool {
	if !p.char("Tt") && !p.blanks() {
		return false
	}
	if !p.digits(1, 2) || !p.char(":") || !p.digits(2, 2) || !p.char(":") || !p.digits(2, 2) {
		return false
	}
	if p.char(".") {
		p.rest = strings.TrimLeft(p.rest, "0123456789")
	}
	if p.rest == "" {
		return true
	}
	p.blanks()
	return p.zone()
}

// zone reports whether the rest is a time zone.
func (p *textMatcher) zone() bool {
	if p.char("Z") {
		return p.rest == ""
	}
	if !p.char("+-") || !p.digits(1, 2) {
		return false
	}
	p.char(":")
	return p.rest == "" || p.digits(2, 2) && p.rest == ""
}
