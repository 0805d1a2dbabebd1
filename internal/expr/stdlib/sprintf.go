package stdlib

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// This file implements Ruby's Kernel#format, which sprintf and String.new use.

func runSprintf(c *call) (value.Value, error) {
	format, err := c.Text(0)
	if err != nil {
		return value.Value{}, err
	}
	args := make([]value.Value, 0, len(c.Args)-1)
	for _, a := range c.Args[1:] {
		if err := c.Traverse(a); err != nil {
			return value.Value{}, err
		}
		args = append(args, plainArgument(a))
	}
	f := formatter{format: format, args: args, room: c.Room()}
	if err := f.run(); err != nil {
		return value.Value{}, c.Fail(err)
	}
	return c.MakeText(string(f.out))
}

// plainArgument converts v as Puppet does when it calls a function of the 3.x API: undef becomes an empty string, and a
// regular expression becomes text.
func plainArgument(v value.Value) value.Value {
	if v.IsUndef() {
		return value.FromString("")
	}
	return withoutRegexps(v)
}

func withoutRegexps(v value.Value) value.Value {
	switch v.Kind() {
	case value.Regexp:
		return value.FromString(value.Slashed(v.Text()))
	case value.Array:
		out := make([]value.Value, 0, v.Len())
		for e := range v.Elems() {
			out = append(out, withoutRegexps(e))
		}
		return value.FromSlice(out)
	case value.Hash:
		var b value.Builder
		for k, e := range v.Pairs() {
			b.Set(withoutRegexps(k), withoutRegexps(e))
		}
		return b.Hash()
	}
	return v
}

type formatter struct {
	format string
	pos    int
	args   []value.Value
	next   int // index of the next argument; -1 after a numbered or named one
	room   int // maximum length of out
	out    []byte
}

var (
	errFewArguments = errors.New("too few arguments")
	errIncomplete   = errors.New("incomplete format specifier; use %% (double %) instead")
	errMixed        = errors.New("numbered or named arguments cannot be mixed with others")
	errTooLong      = errors.New("the result is too long")
)

func (f *formatter) run() error {
	for f.pos < len(f.format) {
		percent := strings.IndexByte(f.format[f.pos:], '%')
		if percent < 0 {
			percent = len(f.format) - f.pos
		}
		f.out = append(f.out, f.format[f.pos:f.pos+percent]...)
		f.pos += percent + 1
		if f.pos > len(f.format) {
			break
		}
		if err := f.directive(); err != nil {
			return err
		}
		if len(f.out) > f.room {
			return errTooLong
		}
	}
	return nil
}

func (f *formatter) directive() error {
	d := directive{precision: -1}
	var arg *value.Value
	for f.pos < len(f.format) {
		c := f.format[f.pos]
		f.pos++
		var err error
		switch {
		case d.flag(c):
		case '1' <= c && c <= '9':
			err = f.width(&d, &arg)
		case c == '*':
			d.width, err = f.star()
			if d.width < 0 {
				d.minus, d.width = true, -d.width
			}
		case c == '.':
			err = f.precision(&d)
		case c == '<', c == '{':
			if arg, err = f.named(c); err == nil && c == '{' {
				return f.append(d, 's', *arg)
			}
		default:
			return f.verb(d, c, arg)
		}
		if err != nil {
			return err
		}
		if d.width > f.room || d.precision > f.room {
			return errTooLong
		}
	}
	return errIncomplete
}

// number reads a number at f.pos. If there is no digit, it returns 0.
func (f *formatter) number() (int, error) {
	from := f.pos
	for f.pos < len(f.format) && '0' <= f.format[f.pos] && f.format[f.pos] <= '9' {
		f.pos++
	}
	if from == f.pos {
		return 0, nil
	}
	n, err := strconv.ParseInt(f.format[from:f.pos], 10, 32)
	if err != nil {
		return 0, errTooLong
	}
	return int(n), nil
}

// width reads a width, or the number of an argument, which ends with '$'. The first digit has already been read.
func (f *formatter) width(d *directive, arg **value.Value) error {
	f.pos--
	n, err := f.number()
	if err != nil {
		return err
	}
	if f.pos < len(f.format) && f.format[f.pos] == '$' {
		f.pos++
		switch {
		case f.next > 0:
			return errMixed
		case n > len(f.args):
			return errFewArguments
		}
		f.next, *arg = -1, &f.args[n-1]
		return nil
	}
	d.width = n
	return nil
}

func (f *formatter) precision(d *directive) (err error) {
	if f.pos < len(f.format) && f.format[f.pos] == '*' {
		f.pos++
		d.precision, err = f.star()
		d.precision = max(d.precision, -1)
		return err
	}
	d.precision, err = f.number()
	return err
}

// star returns the next argument, which is the width or precision for a '*'.
func (f *formatter) star() (int, error) {
	v, err := f.argument()
	if err != nil {
		return 0, err
	}
	n, err := formatInt(v)
	if err != nil || n > math.MaxInt32 || n < -math.MaxInt32 {
		return 0, errTooLong
	}
	return int(n), nil
}

func (f *formatter) argument() (value.Value, error) {
	if f.next < 0 {
		return value.Value{}, errMixed
	}
	if f.next >= len(f.args) {
		return value.Value{}, errFewArguments
	}
	f.next++
	return f.args[f.next-1], nil
}

// named reads a name up to its closing bracket. It returns the value of this key in the only argument, a hash.
func (f *formatter) named(open byte) (*value.Value, error) {
	end := strings.IndexByte(f.format[f.pos:], open+2) // in ASCII, a closing bracket is 2 after its opening one
	if end < 0 {
		return nil, errors.New("malformed name - unmatched parenthesis")
	}
	name := f.format[f.pos : f.pos+end]
	f.pos += end + 1
	if f.next > 0 || len(f.args) != 1 || f.args[0].Kind() != value.Hash {
		return nil, errors.New("one hash required")
	}
	v, ok := f.args[0].Get(value.FromString(name))
	if !ok {
		return nil, fmt.Errorf("key<%s> not found", name)
	}
	f.next = -1
	return &v, nil
}

func (f *formatter) verb(d directive, verb byte, arg *value.Value) error {
	switch verb {
	case '\n', 0:
		f.out = append(f.out, '%', verb)
		return nil
	case '%':
		if d != (directive{precision: -1}) {
			return errors.New("invalid format character - %")
		}
		f.out = append(f.out, '%')
		return nil
	}
	if strings.IndexByte("diuxXobBeEfgGaAspc", verb) < 0 {
		return fmt.Errorf("malformed format string - %%%c", verb)
	}
	if arg == nil {
		v, err := f.argument()
		if err != nil {
			return err
		}
		arg = &v
	}
	return f.append(d, verb, *arg)
}

func (f *formatter) append(d directive, verb byte, v value.Value) error {
	if expr.Weight(v) > f.room {
		return errTooLong
	}
	s, err := d.format(verb, v)
	f.out = append(f.out, s...)
	return err
}
