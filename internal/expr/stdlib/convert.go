package stdlib

import (
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/pattern"
	"bindc/internal/types"
	"bindc/internal/value"
)

// This file is the function new: a value of a type, made of other values.

func runNew(c *call) (value.Value, error) {
	if c.Args[0].Kind() != value.Type {
		return value.Value{}, c.Wrong(0, "a Type")
	}
	t, err := types.FromValue(c.Args[0])
	if err != nil {
		return value.Value{}, err
	}
	inner := *c
	inner.Args = c.Args[1:]
	inner.Name = t.String()
	if len(inner.Args) == 0 {
		return value.Value{}, inner.Failf("needs a value to make one of")
	}
	v, err := convert(&inner, t)
	if err != nil || c.Lambda == nil {
		return v, err
	}
	return c.Yield(v)
}

// New is new(t, args...): a t made of args, of which there is one at the least.
func New(t *types.Type, opts expr.Options, args ...value.Value) (value.Value, error) {
	return convert(expr.NewInvocation(t.String(), opts, args...), t)
}

// convert makes a t of the arguments. What is a t already is left alone.
func convert(c *call, t *types.Type) (value.Value, error) {
	if err := c.Traverse(c.Args[0]); err != nil {
		return c.Args[0], err
	}
	if len(c.Args) == 1 && t.Instance(c.Args[0]) {
		return c.Args[0], nil
	}
	maker := t
	for maker.Kind() == types.Optional || maker.Kind() == types.NotUndef {
		if maker.Elem() == nil {
			break
		}
		maker = maker.Elem()
	}
	make, ok := makers[maker.Kind()]
	if !ok {
		return value.Value{}, c.Failf("values of the type %s cannot be made", maker)
	}
	v, err := make(c)
	if err == nil {
		err = c.Traverse(v)
	}
	if err != nil {
		return v, err
	}
	if m := t.Assert(v); m != nil {
		return v, c.Failf("the result is wrong: %s", m.Shown())
	}
	return v, nil
}

var makers = map[types.Kind]func(*call) (value.Value, error){
	types.Integer:  newInteger,
	types.Float:    newFloat,
	types.Numeric:  newNumeric,
	types.Boolean:  newBoolean,
	types.String:   newString,
	types.Array:    newArray,
	types.Tuple:    newArray,
	types.Hash:     newHash,
	types.Struct:   newHash,
	types.Regexp:   newRegexp,
	types.Meta:     newType,
	types.NotUndef: newSame,
}

// between checks the number of arguments.
func countBetween(c *call, low, high int) error {
	if len(c.Args) < low || len(c.Args) > high {
		return c.Failf("takes %d to %d arguments, found %d", low, high, len(c.Args))
	}
	return nil
}

func newSame(c *call) (value.Value, error) { return c.Args[0], countBetween(c, 1, 1) }

// named reads {from => v, radix => 16, abs => true} into arguments in order.
func namedArguments(c *call, names ...string) (*call, error) {
	if len(c.Args) != 1 || c.Args[0].Kind() != value.Hash {
		return c, countBetween(c, 1, len(names))
	}
	inner := *c
	inner.Args = make([]value.Value, len(names))
	for k, v := range c.Args[0].Pairs() {
		i := 0
		for i < len(names) && (k.Kind() != value.String || names[i] != k.Text()) {
			i++
		}
		if i == len(names) {
			return c, c.Failf("unknown option %s", ruby.Inspect(k))
		}
		inner.Args[i] = v
	}
	if _, ok := c.Args[0].Get(value.FromString("from")); !ok {
		return c, c.Failf("the option 'from' is missing")
	}
	return &inner, nil
}

// absolute applies the option abs, argument i.
func applyAbs(c *call, i int, v value.Value) (value.Value, error) {
	if i >= len(c.Args) || c.Args[i].IsUndef() {
		return v, nil
	}
	abs, err := c.Flag(i, false)
	if err != nil || !abs {
		return v, err
	}
	return absOf(c, v)
}

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

// What Puppet takes for a number before it asks Ruby to read it.
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
		return v, c.Failf("the String is no Integer")
	}
	return c.Args[0], c.Failf("%s cannot be converted to an Integer", expr.Describe(c.Args[0]))
}

func truthNumber(v value.Value) value.Value {
	if v.Bool() {
		return value.FromInt(1)
	}
	return value.FromInt(0)
}

// withoutGap drops the white space between a sign and a number.
func withoutGap(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[:1] + strings.TrimLeft(s[1:], " \t")
	}
	return s
}

// integerText is Ruby's Integer(): radix 0 is told by the prefix, which another radix admits only for its own.
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

// radixOf tells the radix of digits by their prefix, and its length.
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
		return v, c.Failf("the String is no Float")
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
			return v, c.Failf("the String is no number")
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

func newBoolean(c *call) (value.Value, error) {
	if err := countBetween(c, 1, 1); err != nil {
		return value.Value{}, err
	}
	switch v := c.Args[0]; v.Kind() {
	case value.Bool:
		return v, nil
	case value.Int, value.Float:
		return value.FromBool(ruby.Float(v) != 0), nil
	case value.String:
		switch strings.ToLower(v.Text()) {
		case "true", "yes", "y":
			return value.FromBool(true), nil
		case "false", "no", "n":
			return value.FromBool(false), nil
		}
		return v, c.Failf("the String is no Boolean")
	}
	return c.Args[0], c.Failf("%s cannot be converted to a Boolean", expr.Describe(c.Args[0]))
}

func newArray(c *call) (value.Value, error) {
	if err := countBetween(c, 1, 2); err != nil {
		return value.Value{}, err
	}
	wrap, err := c.Flag(1, false)
	if err != nil {
		return value.Value{}, err
	}
	v := c.Args[0]
	switch {
	case v.Kind() == value.Array:
		return v, nil
	case wrap:
		return value.FromSlice([]value.Value{v}), nil
	case !types.Iterates(v):
		return v, c.Failf("%s cannot be converted to an Array", expr.Describe(v))
	}
	elems, err := elements(c)
	if err != nil {
		return v, err
	}
	return c.MakeArray(elems)
}

func newRegexp(c *call) (value.Value, error) {
	if err := countBetween(c, 1, 2); err != nil {
		return value.Value{}, err
	}
	src, err := c.Text(0)
	if err != nil {
		return value.Value{}, err
	}
	escape, err := c.Flag(1, false)
	if err != nil {
		return value.Value{}, err
	}
	if escape {
		src = escapeRegexp(src)
	}
	if _, err := expr.CompileRegexp(src); err != nil {
		return value.Value{}, c.Fail(err)
	}
	return value.FromRegexp(src), nil
}

var regexpEscapes = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, "\f", `\f`, "\v", `\v`, " ", `\ `, "#",
	`\#`,
	"-", `\-`, ".", `\.`, "*", `\*`, "?", `\?`, "+", `\+`, "^", `\^`, "$", `\$`, "|", `\|`, `\`, `\\`,
	"(", `\(`, ")", `\)`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// escapeRegexp is Ruby's Regexp.escape.
func escapeRegexp(s string) string { return regexpEscapes.Replace(s) }

func newType(c *call) (value.Value, error) {
	if err := countBetween(c, 1, 1); err != nil {
		return value.Value{}, err
	}
	text, err := c.Text(0)
	if err != nil {
		return value.Value{}, err
	}
	t, err := types.Parse(text)
	if err != nil {
		return value.Value{}, c.Fail(err)
	}
	return t.Value(), nil
}
