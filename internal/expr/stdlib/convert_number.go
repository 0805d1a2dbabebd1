package stdlib

import (
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/pattern"
	"bindc/internal/value"
)

func newInteger(c *call) (value.Value, error) {
	c, err := namedArguments(c, "from", "radix", "abs")
	if err != nil {
		return value.Value{}, err
	}
	radix := 0
	switch r := c.Arg(1); r.Kind() {
	case value.Int:
		radix = int(min(max(r.Int(), 0), 100))
		if radix != 2 && radix != 8 && radix != 10 && radix != 16 {
			return r, c.Failf("illegal radix %d, expected 2, 8, 10, 16 or default", r.Int())
		}
	case value.Undef, value.Default:
	default:
		return r, c.Failf("illegal radix, expected 2, 8, 10, 16 or default, found %s", expr.Describe(r))
	}
	n, err := integerOf(c, radix)
	if err != nil {
		return n, err
	}
	return applyAbs(c, 2, n)
}

// Puppet passes only strings of these forms to Ruby.
var (
	integerForm = pattern.Lazy(`^[+-]?\s*(?:\d+|0[xX][0-9A-Fa-f]+|0[bB][01]+)$`)
	numericForm = pattern.Lazy(`^[+-]?\s*(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]-?\d+)?|0[xX][0-9A-Fa-f]+|` +
		`0[0-7]+|0[bB][01]+)$`)
)

func integerOf(c *call, radix int) (value.Value, error) {
	switch v := c.Args[0]; v.Kind() {
	case value.Int:
		return v, nil
	case value.Float:
		n, err := wholeNumber(v.Float())
		if err != nil {
			return v, c.Fail(err)
		}
		return n, nil
	case value.Bool:
		return truthNumber(v), nil
	case value.String:
		if n, ok := integerText(withoutGap(v.Text()), radix); ok && integerForm().MatchString(v.Text()) {
			return value.FromInt(n), nil
		}
		return v, c.Failf("the String is not an Integer")
	}
	return c.Args[0], c.Failf("%s cannot be converted to an Integer", expr.Describe(c.Args[0]))
}

func truthNumber(v value.Value) value.Value {
	if v.Bool() {
		return value.FromInt(1)
	}
	return value.FromInt(0)
}

// withoutGap removes white space between the sign and the digits.
func withoutGap(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[:1] + strings.TrimLeft(s[1:], " \t")
	}
	return s
}

// integerText parses s like Ruby's Integer(). If radix is 0, the prefix determines the radix; otherwise only the
// prefix of this radix is allowed.
func integerText(s string, radix int) (int64, bool) {
	s = strings.Trim(s, " \t\n\v\f\r")
	digits := strings.TrimLeft(s, "+-")
	sign := s[:len(s)-len(digits)]
	if len(sign) > 1 {
		return 0, false
	}
	prefixRadix, length := radixOf(digits)
	switch {
	case radix == 0:
		radix, digits = prefixRadix, digits[length:]
	case prefixRadix == radix:
		digits = digits[length:]
	}
	if digits == "" || strings.HasPrefix(digits, "_") || strings.HasSuffix(digits, "_") ||
		strings.Contains(digits, "__") {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(sign, "+")+strings.ReplaceAll(digits, "_", ""), radix, 64)
	return n, err == nil && digits[0] != '+' && digits[0] != '-'
}

// radixOf returns the radix for the prefix of digits, and the length of the prefix.
func radixOf(digits string) (radix, length int) {
	if len(digits) < 2 || digits[0] != '0' {
		return 10, 0
	}
	switch digits[1] | 0x20 {
	case 'x':
		return 16, 2
	case 'b':
		return 2, 2
	case 'o':
		return 8, 2
	case 'd':
		return 10, 2
	}
	return 8, 1
}

func newFloat(c *call) (value.Value, error) {
	c, err := namedArguments(c, "from", "abs")
	if err != nil {
		return value.Value{}, err
	}
	f, err := floatOf(c)
	if err != nil {
		return f, err
	}
	return applyAbs(c, 1, f)
}

func floatOf(c *call) (value.Value, error) {
	switch v := c.Args[0]; v.Kind() {
	case value.Int, value.Float:
		return value.FromFloat(ruby.Float(v)), nil
	case value.Bool:
		return value.FromFloat(ruby.Float(truthNumber(v))), nil
	case value.String:
		s := withoutGap(v.Text())
		if n, ok := integerText(s, 0); ok && len(s) > 1 && s[1]|0x20 == 'b' {
			return value.FromFloat(float64(n)), nil
		}
		if f, ok := floatText(s); ok && numericForm().MatchString(v.Text()) {
			return value.FromFloat(f), nil
		}
		return v, c.Failf("the String is not a Float")
	}
	return c.Args[0], c.Failf("%s cannot be converted to a Float", expr.Describe(c.Args[0]))
}

func newNumeric(c *call) (value.Value, error) {
	c, err := namedArguments(c, "from", "abs")
	if err != nil {
		return value.Value{}, err
	}
	v := c.Args[0]
	switch v.Kind() {
	case value.Int, value.Float:
	case value.Bool:
		v = truthNumber(v)
	case value.String:
		n, ok := numericText(v.Text())
		if !ok {
			return v, c.Failf("the String is not a number")
		}
		v = n
	default:
		return v, c.Failf("%s cannot be converted to Numeric", expr.Describe(v))
	}
	return applyAbs(c, 1, v)
}

func numericText(s string) (value.Value, bool) {
	if len(s) > 1 && s[0] == '0' && (s[1]|0x20 == 'b' || s[1]|0x20 == 'x') {
		n, ok := integerText(s, 0)
		return value.FromInt(n), ok
	}
	n, ok := ruby.ParseNumber(s)
	return n, ok && numericForm().MatchString(s)
}
