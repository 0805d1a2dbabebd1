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

// judge returns the verdict on a compiled value.
func (p *param) judge(compiled string) verdict {
	if compiled[0] == recipe.CompiledConstant {
		v, _, _ := value.View(compiled[1:]) // the loader has validated it
		return p.judgeValue(v)
	}
	if recipe.IsConcat(compiled[1:]) && p.acceptsStrings() { // faster than decoding it
		return fits
	}
	r, err := recipe.Decode(compiled[1:])
	switch {
	case err != nil || r.Transformer != nil || r.Optional:
		return unknown
	case r.Kind == recipe.Constant:
		return p.judgeValue(r.Value)
	case r.Kind == recipe.Expression && p.refuses(p.typ, r.Expr):
		return refused
	case r.Kind == recipe.Expression && p.acceptsStrings() && isText(r.Expr):
		return fits
	}
	return unknown
}

// acceptsStrings reports whether every string has the type of p.
func (p *param) acceptsStrings() bool {
	if !p.knowsStrings {
		p.knowsStrings, p.takesStrings = true, p.typ.Accepts(types.Of(types.String))
	}
	return p.takesStrings
}

func (p *param) judgeValue(v value.Value) verdict {
	if p.misfit(v) == nil {
		return fits
	}
	return refused
}

// misfit explains why Puppet refuses v. It returns nil if v fits, or if v is undef and p has a default. A sensitive
// value fits if it does so either with or without Sensitive, because Puppet may get either.
func (p *param) misfit(v value.Value) *types.Mismatch {
	if v.IsUndef() && p.Optional {
		return nil
	}
	m := p.typ.Assert(v)
	if m == nil {
		return nil
	}
	plain, secret, err := v.Unveiled()
	if secret && (err != nil || p.typ.Assert(plain) == nil || p.typ.Assert(plain.Sensitive()) == nil) {
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
func (p *param) refuses(t *types.Type, n *expr.Node) bool {
	switch {
	case n.Op == expr.Const:
		return t.Assert(n.Value) != nil
	case isText(n):
		return !t.Admits(value.String) && !t.AdmitsSensitive(value.String)
	case n.Op == expr.ArrayLit:
		return !t.Admits(value.Array) || p.refusesElement(t, n)
	case n.Op == expr.HashLit:
		return !t.Admits(value.Hash) || p.refusesEntry(t, n)
	}
	return false
}

// refusesElement reports whether t is an array type that refuses some element of the list n.
func (p *param) refusesElement(t *types.Type, n *expr.Node) bool {
	t = t.OnlyKind(value.Array)
	if t.Kind() != types.Array || t.Elem() == nil {
		return false
	}
	for _, e := range n.Kids {
		if e.Op != expr.Splat && p.refuses(t.Elem(), e) {
			return true
		}
	}
	return false
}

// refusesEntry reports whether t is a hash type that refuses some value in the hash n.
func (p *param) refusesEntry(t *types.Type, n *expr.Node) bool {
	t = t.OnlyKind(value.Hash)
	if t.Kind() != types.Hash || t.Elem() == nil {
		return false
	}
	for i := 1; i < len(n.Kids); i += 2 {
		if p.refuses(t.Elem(), n.Kids[i]) {
			return true
		}
	}
	return false
}
