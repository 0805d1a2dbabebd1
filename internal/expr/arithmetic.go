package expr

import (
	"math"
	"math/bits"

	"bindc/internal/value"
)

func (ev *evaluator) arithmetic(n *Node, left, right value.Value) (value.Value, error) {
	if k := left.Kind(); k == value.Array || k == value.Hash {
		switch {
		case n.Name == "+":
			return ev.concatenate(n, left, right)
		case n.Name == "-":
			return ev.without(left, right)
		case n.Name == "<<" && k == value.Array:
			return ev.array(append(left.Slice()[:left.Len():left.Len()], right))
		}
		return left, failf(n, "the operator %s does not apply to %s", n.Name, describe(left))
	}
	a, ok := toNumber(left)
	if !ok {
		return left, failf(n, "the operator %s needs numbers, found %s on the left", n.Name, describe(left))
	}
	b, ok := toNumber(right)
	if !ok {
		return right, failf(n, "the operator %s needs numbers, found %s on the right", n.Name, describe(right))
	}
	if a.Kind() == value.Float || b.Kind() == value.Float {
		return floatArithmetic(n, a, b)
	}
	return intArithmetic(n, a.Int(), b.Int())
}

func floatArithmetic(n *Node, left, right value.Value) (value.Value, error) {
	a, b := float(left), float(right)
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
		return left, failf(n, "the result of %s is no finite number", n.Name)
	}
	return value.FromFloat(r), nil
}

func float(v value.Value) float64 {
	if v.Kind() == value.Int {
		return float64(v.Int())
	}
	return v.Float()
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
		return value.Value{}, failf(n, "the result of %s is outside of 64 bits", n.Name)
	}
	return value.FromInt(r), nil
}

func multiply(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if (a < 0) != (b < 0) {
		return -int64(lo), hi == 0 && lo <= 1<<63
	}
	return int64(lo), hi == 0 && lo < 1<<63
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// divide rounds towards minus infinity, and the sign of a rest is that of b, as in Ruby.
func divide(operator string, a, b int64) int64 {
	if b == -1 { // also keeps the least integer from overflowing
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

// shift moves a to the left by n bits, or to the right by -n.
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

func (ev *evaluator) concatenate(n *Node, left, right value.Value) (value.Value, error) {
	if left.Kind() == value.Hash {
		return ev.merge(n, left, right)
	}
	var more []value.Value
	switch right.Kind() {
	case value.Array:
		more = right.Slice()
	case value.Hash:
		more = entries(right)
	default:
		more = []value.Value{right}
	}
	return ev.array(append(left.Slice()[:left.Len():left.Len()], more...))
}

// merge adds a hash, or an array that makes one, to a hash.
func (ev *evaluator) merge(n *Node, left, right value.Value) (value.Value, error) {
	switch {
	case right.Kind() != value.Array:
	case right.Len() == 1 && right.Index(0).Kind() == value.Hash:
		right = right.Index(0)
	default:
		h, err := ev.hashOfArray(right, allArrays(right))
		if err != nil {
			return left, err
		}
		right = h
	}
	if right.Kind() != value.Hash {
		return left, failf(n, "the operator + adds a Hash or an Array to a Hash, found %s", describe(right))
	}
	var b value.Builder
	for _, h := range []value.Value{left, right} {
		for k, e := range h.Pairs() {
			if err := ev.setKey(&b, k, e); err != nil {
				return left, err
			}
		}
	}
	return ev.finish(&b)
}

func allArrays(v value.Value) bool {
	for e := range v.Elems() {
		if e.Kind() != value.Array {
			return false
		}
	}
	return v.Len() > 0
}

// without is the difference of collections: elements or keys.
func (ev *evaluator) without(left, right value.Value) (value.Value, error) {
	drop := []value.Value{right}
	switch right.Kind() {
	case value.Array:
		drop = right.Slice()
	case value.Hash:
		drop = entries(right)
		if left.Kind() == value.Hash {
			drop = keys(right)
		}
	}
	if err := ev.spend((1 + left.Len()) * (1 + weight(right)) / stepsPerNode); err != nil {
		return left, err
	}
	if left.Kind() == value.Array {
		var out []value.Value
		for e := range left.Elems() {
			if indexOf(drop, e) < 0 {
				out = append(out, e)
			}
		}
		return ev.array(out)
	}
	var b value.Builder
	for k, e := range left.Pairs() {
		if holdsKey(drop, k) {
			continue
		}
		if err := ev.setKey(&b, k, e); err != nil {
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

func keys(h value.Value) []value.Value {
	out := make([]value.Value, 0, h.Len())
	for k := range h.Pairs() {
		out = append(out, k)
	}
	return out
}
