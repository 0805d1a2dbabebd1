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

// This file is Ruby's Kernel#format, which sprintf and String.new use.

// directive is one % of a format.
type directive struct {
	plus, space, minus, zero, alt bool
	width                         int
	precision                     int // -1: not given
}

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

// plainArgument is what Puppet hands to functions of its third version: no undef, and regular expressions as text.
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

// formatter runs a format over its arguments.
type formatter struct {
	format string
	pos    int
	args   []value.Value
	next   int // the argument that comes next, -1 once arguments are named or numbered
	room   int // how long out may become
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

// directive reads what follows a % and appends what it makes.
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

// number reads digits; the first one may have been read.
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

// width reads a width, or the number of an argument before a $.
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

// star takes a width or precision from the arguments.
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

// named reads name> or name} and takes the value from the hash that must be the one argument.
func (f *formatter) named(open byte) (*value.Value, error) {
	end := strings.IndexByte(f.format[f.pos:], open+2) // in ASCII, > and } stand two behind < and {
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

// format is v as the directive with that verb writes it.
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

// pad fills s up with blanks.
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

// formatInt is Ruby's Integer().
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
			return 0, errors.New("the String is no Integer")
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
			return 0, errors.New("the String is no Float")
		}
		return f, nil
	}
	return 0, fmt.Errorf("%s cannot be converted to a Float", expr.Describe(v))
}

// sign is what stands before a number.
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

// complement writes a negative number as endless leading digits: ..f01.
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

// wholeFloat is %f of an integer, which is exact beyond what a float holds.
func (d directive) wholeFloat(n int64) string {
	digits := strconv.FormatUint(ruby.Magnitude(n), 10)
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	if precision > 0 || d.alt {
		digits += "." + zeros(precision)
	}
	return d.fillNumber(d.sign(n < 0), digits)
}

// fillNumber pads a number, with zeros behind its sign if asked to.
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

// hexFloat is C's %a: the exponent has no leading zero, and # asks for a point.
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
