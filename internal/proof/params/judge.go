package params

import (
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
)

// verdict says whether Puppet refuses a value, considering all requests.
type verdict uint8

const (
	fits    verdict = iota
	refused         // Puppet refuses the value in every request
	unknown         // the answer depends on the request or on other keys
)

// demand is what a parameter demands of its value. Parameters that accept the same values share one.
type demand struct {
	typ      *types.Type // nil if every value fits or the type is unknown
	optional bool        // the parameter has a default, so that undef fits
	number   uint32      // identifies the demand; not 0

	knowsStrings, takesStrings bool // whether takesStrings is set, and whether every string has type typ
}

// judge returns the verdict on a compiled value.
func (d *demand) judge(compiled string) verdict {
	if compiled[0] == recipe.CompiledConstant {
		v, _, _ := value.View(compiled[1:]) // the loader has validated it
		return d.judgeValue(v)
	}
	if recipe.IsConcat(compiled[1:]) && d.acceptsStrings() { // faster than decoding it
		return fits
	}
	r, err := recipe.Decode(compiled[1:])
	switch {
	case err != nil || r.Transformer != nil || r.Optional:
		return unknown
	case r.Kind == recipe.Constant:
		return d.judgeValue(r.Value)
	case r.Kind == recipe.Expression && d.refuses(d.typ, r.Expr):
		return refused
	case r.Kind == recipe.Expression && d.acceptsStrings() && isText(r.Expr):
		return fits
	}
	return unknown
}

// acceptsStrings reports whether every string has the type of d.
func (d *demand) acceptsStrings() bool {
	if !d.knowsStrings {
		d.knowsStrings, d.takesStrings = true, d.typ.Accepts(types.Of(types.String))
	}
	return d.takesStrings
}

func (d *demand) judgeValue(v value.Value) verdict {
	switch {
	case d.misfit(v) != nil:
		return refused
	case d.escapes(v):
		return unknown
	}
	return fits
}

// escapes reports whether v does not have the type of d, but Puppet may accept it; see types.Type.MayEscape.
func (d *demand) escapes(v value.Value) bool {
	return d.typ.MayEscape(v, false) && d.typ.Assert(v) != nil
}

// misfit explains why Puppet refuses v. It returns nil if v fits, or if v is undef and d is optional. A sensitive
// value fits if it does so either with or without Sensitive, because Puppet may get either.
func (d *demand) misfit(v value.Value) *types.Mismatch {
	if v.IsUndef() && d.optional {
		return nil
	}
	m := d.typ.Assert(v)
	if m == nil || d.typ.MayEscape(v, false) {
		return nil
	}
	plain, secret, err := v.Unveiled()
	if secret && (err != nil || d.typ.Assert(plain) == nil || d.typ.Assert(plain.Sensitive()) == nil) {
		return nil
	}
	return m
}

// isText reports whether the result of n is always a string.
func isText(n *expr.Node) bool {
	return n.Op == expr.Concat || n.Op == expr.Call && (n.Name == expr.HieraScope || n.Name == expr.HieraLookup) ||
		n.Op == expr.Call && n.HasHieraSecret()
}

// refuses reports whether t refuses every possible result of n.
func (d *demand) refuses(t *types.Type, n *expr.Node) bool {
	switch {
	case n.Op == expr.Const:
		return t.Assert(n.Value) != nil && !t.MayEscape(n.Value, true)
	case isText(n):
		return !t.Admits(value.String) && !t.AdmitsSensitive(value.String)
	case n.Op == expr.ArrayLit:
		return !t.Admits(value.Array) || d.refusesElement(t, n)
	case n.Op == expr.HashLit:
		return !t.Admits(value.Hash) || d.refusesEntry(t, n)
	}
	return false
}

// refusesElement reports whether t is an array type that refuses some element of the list n.
func (d *demand) refusesElement(t *types.Type, n *expr.Node) bool {
	t = t.OnlyKind(value.Array)
	if t.Kind() != types.Array || t.Elem() == nil {
		return false
	}
	for _, e := range n.Kids {
		if e.Op != expr.Splat && d.refuses(t.Elem(), e) {
			return true
		}
	}
	return false
}

// refusesEntry reports whether t is a hash type that refuses some value in the hash n.
func (d *demand) refusesEntry(t *types.Type, n *expr.Node) bool {
	t = t.OnlyKind(value.Hash)
	if t.Kind() != types.Hash || t.Elem() == nil {
		return false
	}
	for i := 1; i < len(n.Kids); i += 2 {
		if d.refuses(t.Elem(), n.Kids[i]) {
			return true
		}
	}
	return false
}
