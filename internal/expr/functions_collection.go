package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bindc/internal/value"
)

func runAll(c *call) (value.Value, error) { return c.quantify(false) }
func runAny(c *call) (value.Value, error) { return c.quantify(true) }

// quantify stops at the first answer that is as wanted, and answers whether there was one, or none.
func (c *call) quantify(wanted bool) (value.Value, error) {
	src, err := c.iterable()
	if err != nil {
		return value.Value{}, err
	}
	result := !wanted
	err = c.loop(src, func(_, _, answer value.Value) bool {
		if answer.Truthy() == wanted {
			result = wanted
			return false
		}
		return true
	})
	return value.FromBool(result), err
}

func runEach(c *call) (value.Value, error) {
	src, err := c.iterable()
	if err != nil {
		return value.Value{}, err
	}
	return c.args[0], c.loop(src, func(_, _, _ value.Value) bool { return true })
}

func runMap(c *call) (value.Value, error) {
	src, err := c.iterable()
	if err != nil {
		return value.Value{}, err
	}
	var out []value.Value
	if err := c.loop(src, func(_, _, answer value.Value) bool {
		out = append(out, answer)
		return true
	}); err != nil {
		return value.Value{}, err
	}
	return c.ev.array(out)
}

func runFilter(c *call) (value.Value, error) {
	src, err := c.iterable()
	if err != nil {
		return value.Value{}, err
	}
	var keys, kept []value.Value
	if err := c.loop(src, func(k, e, answer value.Value) bool {
		if answer.Truthy() {
			keys, kept = append(keys, k), append(kept, e)
		}
		return true
	}); err != nil {
		return value.Value{}, err
	}
	if !src.hash {
		return c.ev.array(kept)
	}
	var b value.Builder
	for i, k := range keys {
		if err := c.ev.setKey(&b, k, kept[i]); err != nil {
			return value.Value{}, err
		}
	}
	return c.ev.finish(&b)
}

func runReduce(c *call) (value.Value, error) {
	if err := c.needs(2); err != nil {
		return value.Value{}, err
	}
	src, err := c.iterable()
	if err != nil {
		return value.Value{}, err
	}
	memo, started := c.arg(1), len(c.args) > 1
	for k, e := range src.seq {
		if src.hash {
			e = value.FromSlice([]value.Value{k, e})
		}
		if !started {
			memo, started = e, true
			continue
		}
		if memo, err = c.yield(memo, e); err != nil {
			return memo, err
		}
	}
	return memo, nil
}

// runIndex finds by a lambda or by a value.
func runIndex(c *call) (value.Value, error) {
	switch {
	case c.lambda != nil && len(c.args) == 1:
		return c.indexBy()
	case c.lambda != nil || len(c.args) < 2:
		return value.Value{}, c.failf("needs either a lambda or a value to look for")
	}
	if c.args[0].Kind() == value.String {
		return c.indexInText()
	}
	src, err := c.iterable()
	if err != nil {
		return value.Value{}, err
	}
	for k, e := range src.seq {
		if err := c.ev.spend(1 + weight(c.args[1])/stepsPerNode); err != nil {
			return value.Value{}, err
		}
		if same(e, c.args[1]) {
			return k, nil
		}
	}
	return value.Value{}, nil
}

func (c *call) indexBy() (value.Value, error) {
	src, err := c.iterable()
	if err != nil {
		return value.Value{}, err
	}
	two := c.lambda.accepts(2)
	if err := c.needs(1); err != nil && !two {
		return value.Value{}, err
	}
	for k, e := range src.seq {
		args := []value.Value{e} // unlike elsewhere, a hash yields its values
		if two {
			args = []value.Value{k, e}
		}
		answer, err := c.yield(args...)
		if err != nil {
			return value.Value{}, err
		}
		if answer.Truthy() {
			return k, nil
		}
	}
	return value.Value{}, nil
}

func runLest(c *call) (value.Value, error) {
	if err := c.needs(0); err != nil {
		return value.Value{}, err
	}
	if !c.args[0].IsUndef() {
		return c.args[0], nil
	}
	return c.yield()
}

func runThen(c *call) (value.Value, error) {
	if err := c.needs(1); err != nil {
		return value.Value{}, err
	}
	if c.args[0].IsUndef() {
		return c.args[0], nil
	}
	return c.yield(c.args[0])
}

func runWith(c *call) (value.Value, error) { return c.yield(c.args...) }

func runReverseEach(c *call) (value.Value, error) {
	elems, err := c.elements()
	if err != nil {
		return value.Value{}, err
	}
	slices.Reverse(elems)
	return c.yieldEach(elems)
}

// yieldEach calls the lambda with each element and answers undef; without a lambda it answers with the elements.
func (c *call) yieldEach(elems []value.Value) (value.Value, error) {
	if c.lambda == nil {
		return c.ev.array(elems)
	}
	if err := c.needs(1); err != nil {
		return value.Value{}, err
	}
	for _, e := range elems {
		if _, err := c.yield(e); err != nil {
			return value.Value{}, err
		}
	}
	return value.Value{}, nil
}

func runStep(c *call) (value.Value, error) {
	step := c.args[1]
	if step.Kind() != value.Int || step.Int() < 1 {
		return value.Value{}, c.wrong(1, "an Integer of 1 or more")
	}
	src, err := c.iterable()
	if err != nil {
		return value.Value{}, err
	}
	var out []value.Value
	i := int64(0)
	for k, e := range src.seq {
		if err := c.ev.spend(1); err != nil {
			return value.Value{}, err
		}
		if i%step.Int() == 0 {
			if src.hash {
				e = value.FromSlice([]value.Value{k, e})
			}
			out = append(out, e)
		}
		i++
	}
	if err := c.ev.produce(sizeOfElement * len(out)); err != nil {
		return value.Value{}, err
	}
	return c.yieldEach(out)
}

func runSlice(c *call) (value.Value, error) {
	size := c.args[1]
	if size.Kind() != value.Int || size.Int() < 1 {
		return value.Value{}, c.wrong(1, "an Integer of 1 or more")
	}
	elems, err := c.elements()
	if err != nil {
		return value.Value{}, err
	}
	n := int(min(size.Int(), int64(max(len(elems), 1))))
	if c.lambda != nil {
		return c.args[0], c.yieldSlices(elems, n, size.Int())
	}
	var out []value.Value
	for part := range slices.Chunk(elems, n) {
		out = append(out, value.FromSlice(part))
	}
	return c.ev.array(out)
}

// yieldSlices calls the lambda with n elements at a time: as one array if it takes one parameter, else one by one,
// filled up with undef.
func (c *call) yieldSlices(elems []value.Value, n int, size int64) error {
	params := len(c.lambda.lambda.Params)
	if params != 1 && !c.lambda.rest() && int64(params) != size || params == 0 {
		return c.failf("the lambda must take 1 parameter or as many as a slice has, it has %d", params)
	}
	filler := value.Value{}
	if c.args[0].Kind() == value.Hash {
		filler = value.FromSlice(nil)
	}
	for part := range slices.Chunk(elems, n) {
		args := []value.Value{value.FromSlice(part)}
		if params > 1 || c.lambda.rest() {
			args = slices.Clone(part)
			for len(args) < params && !c.lambda.rest() {
				args = append(args, filler)
			}
		}
		if _, err := c.yield(args...); err != nil {
			return err
		}
	}
	return nil
}

func runFlatten(c *call) (value.Value, error) {
	n := 0
	for _, a := range c.args {
		n += weight(a)
	}
	if err := c.ev.produce(n); err != nil {
		return value.Value{}, err
	}
	return c.ev.array(flatten(c.args, -1))
}

func runKeys(c *call) (value.Value, error) {
	if c.args[0].Kind() != value.Hash {
		return value.Value{}, c.wrong(0, "a Hash")
	}
	return c.ev.array(keys(c.args[0]))
}

func runValues(c *call) (value.Value, error) {
	if c.args[0].Kind() != value.Hash {
		return value.Value{}, c.wrong(0, "a Hash")
	}
	out := make([]value.Value, 0, c.args[0].Len())
	for _, e := range c.args[0].Pairs() {
		out = append(out, e)
	}
	return c.ev.array(out)
}

func runLength(c *call) (value.Value, error) {
	switch v := c.args[0]; v.Kind() {
	case value.Array, value.Hash:
		return value.FromInt(int64(v.Len())), nil
	case value.String:
		return value.FromInt(int64(utf8.RuneCountInString(v.Text()))), nil
	}
	return value.Value{}, c.wrong(0, "an Array, a Hash or a String")
}

func runEmpty(c *call) (value.Value, error) {
	switch v := c.args[0]; v.Kind() {
	case value.Array, value.Hash:
		return value.FromBool(v.Len() == 0), nil
	case value.String:
		return value.FromBool(v.Text() == ""), nil
	case value.Int, value.Float:
		return value.FromBool(false), nil
	case value.Undef:
		return value.FromBool(true), nil
	}
	return value.Value{}, c.wrong(0, "an Array, a Hash or a String")
}

// runSort sorts an array, or the characters of a string. Without a lambda, case counts.
func runSort(c *call) (value.Value, error) {
	v := c.args[0]
	if v.Kind() != value.Array && v.Kind() != value.String {
		return value.Value{}, c.wrong(0, "an Array or a String")
	}
	if err := c.needs(2); err != nil {
		return value.Value{}, err
	}
	elems, err := c.elements()
	if err != nil {
		return value.Value{}, err
	}
	slices.SortStableFunc(elems, func(a, b value.Value) int {
		if err != nil {
			return 0
		}
		var order int
		order, err = c.order(a, b)
		return order
	})
	if v.Kind() == value.String {
		return joined(elems), err
	}
	return value.FromSlice(elems), err
}

// joined is the String of characters.
func joined(characters []value.Value) value.Value {
	var b strings.Builder
	for _, c := range characters {
		b.WriteString(c.Text())
	}
	return value.FromString(b.String())
}

// order compares by the lambda, or as Ruby's <=>.
func (c *call) order(a, b value.Value) (int, error) {
	if err := c.ev.spend(1); err != nil {
		return 0, err
	}
	if c.lambda == nil {
		if err := c.ev.traverse(a); err != nil {
			return 0, err
		}
		order, ok := Order(a, b)
		if !ok {
			return 0, c.failf("%s and %s cannot be ordered", describe(a), describe(b))
		}
		return order, nil
	}
	answer, err := c.yield(a, b)
	if err != nil {
		return 0, err
	}
	if !isNumeric(answer.Kind()) {
		return 0, c.failf("the lambda must answer with a number, it answered with %s", describe(answer))
	}
	order, _ := compareNumbers(answer, value.FromInt(0))
	return order, nil
}

// identity is a key that is the same for values that are the same value of the same kind.
func identity(v value.Value) string { return string(value.AppendIdentity(nil, v)) }

func runUnique(c *call) (value.Value, error) {
	if err := c.needs(1); err != nil {
		return value.Value{}, err
	}
	if c.args[0].Kind() == value.Hash {
		return c.uniqueHash()
	}
	elems, err := c.elements()
	if err != nil {
		return value.Value{}, err
	}
	out, err := c.unique(elems)
	if err != nil {
		return value.Value{}, err
	}
	if c.args[0].Kind() == value.String {
		return joined(out), nil
	}
	return value.FromSlice(out), nil
}

// unique keeps the first of elements that are the same, or for which the lambda answers the same.
func (c *call) unique(elems []value.Value) ([]value.Value, error) {
	seen := map[string]bool{}
	out := elems[:0:0]
	for _, e := range elems {
		id, err := c.identify(e)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, e)
		}
	}
	return out, nil
}

func (c *call) identify(v value.Value) (string, error) {
	if c.lambda != nil {
		answer, err := c.yield(v)
		if err != nil {
			return "", err
		}
		v = answer
	}
	id := identity(v)
	if err := c.ev.spend(1); err != nil {
		return "", err
	}
	return id, c.ev.produce(len(id))
}

// uniqueHash groups keys whose values are the same: {[a, b] => [1]}.
func (c *call) uniqueHash() (value.Value, error) {
	type group struct{ keys, values []value.Value }
	var groups []*group
	byID := map[string]*group{}
	for k, e := range c.args[0].Pairs() {
		id, err := c.identify(e)
		if err != nil {
			return value.Value{}, err
		}
		g := byID[id]
		if g == nil {
			g = &group{}
			byID[id] = g
			groups = append(groups, g)
		}
		g.keys, g.values = append(g.keys, k), append(g.values, e)
	}
	var b value.Builder
	plain := *c
	plain.lambda = nil
	for _, g := range groups {
		values, err := plain.unique(g.values)
		if err == nil {
			err = c.ev.setKey(&b, value.FromSlice(g.keys), value.FromSlice(values))
		}
		if err != nil {
			return value.Value{}, err
		}
	}
	return c.ev.finish(&b)
}
