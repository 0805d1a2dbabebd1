package ruby

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

// numeric matches a number. The groups are its sign, hexadecimal digits, whole part and the rest.
var numeric = pattern.Lazy(`^[ \t]*([-+]?)[ \t]*(?:(0[xX][0-9A-Fa-f]+)|(\d+)((?:\.\d+)?(?:[eE]-?\d+)?))[ \t]*$`)

// Number converts v to a number. It returns false unless v is a number or the text of one.
func Number(v value.Value) (value.Value, bool) {
	switch v.Kind() {
	case value.Int, value.Float:
		return v, true
	case value.String:
		return ParseNumber(v.Text())
	}
	return v, false
}

// ParseNumber parses a number like Puppet: it may be decimal, hexadecimal or octal, or have a fraction or an
// exponent.
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

// ParseInt parses digits as an Integer. It returns false if the number does not fit in 64 bits.
func ParseInt(digits string, base int) (value.Value, bool) {
	n, err := strconv.ParseInt(digits, base, 64)
	return value.FromInt(n), err == nil
}

// parseFloat parses the parts of a float. Like Puppet, it rejects 0e1.
func parseFloat(sign, whole, rest string) (value.Value, bool) {
	zero := strings.Trim(whole, "0") == ""
	if zero && strings.ContainsAny(rest, "eE") && strings.Trim(rest[:strings.IndexAny(rest, "eE")], ".0") == "" {
		return value.Value{}, false
	}
	f, err := strconv.ParseFloat(sign+whole+rest, 64)
	return value.FromFloat(f), err == nil
}

// IsNumeric reports whether values of kind k are numbers.
func IsNumeric(k value.Kind) bool { return k == value.Int || k == value.Float }

// CompareNumbers compares two numbers exactly, even an integer with a float that cannot represent it. ok is false for
// NaN.
func CompareNumbers(a, b value.Value) (int, bool) {
	switch {
	case a.Kind() == value.Int && b.Kind() == value.Int:
		return cmp.Compare(a.Int(), b.Int()), true
	case a.Kind() == value.Float && b.Kind() == value.Float:
		return compareFloats(a.Float(), b.Float()), !math.IsNaN(a.Float()) && !math.IsNaN(b.Float())
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
	if c := cmp.Compare(a.Int(), int64(f)); c != 0 { // a is compared with the whole part of f first
		return c, !math.IsNaN(f)
	}
	return compareFloats(math.Trunc(f), f), !math.IsNaN(f)
}

// compareFloats compares a and b. NaN equals everything.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Float converts a number to a float.
func Float(v value.Value) float64 {
	if v.Kind() == value.Int {
		return float64(v.Int())
	}
	return v.Float()
}

// Magnitude returns the absolute value of n.
func Magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
