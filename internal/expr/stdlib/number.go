package stdlib

import (
	"cmp"
	"crypto/md5"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/pattern"
	"bindc/internal/value"
)

func runAbs(c *call) (value.Value, error) {
	v, err := decimalOf(c)
	if err != nil {
		return v, err
	}
	return absOf(c, v)
}

func absOf(c *call, v value.Value) (value.Value, error) {
	switch {
	case v.Kind() == value.Float:
		return value.FromFloat(math.Abs(v.Float())), nil
	case v.Int() == math.MinInt64:
		return v, c.Failf("the result does not fit in 64 bits")
	}
	return value.FromInt(max(v.Int(), -v.Int())), nil
}

var decimalText = pattern.Lazy(`^-?\d+(\.\d+)?$`)

// decimalOf converts argument 0 to a number. A string must be a plain decimal number.
func decimalOf(c *call) (value.Value, error) {
	v := c.Args[0]
	if ruby.IsNumeric(v.Kind()) {
		return v, nil
	}
	s := v.Text()
	if v.Kind() != value.String || !decimalText().MatchString(s) {
		return v, c.Wrong(0, "a number")
	}
	if strings.Contains(s, ".") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return v, c.Wrong(0, "a 64-bit number")
		}
		return value.FromFloat(f), nil
	}
	n, ok := ruby.ParseInt(s, 10)
	if !ok {
		return v, c.Wrong(0, "a 64-bit number")
	}
	return n, nil
}

func runFloor(c *call) (value.Value, error)   { return rounded(c, math.Floor) }
func runCeiling(c *call) (value.Value, error) { return rounded(c, math.Ceil) }

func rounded(c *call, round func(float64) float64) (value.Value, error) {
	v := c.Args[0]
	f := v.Float()
	switch v.Kind() {
	case value.Int:
		return v, nil
	case value.String:
		var ok bool
		if f, ok = floatText(v.Text()); !ok {
			return v, c.Wrong(0, "a number")
		}
	case value.Float:
	default:
		return v, c.Wrong(0, "a number")
	}
	whole, err := wholeNumber(round(f))
	if err != nil {
		return v, c.Fail(err)
	}
	return whole, nil
}

var floatForm = pattern.Lazy(`^[+-]?(?:0[xX][0-9A-Fa-f]+|(?:\d(?:_?\d)*)?(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d+)?)$`)

// floatText parses s like Ruby's Float().
func floatText(s string) (float64, bool) {
	s = strings.Trim(s, " \t\n\v\f\r")
	digits := strings.TrimLeft(s, "+-")
	if !floatForm().MatchString(s) || digits == "" || digits[0] == 'e' || digits[0] == 'E' {
		return 0, false
	}
	if len(digits) > 1 && (digits[1] == 'x' || digits[1] == 'X') {
		n, ok := ruby.ParseInt(strings.NewReplacer("0x", "", "0X", "").Replace(s), 16)
		return float64(n.Int()), ok
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil
}

// runRound rounds to the nearest integer. It rounds halves away from zero.
func runRound(c *call) (value.Value, error) {
	v := c.Args[0]
	switch v.Kind() {
	case value.Int:
		return v, nil
	case value.Float:
		half := 0.5
		if v.Float() <= 0 {
			half = -half
		}
		whole, err := wholeNumber(v.Float() + half)
		if err != nil {
			return v, c.Fail(err)
		}
		return whole, nil
	}
	return v, c.Wrong(0, "a number")
}

func runCompare(c *call) (value.Value, error) {
	a, b := c.Args[0], c.Args[1]
	fold, err := c.Flag(2, true)
	if err != nil {
		return a, err
	}
	ka, kb := a.Kind(), b.Kind()
	switch {
	case ruby.IsNumeric(ka) && ruby.IsNumeric(kb) && len(c.Args) == 2:
		if order, ok := ruby.CompareNumbers(a, b); ok {
			return value.FromInt(int64(order)), nil
		}
	case ka == value.String && kb == value.String && fold:
		return sign(expr.CompareFolded(a.Text(), b.Text())), nil
	case ka == value.String && kb == value.String:
		return sign(strings.Compare(a.Text(), b.Text())), nil
	}
	return a, c.Failf("%s and %s cannot be compared", expr.Describe(a), expr.Describe(b))
}

func sign(n int) value.Value { return value.FromInt(int64(cmp.Compare(n, 0))) }

func runMax(c *call) (value.Value, error) { return extreme(c, 1) }
func runMin(c *call) (value.Value, error) { return extreme(c, -1) }

// extreme returns the largest argument, or the smallest if direction is -1. It compares with the lambda if there is
// one. Otherwise, it compares numbers by value, and all other arguments by their text.
func extreme(c *call, direction int) (value.Value, error) {
	list := c.Args
	if len(list) == 1 && list[0].Kind() == value.Array {
		list = list[0].Slice()
	}
	if err := c.Needs(2); err != nil {
		return value.Value{}, err
	}
	if len(list) == 0 && c.Lambda == nil {
		return value.Value{}, c.Failf("needs at least one value")
	}
	if len(list) == 0 {
		return value.Value{}, nil
	}
	compare := comparisonOf(c, list)
	best := list[0]
	for _, v := range list[1:] {
		order, err := compare(v, best)
		if err == nil {
			err = c.Spend(1)
		}
		if err != nil {
			return v, err
		}
		if order*direction > 0 {
			best = v
		}
	}
	return best, nil
}

func comparisonOf(c *call, list []value.Value) func(a, b value.Value) (int, error) {
	if c.Lambda != nil {
		return func(a, b value.Value) (int, error) { return orderOf(c, a, b) }
	}
	for _, v := range list {
		if !ruby.IsNumeric(v.Kind()) {
			return func(a, b value.Value) (int, error) {
				return compareTexts(ruby.ToS(a), ruby.ToS(b)), c.Produce(expr.Weight(a) + expr.Weight(b))
			}
		}
	}
	return func(a, b value.Value) (int, error) {
		order, _ := ruby.CompareNumbers(a, b)
		return order, nil
	}
}

var plainNumber = pattern.Lazy(`^-?\d+([._eE]\d+)?$`)

// compareTexts compares two strings. If both are numbers, it compares their values.
func compareTexts(a, b string) int {
	if plainNumber().MatchString(a) && plainNumber().MatchString(b) {
		x, _ := strconv.ParseFloat(strings.ReplaceAll(a, "_", ""), 64) // infinite if out of range
		y, _ := strconv.ParseFloat(strings.ReplaceAll(b, "_", ""), 64)
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// runFqdnRand returns a number from 0 to the limit. It depends only on the limit, the node's name and the seed.
func runFqdnRand(c *call) (value.Value, error) {
	max, err := randLimit(c)
	if err != nil {
		return value.Value{}, err
	}
	fqdn := nodeName(c)
	if c.Arg(2).Truthy() {
		fqdn = ruby.Downcase(fqdn)
	}
	seed, err := joinDeep(c, value.FromSlice(c.Args[1:min(2, len(c.Args))]), ":")
	if err != nil {
		return value.Value{}, err
	}
	sum := md5.Sum(fmt.Appendf(nil, "%s:%d:%s", fqdn, max, seed))
	return value.FromInt(newRandom(new(big.Int).SetBytes(sum[:])).below(max)), nil
}

// leadingInt matches the text that Ruby's to_i converts.
var leadingInt = pattern.Lazy(`^\s*([+-]?\d+)`)

func randLimit(c *call) (int64, error) {
	n := int64(0)
	switch v := c.Args[0]; v.Kind() {
	case value.Int:
		n = v.Int()
	case value.Float:
		whole, err := wholeNumber(v.Float())
		if err != nil {
			return 0, c.Fail(err)
		}
		n = whole.Int()
	case value.String:
		if m := leadingInt().FindStringSubmatch(v.Text()); m != nil {
			whole, _ := ruby.ParseInt(m[1], 10)
			n = whole.Int()
		}
	}
	if n < 1 {
		return 0, c.Failf("argument 1 must be an Integer of 1 or more")
	}
	return n, nil
}

// nodeName returns the fact fqdn of the node.
func nodeName(c *call) string {
	networking, _ := c.OuterVariable("facts").Get(value.FromString("networking"))
	if name, ok := networking.Get(value.FromString("fqdn")); ok {
		return ruby.ToS(name)
	}
	return ruby.ToS(c.OuterVariable("fqdn"))
}

// versionPart matches one part of a version: a separator, a number or a word.
var versionPart = pattern.Lazy(`[-.]|\d+|[^-.\d]+`)

func runVersioncmp(c *call) (value.Value, error) {
	a, err := c.Text(0)
	if err != nil {
		return value.Value{}, err
	}
	b, err := c.Text(1)
	if err != nil {
		return value.Value{}, err
	}
	trim, err := c.Flag(2, false)
	if err != nil {
		return value.Value{}, err
	}
	if err := c.Produce(expr.SizeOfElement * (len(a) + len(b))); err != nil {
		return value.Value{}, err
	}
	if trim {
		a, b = trimZeroes(a), trimZeroes(b)
	}
	return value.FromInt(int64(compareVersions(a, b))), nil
}

var trailingZeroes = pattern.Lazy(`[.0]+$`)

func trimZeroes(version string) string {
	first, rest, found := strings.Cut(version, "-")
	first = trailingZeroes().ReplaceAllString(first, "")
	if found {
		return first + "-" + rest
	}
	return first
}

func compareVersions(a, b string) int {
	left, right := versionPart().FindAllString(a, -1), versionPart().FindAllString(b, -1)
	for i := range min(len(left), len(right)) {
		if l, r := left[i], right[i]; l != r {
			return compareParts(l, r)
		}
	}
	return strings.Compare(a, b)
}

// compareParts compares two different parts of versions. A '-' comes first, then a '.', then all others. It compares
// numbers by value, unless one of them has leading zeros.
func compareParts(l, r string) int {
	for _, separator := range []string{"-", "."} {
		switch separator {
		case l:
			return -1
		case r:
			return 1
		}
	}
	if expr.IsNumber(l) && expr.IsNumber(r) && l[0] != '0' && r[0] != '0' {
		if len(l) != len(r) {
			return cmp.Compare(len(l), len(r))
		}
		return strings.Compare(l, r)
	}
	return strings.Compare(ruby.Upcase(l), ruby.Upcase(r))
}

// wholeNumber converts f to an Integer without its fraction. It returns an error if the number does not fit in 64
// bits.
func wholeNumber(f float64) (value.Value, error) {
	if !(f >= -1<<63 && f < 1<<63) {
		return value.Value{}, fmt.Errorf("the result does not fit in 64 bits")
	}
	return value.FromInt(int64(math.Trunc(f))), nil
}
