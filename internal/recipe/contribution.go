package recipe

import (
	"bindc/internal/types"
	"bindc/internal/value"
)

// Check holds a contribution to the type of the elements, or what flatten makes of it. What append collects under one
// name are elements of an element.
func (o *Options) Check(v value.Value) *types.Mismatch {
	t := o.Element
	if t != nil && o.Resolution == AppendAll && t.Kind() == types.Array {
		if t = t.Elem(); t == nil {
			t = types.Of(types.Data)
		}
	}
	if t == nil {
		return nil
	}
	return check(v, t, o.Flatten)
}

// check checks the elements of arrays, levels deep; -1 is all the way.
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

// Flat takes arrays among elems apart, as deep as flatten says.
func (o *Options) Flat(elems []value.Value) []value.Value {
	if o.Flatten == 0 {
		return elems
	}
	return flatten(nil, elems, o.Flatten)
}

// flatten takes arrays apart, levels deep; -1 is all the way.
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
