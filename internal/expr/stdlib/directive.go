package stdlib

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

// directive contains the flags, width and precision of a % directive in a format string.
type directive struct {
	plus, space, minus, zero, alt bool
	width                         int
	precision                     int // -1 if not given
}

func (d *directive) flag(c byte) bool {
	switch c {
	case ' ':
		d.space = true
	case '#':
		d.alt = true
	case '+':
		d.plus = true
	case '-':
		d.minus = true
	case '0':
		d.zero = true
	default:
		return false
	}
	return true
}

func (d directive) format(verb byte, v value.Value) (string, error) {
	switch verb {
	case 's':
		return d.text(ruby.ToS(v)), nil
	case 'p':
		return d.text(ruby.Inspect(v)), nil
	case 'c':
		return d.character(v)
	case 'd', 'i', 'u', 'x', 'X', 'o', 'b', 'B':
		n, err := formatInt(v)
		if err != nil {
			return "", err
		}
		return d.integer(verb, n), nil
	}
	if verb == 'f' && v.Kind() == value.Int {
		return d.wholeFloat(v.Int()), nil
	}
	n, err := formatFloat(v)
	if err != nil {
		return "", err
	}
	return d.float(verb, n), nil
}

func (d directive) pad(s string) string {
	missing := d.width - utf8.RuneCountInString(s)
	switch {
	case missing <= 0:
		return s
	case d.minus:
		return s + strings.Repeat(" ", missing)
	}
	return strings.Repeat(" ", missing) + s
}

func (d directive) text(s string) string {
	if d.precision >= 0 && utf8.RuneCountInString(s) > d.precision {
		s = string([]rune(s)[:d.precision])
	}
	return d.pad(s)
}

func (d directive) character(v value.Value) (string, error) {
	d.precision = -1
	if v.Kind() == value.String {
		if utf8.RuneCountInString(v.Text()) != 1 {
			return "", errors.New("%c requires a character")
		}
		return d.pad(v.Text()), nil
	}
	n, err := formatInt(v)
	if err != nil || n < 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return "", errors.New("%c requires a character")
	}
	return d.pad(string(rune(n))), nil
}

// formatInt converts v like Ruby's Integer().
func formatInt(v value.Value) (int64, error) {
	switch v.Kind() {
	case value.Int:
		return v.Int(), nil
	case value.Float:
		whole, err := wholeNumber(v.Float())
		return whole.Int(), err
	case value.String:
		n, ok := integerText(v.Text(), 0)
		if !ok {
			return 0, errors.New("the String is not an Integer")
		}
		return n, nil
	}
	return 0, fmt.Errorf("%s cannot be converted to an Integer", expr.Describe(v))
}

func formatFloat(v value.Value) (float64, error) {
	switch v.Kind() {
	case value.Int, value.Float:
		return ruby.Float(v), nil
	case value.String:
		f, ok := floatText(v.Text())
		if !ok {
			return 0, errors.New("the String is not a Float")
		}
		return f, nil
	}
	return 0, fmt.Errorf("%s cannot be converted to a Float", expr.Describe(v))
}

func (d directive) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case d.plus:
		return "+"
	case d.space:
		return " "
	}
	return ""
}

var bases = map[byte]int{'d': 10, 'i': 10, 'u': 10, 'x': 16, 'X': 16, 'o': 8, 'b': 2, 'B': 2}

var basePrefixes = map[byte]string{'x': "0x", 'X': "0X", 'o': "0", 'b': "0b", 'B': "0B"}

func (d directive) integer(verb byte, n int64) string {
	base := bases[verb]
	if n < 0 && base != 10 && !d.plus && !d.space {
		return d.complement(verb, n)
	}
	digits := strconv.FormatUint(ruby.Magnitude(n), base)
	if d.precision == 0 && n == 0 && !(d.alt && verb == 'o') {
		digits = ""
	}
	prefix := ""
	if d.alt && n != 0 {
		prefix = basePrefixes[verb]
	}
	if verb == 'o' && d.precision > len(digits) {
		prefix = ""
	}
	head := d.sign(n < 0) + prefix
	fill := d.precision
	if d.zero && !d.minus && d.precision < 0 {
		fill = d.width - len(head)
	}
	return d.pad(cased(verb, head+zeros(fill-len(digits))+digits))
}

// complement formats a negative number like Ruby, as a two's complement such as ..f01, whose first digit repeats
// infinitely.
func (d directive) complement(verb byte, n int64) string {
	bitsPerDigit := map[int]int{16: 4, 8: 3, 2: 1}[bases[verb]]
	mask := int64(1)<<bitsPerDigit - 1
	digits := ""
	for ; n != -1; n >>= bitsPerDigit {
		digits = strconv.FormatInt(n&mask, 16) + digits
	}
	leading := strconv.FormatInt(mask, 16)
	digits = leading + digits
	head := ""
	if d.alt && verb != 'o' {
		head = basePrefixes[verb]
	}
	fill := d.precision
	if d.zero && !d.minus && d.precision < 0 {
		fill = d.width - len(head)
	}
	more := max(0, fill-len("..")-len(digits))
	return d.pad(cased(verb, head+".."+strings.Repeat(leading, more)+digits))
}

func zeros(n int) string { return strings.Repeat("0", max(0, n)) }

func cased(verb byte, s string) string {
	if verb == 'X' || verb == 'E' || verb == 'G' || verb == 'A' {
		return strings.ToUpper(s)
	}
	return s
}

// wholeFloat formats an integer with %f. Unlike conversion to a float, it is exact, and the flag # adds no point.
func (d directive) wholeFloat(n int64) string {
	digits := strconv.FormatUint(ruby.Magnitude(n), 10)
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	if precision > 0 {
		digits += "." + zeros(precision)
	}
	return d.fillNumber(d.sign(n < 0), digits)
}

// fillNumber pads a number to the width of d. With the flag 0, it adds zeros after the sign.
func (d directive) fillNumber(head, digits string) string {
	if d.zero && !d.minus {
		digits = zeros(d.width-len(head)-len(digits)) + digits
	}
	return d.pad(head + digits)
}

func (d directive) float(verb byte, f float64) string {
	head := d.sign(math.Signbit(f) && !math.IsNaN(f))
	f = math.Abs(f)
	switch {
	case math.IsNaN(f):
		return d.pad(head + "NaN")
	case math.IsInf(f, 0):
		return d.pad(head + "Inf")
	case verb == 'a' || verb == 'A':
		head, digits := head+"0x", strings.TrimPrefix(d.hexFloat(f), "0x")
		return cased(verb, d.fillNumber(head, digits))
	}
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	layout := "%." + strconv.Itoa(precision) + string(verb|0x20)
	if d.alt {
		layout = "%#" + layout[1:]
	}
	return cased(verb, d.fillNumber(head, fmt.Sprintf(layout, f)))
}

// hexFloat formats f like %a in C: without leading zeros in the exponent, and with a point if the flag # is set.
func (d directive) hexFloat(f float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'x', d.precision, 64), "p")
	if d.alt && !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	if exponent[1] == '0' && len(exponent) > 2 {
		exponent = exponent[:1] + exponent[2:]
	}
	return mantissa + "p" + exponent
}
