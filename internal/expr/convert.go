package expr

import (
	"strconv"
	"strings"

	"bindc/internal/pattern"
	"bindc/internal/types"
	"bindc/internal/value"
)

// This file is the function new: a value of a type, made of other values.

func runNew(c *call) (value.Value, error) {
	if c.args[0].Kind() != value.Type {
		return value.Value{}, c.wrong(0, "a Type")
	}
	t, err := types.FromValue(c.args[0])
	if err != nil {
		return value.Value{}, err
	}
	inner := *c
	inner.args = c.args[1:]
	inner.name = t.String()
	if len(inner.args) == 0 {
		return value.Value{}, inner.failf("needs a value to make one of")
	}
	v, err := inner.convert(t)
	if err != nil || c.lambda == nil {
		return v, err
	}
	return c.yield(v)
}

// New is new(t, args...): a t made of args, of which there is one at the least.
func New(t *types.Type, opts Options, args ...value.Value) (value.Value, error) {
	c := &call{ev: newEvaluator(nil, opts), node: &Node{Op: Call}, name: t.String(), args: args}
	return c.convert(t)
}

// convert makes a t of the arguments. What is a t already is left alone.
func (c *call) convert(t *types.Type) (value.Value, error) {
	if err := c.ev.traverse(c.args[0]); err != nil {
		return c.args[0], err
	}
	if len(c.args) == 1 && t.Instance(c.args[0]) {
		return c.args[0], nil
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
		return value.Value{}, c.failf("values of the type %s cannot be made", maker)
	}
	v, err := make(c)
	if err == nil {
		err = c.ev.traverse(v)
	}
	if err != nil {
		return v, err
	}
	if m := t.Assert(v); m != nil {
		return v, c.failf("the result is wrong: %s", m.Shown())
	}
	return v, nil
}

var makers = map[types.Kind]func(*call) (value.Value, error){
	types.Integer:  (*call).newInteger,
	types.Float:    (*call).newFloat,
	types.Numeric:  (*call).newNumeric,
	types.Boolean:  (*call).newBoolean,
	types.String:   (*call).newString,
	types.Array:    (*call).newArray,
	types.Tuple:    (*call).newArray,
	types.Hash:     (*call).newHash,
	types.Struct:   (*call).newHash,
	types.Regexp:   (*call).newRegexp,
	types.Meta:     (*call).newType,
	types.NotUndef: (*call).newSame,
}

// between checks the number of arguments.
func (c *call) between(low, high int) error {
	if len(c.args) < low || len(c.args) > high {
		return c.failf("takes %d to %d arguments, found %d", low, high, len(c.args))
	}
	return nil
}

func (c *call) newSame() (value.Value, error) { return c.args[0], c.between(1, 1) }

// named reads {from => v, radix => 16, abs => true} into arguments in order.
func (c *call) named(names ...string) (*call, error) {
	if len(c.args) != 1 || c.args[0].Kind() != value.Hash {
		return c, c.between(1, len(names))
	}
	inner := *c
	inner.args = make([]value.Value, len(names))
	for k, v := range c.args[0].Pairs() {
		i := 0
		for i < len(names) && (k.Kind() != value.String || names[i] != k.Text()) {
			i++
		}
		if i == len(names) {
			return c, c.failf("unknown option %s", Inspect(k))
		}
		inner.args[i] = v
	}
	if _, ok := c.args[0].Get(value.FromString("from")); !ok {
		return c, c.failf("the option 'from' is missing")
	}
	return &inner, nil
}

// absolute applies the option abs, argument i.
func (c *call) absolute(i int, v value.Value) (value.Value, error) {
	if i >= len(c.args) || c.args[i].IsUndef() {
		return v, nil
	}
	abs, err := c.flag(i, false)
	if err != nil || !abs {
		return v, err
	}
	return c.abs(v)
}

func (c *call) newInteger() (value.Value, error) {
	c, err := c.named("from", "radix", "abs")
	if err != nil {
		return value.Value{}, err
	}
	radix := 0
	switch r := c.arg(1); r.Kind() {
	case value.Int:
		radix = int(min(max(r.Int(), 0), 100))
		if radix != 2 && radix != 8 && radix != 10 && radix != 16 {
			return r, c.failf("illegal radix %d, expected 2, 8, 10, 16 or default", r.Int())
		}
	case value.Undef, value.Default:
	default:
		return r, c.failf("illegal radix, expected 2, 8, 10, 16 or default, found %s", describe(r))
	}
	n, err := c.integer(radix)
	if err != nil {
		return n, err
	}
	return c.absolute(2, n)
}

// What Puppet takes for a number before it asks Ruby to read it.
var (
	integerForm = pattern.Lazy(`^[+-]?\s*(?:\d+|0[xX][0-9A-Fa-f]+|0[bB][01]+)$`)
	numericForm = pattern.Lazy(`^[+-]?\s*(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]-?\d+)?|0[xX][0-9A-Fa-f]+|` +
		`0[0-7]+|0[bB][01]+)$`)
)

func (c *call) integer(radix int) (value.Value, error) {
	switch v := c.args[0]; v.Kind() {
	case value.Int:
		return v, nil
	case value.Float:
		n, err := wholeNumber(v.Float())
		if err != nil {
			return v, c.fail(err)
		}
		return n, nil
	case value.Bool:
		return truthNumber(v), nil
	case value.String:
		if n, ok := integerText(withoutGap(v.Text()), radix); ok && integerForm().MatchString(v.Text()) {
			return value.FromInt(n), nil
		}
		return v, c.failf("the String is no Integer")
	}
	return c.args[0], c.failf("%s cannot be converted to an Integer", describe(c.args[0]))
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

func (c *call) newFloat() (value.Value, error) {
	c, err := c.named("from", "abs")
	if err != nil {
		return value.Value{}, err
	}
	f, err := c.floatOf()
	if err != nil {
		return f, err
	}
	return c.absolute(1, f)
}

func (c *call) floatOf() (value.Value, error) {
	switch v := c.args[0]; v.Kind() {
	case value.Int, value.Float:
		return value.FromFloat(float(v)), nil
	case value.Bool:
		return value.FromFloat(float(truthNumber(v))), nil
	case value.String:
		s := withoutGap(v.Text())
		if n, ok := integerText(s, 0); ok && len(s) > 1 && s[1]|0x20 == 'b' {
			return value.FromFloat(float64(n)), nil
		}
		if f, ok := floatText(s); ok && numericForm().MatchString(v.Text()) {
			return value.FromFloat(f), nil
		}
		return v, c.failf("the String is no Float")
	}
	return c.args[0], c.failf("%s cannot be converted to a Float", describe(c.args[0]))
}

func (c *call) newNumeric() (value.Value, error) {
	c, err := c.named("from", "abs")
	if err != nil {
		return value.Value{}, err
	}
	v := c.args[0]
	switch v.Kind() {
	case value.Int, value.Float:
	case value.Bool:
		v = truthNumber(v)
	case value.String:
		n, ok := numericText(v.Text())
		if !ok {
			return v, c.failf("the String is no number")
		}
		v = n
	default:
		return v, c.failf("%s cannot be converted to Numeric", describe(v))
	}
	return c.absolute(1, v)
}

func numericText(s string) (value.Value, bool) {
	if len(s) > 1 && s[0] == '0' && (s[1]|0x20 == 'b' || s[1]|0x20 == 'x') {
		n, ok := integerText(s, 0)
		return value.FromInt(n), ok
	}
	n, ok := parseNumber(s)
	return n, ok && numericForm().MatchString(s)
}

func (c *call) newBoolean() (value.Value, error) {
	if err := c.between(1, 1); err != nil {
		return value.Value{}, err
	}
	switch v := c.args[0]; v.Kind() {
	case value.Bool:
		return v, nil
	case value.Int, value.Float:
		return value.FromBool(float(v) != 0), nil
	case value.String:
		switch strings.ToLower(v.Text()) {
		case "true", "yes", "y":
			return value.FromBool(true), nil
		case "false", "no", "n":
			return value.FromBool(false), nil
		}
		return v, c.failf("the String is no Boolean")
	}
	return c.args[0], c.failf("%s cannot be converted to a Boolean", describe(c.args[0]))
}

func (c *call) newArray() (value.Value, error) {
	if err := c.between(1, 2); err != nil {
		return value.Value{}, err
	}
	wrap, err := c.flag(1, false)
	if err != nil {
		return value.Value{}, err
	}
	v := c.args[0]
	switch {
	case v.Kind() == value.Array:
		return v, nil
	case wrap:
		return value.FromSlice([]value.Value{v}), nil
	case !types.Iterates(v):
		return v, c.failf("%s cannot be converted to an Array", describe(v))
	}
	elems, err := c.elements()
	if err != nil {
		return v, err
	}
	return c.ev.array(elems)
}

func (c *call) newRegexp() (value.Value, error) {
	if err := c.between(1, 2); err != nil {
		return value.Value{}, err
	}
	src, err := c.text(0)
	if err != nil {
		return value.Value{}, err
	}
	escape, err := c.flag(1, false)
	if err != nil {
		return value.Value{}, err
	}
	if escape {
		src = escapeRegexp(src)
	}
	if _, err := CompileRegexp(src); err != nil {
		return value.Value{}, c.fail(err)
	}
	return value.FromRegexp(src), nil
}

var regexpEscapes = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, "\f", `\f`, "\v", `\v`, " ", `\ `, "#",
	`\#`,
	"-", `\-`, ".", `\.`, "*", `\*`, "?", `\?`, "+", `\+`, "^", `\^`, "$", `\$`, "|", `\|`, `\`, `\\`,
	"(", `\(`, ")", `\)`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// escapeRegexp is Ruby's Regexp.escape.
func escapeRegexp(s string) string { return regexpEscapes.Replace(s) }

func (c *call) newType() (value.Value, error) {
	if err := c.between(1, 1); err != nil {
		return value.Value{}, err
	}
	text, err := c.text(0)
	if err != nil {
		return value.Value{}, err
	}
	t, err := types.Parse(text)
	if err != nil {
		return value.Value{}, c.fail(err)
	}
	return t.Value(), nil
}
