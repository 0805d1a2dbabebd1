package stdlib

import (
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/types"
	"bindc/internal/value"
)

// This file implements the function new.

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
		return value.Value{}, inner.Failf("needs a value to convert")
	}
	v, err := convert(&inner, t)
	if err != nil || c.Lambda == nil {
		return v, err
	}
	return c.Yield(v)
}

// New evaluates new(t, args...). There must be at least one argument.
func New(t *types.Type, opts expr.Options, args ...value.Value) (value.Value, error) {
	return convert(expr.NewInvocation(t.String(), opts, args...), t)
}

// convert makes a value of type t from the arguments. It returns a value that already has type t unchanged.
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
		return value.Value{}, c.Failf("values of the type %s cannot be created", maker)
	}
	v, err := make(c)
	if err == nil {
		err = c.Traverse(v)
	}
	if err != nil {
		return v, err
	}
	if m := t.Assert(v); m != nil {
		return v, c.Failf("the result of the conversion is invalid: %s", m.Shown())
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

func countBetween(c *call, low, high int) error {
	if len(c.Args) < low || len(c.Args) > high {
		return c.Failf("takes %d to %d arguments, found %d", low, high, len(c.Args))
	}
	return nil
}

func newSame(c *call) (value.Value, error) { return c.Args[0], countBetween(c, 1, 1) }

// namedArguments converts a single argument such as {from => v, radix => 16, abs => true} to separate arguments in
// the order of names.
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

// applyAbs returns the absolute value of v if argument i, the option abs, is true.
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
		return v, c.Failf("the String is not a Boolean")
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

// escapeRegexp escapes s like Ruby's Regexp.escape.
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
