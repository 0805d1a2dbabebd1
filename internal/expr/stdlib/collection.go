package stdlib

import (
	"slices"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

func runAll(c *call) (value.Value, error) { return quantify(c, false) }
func runAny(c *call) (value.Value, error) { return quantify(c, true) }

// quantify calls the lambda for each element until the lambda returns wanted. Then it returns wanted itself. If the
// lambda never does, quantify returns the opposite.
func quantify(c *call, wanted bool) (value.Value, error) {
	src, err := iterable(c)
	if err != nil {
		return value.Value{}, err
	}
	result := !wanted
	err = loop(c, src, func(_, _, answer value.Value) bool {
		if answer.Truthy() == wanted {
			result = wanted
			return false
		}
		return true
	})
	return value.FromBool(result), err
}

func runEach(c *call) (value.Value, error) {
	src, err := iterable(c)
	if err != nil {
		return value.Value{}, err
	}
	return c.Args[0], loop(c, src, func(_, _, _ value.Value) bool { return true })
}

func runMap(c *call) (value.Value, error) {
	src, err := iterable(c)
	if err != nil {
		return value.Value{}, err
	}
	var out []value.Value
	if err := loop(c, src, func(_, _, answer value.Value) bool {
		out = append(out, answer)
		return true
	}); err != nil {
		return value.Value{}, err
	}
	return c.MakeArray(out)
}

func runFilter(c *call) (value.Value, error) {
	src, err := iterable(c)
	if err != nil {
		return value.Value{}, err
	}
	var keys, kept []value.Value
	if err := loop(c, src, func(k, e, answer value.Value) bool {
		if answer.Truthy() {
			keys, kept = append(keys, k), append(kept, e)
		}
		return true
	}); err != nil {
		return value.Value{}, err
	}
	if !src.hash {
		return c.MakeArray(kept)
	}
	var b value.Builder
	for i, k := range keys {
		if err := c.SetKey(&b, k, kept[i]); err != nil {
			return value.Value{}, err
		}
	}
	return c.MakeHash(&b)
}

func runReduce(c *call) (value.Value, error) {
	if err := c.Needs(2); err != nil {
		return value.Value{}, err
	}
	src, err := iterable(c)
	if err != nil {
		return value.Value{}, err
	}
	memo, started := c.Arg(1), len(c.Args) > 1
	for k, e := range src.seq {
		if src.hash {
			e = value.FromSlice([]value.Value{k, e})
		}
		if !started {
			memo, started = e, true
			continue
		}
		if memo, err = c.Yield(memo, e); err != nil {
			return memo, err
		}
	}
	return memo, nil
}

// runIndex returns the position of the first element that equals argument 1, or for which the lambda is true.
func runIndex(c *call) (value.Value, error) {
	switch {
	case c.Lambda != nil && len(c.Args) == 1:
		return indexBy(c)
	case c.Lambda != nil || len(c.Args) < 2:
		return value.Value{}, c.Failf("needs either a lambda or a value to search for")
	}
	if c.Args[0].Kind() == value.String {
		return indexInText(c)
	}
	src, err := iterable(c)
	if err != nil {
		return value.Value{}, err
	}
	for k, e := range src.seq {
		if err := c.Spend(1 + expr.Weight(c.Args[1])/expr.StepsPerNode); err != nil {
			return value.Value{}, err
		}
		if ruby.Equal(e, c.Args[1]) {
			return k, nil
		}
	}
	return value.Value{}, nil
}

func indexBy(c *call) (value.Value, error) {
	src, err := iterable(c)
	if err != nil {
		return value.Value{}, err
	}
	two := c.Lambda.Takes(2)
	if err := c.Needs(1); err != nil && !two {
		return value.Value{}, err
	}
	for k, e := range src.seq {
		args := []value.Value{e} // unlike other functions, index passes only the values of a hash
		if two {
			args = []value.Value{k, e}
		}
		answer, err := c.Yield(args...)
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
	if err := c.Needs(0); err != nil {
		return value.Value{}, err
	}
	if !c.Args[0].IsUndef() {
		return c.Args[0], nil
	}
	return c.Yield()
}

func runThen(c *call) (value.Value, error) {
	if err := c.Needs(1); err != nil {
		return value.Value{}, err
	}
	if c.Args[0].IsUndef() {
		return c.Args[0], nil
	}
	return c.Yield(c.Args[0])
}

func runWith(c *call) (value.Value, error) { return c.Yield(c.Args...) }

func runReverseEach(c *call) (value.Value, error) {
	elems, err := elements(c)
	if err != nil {
		return value.Value{}, err
	}
	slices.Reverse(elems)
	return yieldEach(c, elems)
}

// yieldEach calls the lambda for each element and returns undef. Without a lambda it returns elems.
func yieldEach(c *call, elems []value.Value) (value.Value, error) {
	if c.Lambda == nil {
		return c.MakeArray(elems)
	}
	if err := c.Needs(1); err != nil {
		return value.Value{}, err
	}
	for _, e := range elems {
		if _, err := c.Yield(e); err != nil {
			return value.Value{}, err
		}
	}
	return value.Value{}, nil
}

func runStep(c *call) (value.Value, error) {
	step := c.Args[1]
	if step.Kind() != value.Int || step.Int() < 1 {
		return value.Value{}, c.Wrong(1, "an Integer of 1 or more")
	}
	src, err := iterable(c)
	if err != nil {
		return value.Value{}, err
	}
	var out []value.Value
	i := int64(0)
	for k, e := range src.seq {
		if err := c.Spend(1); err != nil {
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
	if err := c.Produce(expr.SizeOfElement * len(out)); err != nil {
		return value.Value{}, err
	}
	return yieldEach(c, out)
}

func runSlice(c *call) (value.Value, error) {
	size := c.Args[1]
	if size.Kind() != value.Int || size.Int() < 1 {
		return value.Value{}, c.Wrong(1, "an Integer of 1 or more")
	}
	elems, err := elements(c)
	if err != nil {
		return value.Value{}, err
	}
	n := int(min(size.Int(), int64(max(len(elems), 1))))
	if c.Lambda != nil {
		return c.Args[0], yieldSlices(c, elems, n, size.Int())
	}
	var out []value.Value
	for part := range slices.Chunk(elems, n) {
		out = append(out, value.FromSlice(part))
	}
	return c.MakeArray(out)
}

// yieldSlices calls the lambda with n elements at a time: as one array if it has one parameter, otherwise as separate
// arguments. It pads the last call with undef, or with empty arrays for a hash.
func yieldSlices(c *call, elems []value.Value, n int, size int64) error {
	params := len(c.Lambda.Params)
	if params != 1 && !c.Lambda.HasRest() && int64(params) != size || params == 0 {
		return c.Failf("expected a lambda with 1 parameter or as many as a slice has, found %d", params)
	}
	filler := value.Value{}
	if c.Args[0].Kind() == value.Hash {
		filler = value.FromSlice(nil)
	}
	for part := range slices.Chunk(elems, n) {
		args := []value.Value{value.FromSlice(part)}
		if params > 1 || c.Lambda.HasRest() {
			args = slices.Clone(part)
			for len(args) < params && !c.Lambda.HasRest() {
				args = append(args, filler)
			}
		}
		if _, err := c.Yield(args...); err != nil {
			return err
		}
	}
	return nil
}

func runFlatten(c *call) (value.Value, error) {
	n := 0
	for _, a := range c.Args {
		n += expr.Weight(a)
	}
	if err := c.Produce(n); err != nil {
		return value.Value{}, err
	}
	return c.MakeArray(ruby.Flatten(c.Args, -1))
}

func runKeys(c *call) (value.Value, error) {
	if c.Args[0].Kind() != value.Hash {
		return value.Value{}, c.Wrong(0, "a Hash")
	}
	return c.MakeArray(ruby.Keys(c.Args[0]))
}

func runValues(c *call) (value.Value, error) {
	if c.Args[0].Kind() != value.Hash {
		return value.Value{}, c.Wrong(0, "a Hash")
	}
	out := make([]value.Value, 0, c.Args[0].Len())
	for _, e := range c.Args[0].Pairs() {
		out = append(out, e)
	}
	return c.MakeArray(out)
}

func runLength(c *call) (value.Value, error) {
	switch v := c.Args[0]; v.Kind() {
	case value.Array, value.Hash:
		return value.FromInt(int64(v.Len())), nil
	case value.String:
		return value.FromInt(int64(utf8.RuneCountInString(v.Text()))), nil
	}
	return value.Value{}, c.Wrong(0, "an Array, a Hash or a String")
}

func runEmpty(c *call) (value.Value, error) {
	switch v := c.Args[0]; v.Kind() {
	case value.Array, value.Hash:
		return value.FromBool(v.Len() == 0), nil
	case value.String:
		return value.FromBool(v.Text() == ""), nil
	case value.Int, value.Float:
		return value.FromBool(false), nil
	case value.Undef:
		return value.FromBool(true), nil
	}
	return value.Value{}, c.Wrong(0, "an Array, a Hash or a String")
}
