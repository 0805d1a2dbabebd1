package recipe

import (
	"bindc/internal/expr"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Check holds a contribution to the type of the elements, or what flatten makes of it. What append collects under one
// name are elements of an element.
func (o *Options) Check(v value.Value) *types.Mismatch {
	return check(v, o.contributed(), o.Flatten)
}

// Misfit holds a contribution that n computes to the same, as far as that can be told.
func (o *Options) Misfit(n *expr.Node) *types.Mismatch {
	if n.Op == expr.ArrayLit && o.Flatten != 0 {
		return nil
	}
	return Misfit(o.contributed(), n)
}

// LacksFlatten reports whether v is a list that Check rejects but would accept if the multibinding had flatten.
func (o *Options) LacksFlatten(v value.Value) bool {
	flattens := o.Combinator == nil && (o.Array || o.Resolution == AppendAll)
	return flattens && v.Kind() == value.Array && o.Flatten == 0 && check(v, o.contributed(), -1) == nil
}

// contributed is the type of one contribution; nil stands for any.
func (o *Options) contributed() *types.Type {
	if o.Resolution != AppendAll || o.Element.Kind() != types.Array {
		return o.Element
	}
	if t := o.Element.Elem(); t != nil {
		return t
	}
	return types.Of(types.Data)
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
