package stdlib

import (
	"iter"
	"math"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// source is a value to iterate over. seq yields indexes and elements, or the keys and values of a hash.
type source struct {
	hash bool
	seq  iter.Seq2[value.Value, value.Value]
}

// iterable returns a source for argument 0, or an error if Puppet cannot iterate over it.
func iterable(c *call) (source, error) {
	v := c.Args[0]
	switch v.Kind() {
	case value.Hash:
		return source{true, v.Pairs()}, nil
	case value.Array:
		return source{seq: numbered(v.Elems())}, nil
	case value.String:
		return source{seq: numbered(characters(v.Text()))}, nil
	case value.Int:
		if v.Int() >= 0 {
			return source{seq: numbered(integers(0, v.Int()-1))}, nil
		}
	case value.Type:
		if t, err := types.FromValue(v); err == nil && t.Finite() {
			return source{seq: numbered(integers(t.Bounds()))}, nil
		} else if err == nil && t.Kind() == types.Enum {
			return source{seq: numbered(value.Strings(t.Texts()...).Elems())}, nil
		}
	}
	return source{}, c.Wrong(0, "something to iterate over")
}

func numbered(elems iter.Seq[value.Value]) iter.Seq2[value.Value, value.Value] {
	return func(yield func(value.Value, value.Value) bool) {
		i := int64(0)
		for e := range elems {
			if !yield(value.FromInt(i), e) {
				return
			}
			i++
		}
	}
}

func characters(s string) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for s != "" {
			_, size := utf8.DecodeRuneInString(s)
			if !yield(value.FromString(s[:size])) {
				return
			}
			s = s[size:]
		}
	}
}

func integers(from, to int64) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for i := from; i <= to; i++ {
			if !yield(value.FromInt(i)) || i == math.MaxInt64 {
				return
			}
		}
	}
}

// loop calls the lambda for each element of src. If the lambda takes two arguments, it also receives the key or
// index. loop passes each result to do, and stops when do returns false.
func loop(c *call, src source, do func(k, e, answer value.Value) bool) error {
	two := c.Lambda.Takes(2)
	if !two && !c.Lambda.Takes(1) {
		return c.Failf("expected a lambda with 1 or 2 parameters, found %d", len(c.Lambda.Params))
	}
	for k, e := range src.seq {
		var answer value.Value
		var err error
		switch {
		case two:
			answer, err = c.Yield(k, e)
		case src.hash:
			answer, err = c.Yield(value.FromSlice([]value.Value{k, e}))
		default:
			answer, err = c.Yield(e)
		}
		if err != nil {
			return err
		}
		if !do(k, e, answer) {
			return nil
		}
	}
	return nil
}

// elements returns the elements of argument 0. The elements of a hash are pairs.
func elements(c *call) ([]value.Value, error) {
	src, err := iterable(c)
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for k, e := range src.seq {
		if err := c.Produce(expr.SizeOfElement); err != nil {
			return nil, err
		}
		if src.hash {
			e = value.FromSlice([]value.Value{k, e})
		}
		out = append(out, e)
	}
	return out, nil
}
