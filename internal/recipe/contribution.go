package recipe

import (
	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Check checks a contribution against the element type. If the option flatten splits the contribution, Check checks
// each element. If the resolution is append and the element type is Array[T], a contribution must have type T.
func (o *Options) Check(v value.Value) *types.Mismatch {
	return check(v, o.contributed(), o.Flatten)
}

// Misfit explains why the value of n, a contribution's expression, has the wrong type in every request. It returns nil
// if the type depends on facts or is unknown.
func (o *Options) Misfit(n *expr.Node) *types.Mismatch {
	if n.Op == expr.ArrayLit && o.Flatten != 0 {
		return nil
	}
	return Misfit(o.contributed(), n)
}

// LacksFlatten reports whether Check rejects the list v only because the option flatten is not set.
func (o *Options) LacksFlatten(v value.Value) bool {
	flattens := o.Combinator == nil && (o.Array || o.Resolution == AppendAll)
	return flattens && v.Kind() == value.Array && o.Flatten == 0 && check(v, o.contributed(), -1) == nil
}

// contributed returns the type that a contribution must have; nil means any type.
func (o *Options) contributed() *types.Type {
	if o.Resolution != AppendAll || o.Element.Kind() != types.Array {
		return o.Element
	}
	if t := o.Element.Elem(); t != nil {
		return t
	}
	return types.Of(types.Data)
}

// check checks the elements of v against t. It descends into nested arrays, up to the given number of levels (-1 for
// all).
func check(v value.Value, t *types.Type, levels int) *types.Mismatch {
	if v.Kind() != value.Array || levels == 0 {
		return t.Check(v)
	}
	for i, e := range v.Slice() {
		if m := check(e, t, levels-1); m != nil {
			m.Path = append([]value.Value{value.FromInt(int64(i))}, m.Path...)
			return m
		}
	}
	return nil
}

// Flat flattens the arrays in elems as deep as the option flatten says.
func (o *Options) Flat(elems []value.Value) []value.Value {
	if o.Flatten == 0 {
		return elems
	}
	return flatten(nil, elems, o.Flatten)
}

// flatten flattens arrays down to the given number of levels, or completely if it is -1.
func flatten(out, elems []value.Value, levels int) []value.Value {
	for _, e := range elems {
		if e.Kind() == value.Array && levels != 0 {
			out = flatten(out, e.Slice(), levels-1)
		} else {
			out = append(out, e)
		}
	}
	return out
}
