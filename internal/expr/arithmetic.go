package expr

import (
	"errors"
	"math"
	"math/bits"

	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

func (ev *Evaluator) arithmetic(n *Node, left, right value.Value) (value.Value, error) {
	if k := left.Kind(); k == value.Array || k == value.Hash {
		switch {
		case n.Name == "+":
			return ev.concatenate(n, left, right)
		case n.Name == "-":
			return ev.without(left, right)
		case n.Name == "<<" && k == value.Array:
			return ev.MakeArray(append(left.Slice()[:left.Len():left.Len()], right))
		}
		return left, failf(n, "the operator %s does not apply to %s", n.Name, Describe(left))
	}
	a, ok := ruby.Number(left)
	if !ok {
		return left, failf(n, "the operator %s needs numbers, found %s on the left", n.Name, Describe(left))
	}
	b, ok := ruby.Number(right)
	if !ok {
		return right, failf(n, "the operator %s needs numbers, found %s on the right", n.Name, Describe(right))
	}
	if a.Kind() == value.Float || b.Kind() == value.Float {
		return floatArithmetic(n, a, b)
	}
	return intArithmetic(n, a.Int(), b.Int())
}

func floatArithmetic(n *Node, left, right value.Value) (value.Value, error) {
	a, b := ruby.Float(left), ruby.Float(right)
	var r float64
	switch n.Name {
	case "+":
		r = a + b
	case "-":
		r = a - b
	case "*":
		r = a * b
	case "/":
		r = a / b
	case "<<", ">>":
		if left.Kind() == value.Int && math.Abs(b) < 1<<20 {
			return intArithmetic(n, left.Int(), int64(b))
		}
		fallthrough
	default:
		return left, failf(n, "the operator %s does not apply to a Float", n.Name)
	}
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return left, failf(n, "the result of %s is not a finite number", n.Name)
	}
	return value.FromFloat(r), nil
}

func intArithmetic(n *Node, a, b int64) (value.Value, error) {
	var r int64
	fits := true
	switch n.Name {
	case "+":
		r = a + b
		fits = (r > a) == (b > 0)
	case "-":
		r = a - b
		fits = (r < a) == (b > 0)
	case "*":
		r, fits = multiply(a, b)
	case "/", "%":
		if b == 0 {
			return value.Value{}, failf(n, "division by zero")
		}
		r, fits = divide(n.Name, a, b), !(n.Name == "/" && a == math.MinInt64 && b == -1)
	case "<<":
		r, fits = shift(a, b)
	case ">>":
		if b == math.MinInt64 {
			b++
		}
		r, fits = shift(a, -b)
	}
	if !fits {
		return value.Value{}, failf(n, "the result of %s does not fit in 64 bits", n.Name)
	}
	return value.FromInt(r), nil
}

func multiply(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(ruby.Magnitude(a), ruby.Magnitude(b))
	if (a < 0) != (b < 0) {
		return -int64(lo), hi == 0 && lo <= 1<<63
	}
	return int64(lo), hi == 0 && lo < 1<<63
}

// divide returns a/b rounded towards minus infinity. For the operator %, it returns the remainder, which has the sign
// of b as in Ruby.
func divide(operator string, a, b int64) int64 {
	if b == -1 { // avoid an overflow for the smallest integer
		if operator == "%" {
			return 0
		}
		return -a
	}
	q, r := a/b, a%b
	if r != 0 && (r < 0) != (b < 0) {
		q, r = q-1, r+b
	}
	if operator == "%" {
		return r
	}
	return q
}

// shift shifts a to the left by n bits, or to the right by -n bits. It returns false if the result does not fit in 64
// bits.
func shift(a, n int64) (int64, bool) {
	switch {
	case n <= -64:
		return a >> 63, true
	case n < 0:
		return a >> -n, true
	case a == 0:
		return 0, true
	case n >= 64:
		return 0, false
	}
	r := a << n
	return r, r>>n == a
}

func (ev *Evaluator) concatenate(n *Node, left, right value.Value) (value.Value, error) {
	if left.Kind() == value.Hash {
		return ev.merge(n, left, right)
	}
	var more []value.Value
	switch right.Kind() {
	case value.Array:
		more = right.Slice()
	case value.Hash:
		more = ruby.Pairs(right)
	default:
		more = []value.Value{right}
	}
	return ev.MakeArray(append(left.Slice()[:left.Len():left.Len()], more...))
}

// merge adds the entries of right to the hash left. right must be a hash, or an array that can be converted to one.
func (ev *Evaluator) merge(n *Node, left, right value.Value) (value.Value, error) {
	switch {
	case right.Kind() != value.Array:
	case right.Len() == 1 && right.Index(0).Kind() == value.Hash:
		right = right.Index(0)
	default:
		h, err := ev.HashOfArray(right, allArrays(right))
		if err != nil {
			return left, err
		}
		right = h
	}
	if right.Kind() != value.Hash {
		return left, failf(n, "the operator + adds a Hash or an Array to a Hash, found %s", Describe(right))
	}
	var b value.Builder
	for _, h := range []value.Value{left, right} {
		for k, e := range h.Pairs() {
			if err := ev.SetKey(&b, k, e); err != nil {
				return left, err
			}
		}
	}
	return ev.MakeHash(&b)
}

func allArrays(v value.Value) bool {
	for e := range v.Elems() {
		if e.Kind() != value.Array {
			return false
		}
	}
	return v.Len() > 0
}

func (ev *Evaluator) without(left, right value.Value) (value.Value, error) {
	drop := []value.Value{right}
	switch right.Kind() {
	case value.Array:
		drop = right.Slice()
	case value.Hash:
		drop = ruby.Pairs(right)
		if left.Kind() == value.Hash {
			drop = ruby.Keys(right)
		}
	}
	if err := ev.spendProduct(1+left.Len(), 1+Weight(right)); err != nil {
		return left, err
	}
	if left.Kind() == value.Array {
		var out []value.Value
		for e := range left.Elems() {
			if ruby.IndexOf(drop, e) < 0 {
				out = append(out, e)
			}
		}
		return ev.MakeArray(out)
	}
	var b value.Builder
	for k, e := range left.Pairs() {
		if holdsKey(drop, k) {
			continue
		}
		if err := ev.SetKey(&b, k, e); err != nil {
			return left, err
		}
	}
	return b.Hash(), nil
}

func holdsKey(keys []value.Value, k value.Value) bool {
	for _, d := range keys {
		if value.Identical(d, k) {
			return true
		}
	}
	return false
}

// HashOfArray converts the array v to a hash. If pairs is set, the elements of v are pairs; otherwise keys and values
// alternate.
func (ev *Evaluator) HashOfArray(v value.Value, pairs bool) (value.Value, error) {
	list := v.Slice()
	if pairs {
		list = make([]value.Value, 0, 2*v.Len())
		for e := range v.Elems() {
			if e.Len() < 1 || e.Len() > 2 {
				return v, errPairs
			}
			list = append(list, e.Index(0), e.Index(1))
		}
	}
	if len(list)%2 != 0 {
		return v, errOdd
	}
	var b value.Builder
	for i := 0; i < len(list); i += 2 {
		if err := ev.SetKey(&b, list[i], list[i+1]); err != nil {
			return v, err
		}
	}
	return ev.MakeHash(&b)
}

var (
	errPairs = errors.New("the elements of the Array must be pairs")
	errOdd   = errors.New("an Array of keys and values must have an even length")
)
