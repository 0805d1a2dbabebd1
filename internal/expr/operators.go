package expr

import (
	"math"
	"math/bits"
	"strings"

	"bindc/internal/types"
	"bindc/internal/value"
)

// operators are the names of Binary nodes.
var operators = []string{"+", "-", "*", "/", "%", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "=~", "!~", "in", "and", "or"}

func (ev *evaluator) unary(n *Node) (value.Value, error) {
	v, err := ev.eval(n.Kids[0])
	if err != nil {
		return v, err
	}
	if n.Name == "!" {
		return value.FromBool(!v.Truthy()), nil
	}
	num, ok := toNumber(v)
	switch {
	case !ok:
		return v, failf(n, "the operator - needs a number, found %s", describe(v))
	case num.Kind() == value.Float:
		return value.FromFloat(-num.Float()), nil
	case num.Int() == math.MinInt64:
		return v, failf(n, "the result of - is outside of 64 bits")
	}
	return value.FromInt(-num.Int()), nil
}

func (ev *evaluator) binary(n *Node) (value.Value, error) {
	left, err := ev.eval(n.Kids[0])
	if err != nil {
		return left, err
	}
	if n.Name == "and" && !left.Truthy() || n.Name == "or" && left.Truthy() {
		return value.FromBool(n.Name == "or"), nil
	}
	right, err := ev.eval(n.Kids[1])
	if err != nil {
		return right, err
	}
	switch n.Name {
	case "and", "or":
		return value.FromBool(right.Truthy()), nil
	case "==", "!=":
		same, err := ev.equals(left, right)
		return value.FromBool(same == (n.Name == "==")), err
	case "<", "<=", ">", ">=":
		holds, err := ev.ordered(n, left, right)
		return value.FromBool(holds), err
	case "in":
		holds, err := ev.contains(right, left)
		return value.FromBool(holds), err
	case "=~", "!~":
		holds, err := ev.matchOperator(n, left, right)
		return value.FromBool(holds == (n.Name == "=~")), err
	}
	return ev.arithmetic(n, left, right)
}

// describe is the type of v, for messages.
func describe(v value.Value) string { return types.Infer(v).String() }

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
	if right.Kind() == value.Array {
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

// ordered is < <= > >=, of types too.
func (ev *evaluator) ordered(n *Node, left, right value.Value) (bool, error) {
	if left.Kind() == value.Type {
		return orderedTypes(n.Name, left, right)
	}
	c, ok := compare(left, right)
	if !ok {
		return false, failf(n, "%s and %s cannot be compared with %s", describe(left), describe(right), n.Name)
	}
	switch n.Name {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

func orderedTypes(operator string, left, right value.Value) (bool, error) {
	a, err := types.FromValue(left)
	if err != nil || right.Kind() != value.Type {
		return false, err
	}
	b, err := types.FromValue(right)
	if err != nil {
		return false, err
	}
	if operator[0] == '<' {
		a, b = b, a
	}
	return a.Accepts(b) && (len(operator) > 1 || !b.Accepts(a)), nil
}

// compare orders strings without regard to the case of ASCII letters, and numbers; ok is false for anything else.
func compare(a, b value.Value) (c int, ok bool) {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case ka == value.String && kb == value.String:
		return compareFolded(a.Text(), b.Text()), true
	case isNumeric(ka) && isNumeric(kb):
		return compareNumbers(a, b)
	case ka == value.Default && kb == value.Default:
		return 0, true
	}
	return 0, false
}

func isNumeric(k value.Kind) bool { return k == value.Int || k == value.Float }

// compareFolded compares bytes, ASCII letters by their lower case.
func compareFolded(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if x, y := lower(a[i]), lower(b[i]); x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// compareNumbers compares exactly, also integers that no float holds.
func compareNumbers(a, b value.Value) (int, bool) {
	switch {
	case a.Kind() == value.Int && b.Kind() == value.Int:
		return compareInts(a.Int(), b.Int()), true
	case a.Kind() == value.Float && b.Kind() == value.Float:
		return compareFloats(a.Float(), b.Float()), !math.IsNaN(a.Float()) && !math.IsNaN(b.Float())
	case a.Kind() == value.Float:
		c, ok := compareNumbers(b, a)
		return -c, ok
	}
	f := b.Float()
	switch {
	case f >= 1<<63:
		return -1, true
	case f < -1<<63:
		return 1, true
	}
	if c := compareInts(a.Int(), int64(f)); c != 0 { // int64 drops the fraction
		return c, !math.IsNaN(f)
	}
	return compareFloats(math.Trunc(f), f), !math.IsNaN(f)
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// equals is ==: strings regardless of case, at every depth. It counts its steps, as values may be compared in loops.
func (ev *evaluator) equals(a, b value.Value) (bool, error) {
	if err := ev.spend(1); err != nil {
		return false, err
	}
	switch ka, kb := a.Kind(), b.Kind(); {
	case isNumeric(ka) && isNumeric(kb):
		c, ok := compareNumbers(a, b)
		return ok && c == 0, nil
	case ka != kb:
		return false, nil
	case ka == value.String:
		return len(a.Text()) == len(b.Text()) && compareFolded(a.Text(), b.Text()) == 0, nil
	case ka == value.Array:
		return ev.equalArrays(a, b)
	case ka == value.Hash:
		return ev.equalHashes(a, b)
	case ka == value.Type:
		return equalTypes(a, b)
	}
	return value.Identical(a, b), nil
}

func equalTypes(a, b value.Value) (bool, error) {
	x, err := types.FromValue(a)
	if err != nil {
		return false, err
	}
	y, err := types.FromValue(b)
	return err == nil && x.Equal(y), err
}

func (ev *evaluator) equalArrays(a, b value.Value) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	right := b.Slice()
	i := 0
	for e := range a.Elems() {
		if same, err := ev.equals(e, right[i]); !same || err != nil {
			return false, err
		}
		i++
	}
	return true, nil
}

func (ev *evaluator) equalHashes(a, b value.Value) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	for k, e := range a.Pairs() {
		f, _ := b.Get(k)
		if same, err := ev.equals(f, e); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// matches tells whether v fits an option of case or a selector, or an element that `in` looks at.
func (ev *evaluator) matches(v, option value.Value) (bool, error) {
	switch option.Kind() {
	case value.Default:
		return true, nil
	case value.Regexp:
		if v.Kind() != value.String {
			return false, nil
		}
		return ev.matchText(option.Text(), v.Text())
	case value.Type:
		return ev.isA(v, option)
	case value.Array:
		return ev.matchesArray(v, option)
	case value.Hash:
		return ev.matchesHash(v, option)
	}
	return ev.equals(v, option)
}

func (ev *evaluator) isA(v, typ value.Value) (bool, error) {
	t, err := types.FromValue(typ)
	if err != nil {
		return false, err
	}
	if err := ev.traverse(v); err != nil {
		return false, err
	}
	return t.Instance(v), nil
}

func (ev *evaluator) matchesArray(v, option value.Value) (bool, error) {
	if v.Kind() != value.Array || v.Len() != option.Len() {
		return false, nil
	}
	elems := v.Slice()
	i := 0
	for o := range option.Elems() {
		if fits, err := ev.matches(elems[i], o); !fits || err != nil {
			return false, err
		}
		i++
	}
	return true, nil
}

func (ev *evaluator) matchesHash(v, option value.Value) (bool, error) {
	if v.Kind() != value.Hash {
		return false, nil
	}
	for k, o := range option.Pairs() {
		e, _ := v.Get(k)
		if fits, err := ev.matches(e, o); !fits || err != nil {
			return false, err
		}
	}
	return true, nil
}

// contains is `item in in`.
func (ev *evaluator) contains(in, item value.Value) (bool, error) {
	switch in.Kind() {
	case value.String:
		switch item.Kind() {
		case value.String:
			if err := ev.spend(len(in.Text()) / 16); err != nil {
				return false, err
			}
			return strings.Contains(downcase(in.Text()), downcase(item.Text())), nil
		case value.Regexp:
			return ev.matchText(item.Text(), in.Text())
		}
		return false, nil
	case value.Array:
		return ev.anyElement(in.Slice(), item)
	case value.Hash:
		return ev.anyElement(keys(in), item)
	}
	return false, nil
}

func (ev *evaluator) anyElement(elems []value.Value, item value.Value) (bool, error) {
	for _, e := range elems {
		var found bool
		var err error
		switch item.Kind() {
		case value.Regexp:
			if e.Kind() == value.String {
				found, err = ev.matchText(item.Text(), e.Text())
			}
		case value.String:
			found, err = ev.matches(item, e)
		case value.Type:
			found, err = ev.isA(e, item)
		default:
			found, err = ev.equals(e, item)
		}
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// matchOperator is =~.
func (ev *evaluator) matchOperator(n *Node, left, right value.Value) (bool, error) {
	switch right.Kind() {
	case value.Type:
		return ev.isA(left, right)
	case value.String, value.Regexp:
		if left.Kind() != value.String {
			return false, failf(n, "the operator %s needs a String on the left, found %s", n.Name, describe(left))
		}
		return ev.matchText(right.Text(), left.Text())
	}
	return false, failf(n, "the operator %s needs a regular expression or a type on the right, found %s", n.Name, describe(right))
}
