package expr

import (
	"crypto/md5"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"bindc/internal/pattern"
	"bindc/internal/value"
)

func runAbs(c *call) (value.Value, error) {
	v, err := c.decimal()
	if err != nil {
		return v, err
	}
	return c.abs(v)
}

func (c *call) abs(v value.Value) (value.Value, error) {
	switch {
	case v.Kind() == value.Float:
		return value.FromFloat(math.Abs(v.Float())), nil
	case v.Int() == math.MinInt64:
		return v, c.failf("the result is outside of 64 bits")
	}
	return value.FromInt(max(v.Int(), -v.Int())), nil
}

var decimalText = pattern.Lazy(`^-?\d+(\.\d+)?$`)

// decimal is argument 0 as a number; text must be a plain decimal one.
func (c *call) decimal() (value.Value, error) {
	v := c.args[0]
	if isNumeric(v.Kind()) {
		return v, nil
	}
	s := v.Text()
	if v.Kind() != value.String || !decimalText().MatchString(s) {
		return v, c.wrong(0, "a number")
	}
	if strings.Contains(s, ".") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return v, c.wrong(0, "a number of 64 bits")
		}
		return value.FromFloat(f), nil
	}
	n, ok := parseInt(s, 10)
	if !ok {
		return v, c.wrong(0, "a number of 64 bits")
	}
	return n, nil
}

// rounding is floor and ceiling.
func rounding(round func(float64) float64) func(*call) (value.Value, error) {
	return func(c *call) (value.Value, error) {
		v := c.args[0]
		f := v.Float()
		switch v.Kind() {
		case value.Int:
			return v, nil
		case value.String:
			var ok bool
			if f, ok = floatText(v.Text()); !ok {
				return v, c.wrong(0, "a number")
			}
		case value.Float:
		default:
			return v, c.wrong(0, "a number")
		}
		whole, err := wholeNumber(round(f))
		if err != nil {
			return v, c.fail(err)
		}
		return whole, nil
	}
}

var floatForm = pattern.Lazy(`^[+-]?(?:0[xX][0-9A-Fa-f]+|(?:\d(?:_?\d)*)?(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d+)?)$`)

// floatText is Ruby's Float().
func floatText(s string) (float64, bool) {
	s = strings.Trim(s, " \t\n\v\f\r")
	digits := strings.TrimLeft(s, "+-")
	if !floatForm().MatchString(s) || digits == "" || digits[0] == 'e' || digits[0] == 'E' {
		return 0, false
	}
	if len(digits) > 1 && (digits[1] == 'x' || digits[1] == 'X') {
		n, ok := parseInt(strings.NewReplacer("0x", "", "0X", "").Replace(s), 16)
		return float64(n.Int()), ok
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil
}

// runRound rounds halves away from zero.
func runRound(c *call) (value.Value, error) {
	v := c.args[0]
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
			return v, c.fail(err)
		}
		return whole, nil
	}
	return v, c.wrong(0, "a number")
}

func runCompare(c *call) (value.Value, error) {
	a, b := c.args[0], c.args[1]
	fold, err := c.flag(2, true)
	if err != nil {
		return a, err
	}
	ka, kb := a.Kind(), b.Kind()
	switch {
	case isNumeric(ka) && isNumeric(kb) && len(c.args) == 2:
		if order, ok := compareNumbers(a, b); ok {
			return value.FromInt(int64(order)), nil
		}
	case ka == value.String && kb == value.String && fold:
		return sign(compareFolded(a.Text(), b.Text())), nil
	case ka == value.String && kb == value.String:
		return sign(strings.Compare(a.Text(), b.Text())), nil
	}
	return a, c.failf("%s and %s cannot be compared", describe(a), describe(b))
}

func sign(n int) value.Value { return value.FromInt(int64(compareInts(int64(n), 0))) }

// extreme is max and min: of numbers, of strings, or of anything by its text; or by a lambda.
func extreme(direction int) func(*call) (value.Value, error) {
	return func(c *call) (value.Value, error) {
		list := c.args
		if len(list) == 1 && list[0].Kind() == value.Array {
			list = list[0].Slice()
		}
		if err := c.needs(2); err != nil {
			return value.Value{}, err
		}
		if len(list) == 0 && c.lambda == nil {
			return value.Value{}, c.failf("needs at least one value")
		}
		if len(list) == 0 {
			return value.Value{}, nil
		}
		compare := c.comparison(list)
		best := list[0]
		for _, v := range list[1:] {
			order, err := compare(v, best)
			if err == nil {
				err = c.ev.spend(1)
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
}

// comparison is how max and min compare list.
func (c *call) comparison(list []value.Value) func(a, b value.Value) (int, error) {
	if c.lambda != nil {
		return c.order
	}
	for _, v := range list {
		if !isNumeric(v.Kind()) {
			return func(a, b value.Value) (int, error) {
				return compareTexts(toS(a), toS(b)), c.ev.produce(weight(a) + weight(b))
			}
		}
	}
	return func(a, b value.Value) (int, error) {
		order, _ := compareNumbers(a, b)
		return order, nil
	}
}

var plainNumber = pattern.Lazy(`^-?\d+([._eE]\d+)?$`)

// compareTexts compares texts that are both numbers as numbers.
func compareTexts(a, b string) int {
	if plainNumber().MatchString(a) && plainNumber().MatchString(b) {
		x, _ := strconv.ParseFloat(strings.ReplaceAll(a, "_", ""), 64) // out of range is infinite, which compares well
		y, _ := strconv.ParseFloat(strings.ReplaceAll(b, "_", ""), 64)
		return compareFloats(x, y)
	}
	return strings.Compare(a, b)
}

// runFqdnRand is a number below max, always the same for one node and seed.
func runFqdnRand(c *call) (value.Value, error) {
	max, err := c.limit()
	if err != nil {
		return value.Value{}, err
	}
	fqdn := c.fqdn()
	if c.arg(2).Truthy() {
		fqdn = downcase(fqdn)
	}
	seed, err := c.joinDeep(value.FromSlice(c.args[1:min(2, len(c.args))]), ":")
	if err != nil {
		return value.Value{}, err
	}
	sum := md5.Sum(fmt.Appendf(nil, "%s:%d:%s", fqdn, max, seed))
	return value.FromInt(newRandom(new(big.Int).SetBytes(sum[:])).below(max)), nil
}

// leadingInt is what Ruby's to_i reads.
var leadingInt = pattern.Lazy(`^\s*([+-]?\d+)`)

func (c *call) limit() (int64, error) {
	n := int64(0)
	switch v := c.args[0]; v.Kind() {
	case value.Int:
		n = v.Int()
	case value.Float:
		whole, err := wholeNumber(v.Float())
		if err != nil {
			return 0, c.fail(err)
		}
		n = whole.Int()
	case value.String:
		if m := leadingInt().FindStringSubmatch(v.Text()); m != nil {
			whole, _ := parseInt(m[1], 10)
			n = whole.Int()
		}
	}
	if n < 1 {
		return 0, c.failf("argument 1 must be an Integer of 1 or more")
	}
	return n, nil
}

// fqdn is the node's name as facts give it.
func (c *call) fqdn() string {
	if facts, ok := c.ev.env.Variable("facts"); ok {
		networking, _ := facts.Get(value.FromString("networking"))
		if name, ok := networking.Get(value.FromString("fqdn")); ok {
			return toS(name)
		}
	}
	name, _ := c.ev.env.Variable("fqdn")
	return toS(name)
}

// versionPart splits a version into separators, numbers and words.
var versionPart = pattern.Lazy(`[-.]|\d+|[^-.\d]+`)

func runVersioncmp(c *call) (value.Value, error) {
	a, err := c.text(0)
	if err != nil {
		return value.Value{}, err
	}
	b, err := c.text(1)
	if err != nil {
		return value.Value{}, err
	}
	trim, err := c.flag(2, false)
	if err != nil {
		return value.Value{}, err
	}
	if err := c.ev.produce(sizeOfElement * (len(a) + len(b))); err != nil {
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

// compareParts orders - before . before everything else, and numbers by value unless one has leading zeros.
func compareParts(l, r string) int {
	for _, separator := range []string{"-", "."} {
		switch separator {
		case l:
			return -1
		case r:
			return 1
		}
	}
	if isNumber(l) && isNumber(r) && l[0] != '0' && r[0] != '0' {
		if len(l) != len(r) {
			return compareInts(int64(len(l)), int64(len(r)))
		}
		return strings.Compare(l, r)
	}
	return strings.Compare(upcase(l), upcase(r))
}
