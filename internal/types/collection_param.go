package types

import (
	"fmt"
	"math"

	"bindc/internal/value"
)

func (p parameters) array() (*Type, error) {
	elem, sizes := Of(Any), 0
	if p.list[0].Kind() == value.Type {
		inner, err := p.typeAt(0)
		if err != nil {
			return nil, err
		}
		elem, sizes = inner, 1
	} else if len(p.list) != 2 {
		return nil, p.wrong(0, "a type")
	}
	if err := p.span(sizes); err != nil {
		return nil, err
	}
	if p.t.max == 0 {
		elem = Of(unit)
	}
	return p.t.with(elem)
}

// hash builds Hash[V] or Hash[K, V], each with an optional size.
func (p parameters) hash() (*Type, error) {
	var args []*Type
	for i := 0; i < min(2, len(p.list)); i++ {
		if p.list[i].Kind() != value.Type {
			break
		}
		inner, err := p.typeAt(i)
		if err != nil {
			return nil, err
		}
		args = append(args, inner)
	}
	sizes := len(args)
	switch {
	case len(args) == 0 && len(p.list) != 2:
		return nil, p.wrong(0, "a type")
	case len(args) == 1 && len(p.list) > 1:
		return nil, p.wrong(1, "a type")
	case len(args) == 0:
		args = []*Type{Of(Any), Of(Any)}
	case len(args) == 1:
		args = []*Type{Of(Scalar), args[0]}
	}
	if err := p.span(sizes); err != nil {
		return nil, err
	}
	if p.t.max == 0 {
		args = []*Type{Of(unit), Of(unit)}
	}
	return p.t.with(args...)
}

// tuple builds a Tuple or Callable from its inner types and an optional size.
func (p parameters) tuple() (*Type, error) {
	var args []*Type
	for i, v := range p.list {
		if v.Kind() != value.Type {
			break
		}
		inner, err := p.typeAt(i)
		if err != nil {
			return nil, err
		}
		args = append(args, inner)
	}
	p.t.min, p.t.max = int64(len(args)), int64(len(args))
	if sizes := len(p.list) - len(args); sizes > 0 {
		p.t.min, p.t.max = 0, math.MaxInt64
		if err := p.span(len(args)); err != nil {
			return nil, err
		}
		p.t.exact = true // the size is given explicitly
	}
	if len(args) == 0 && p.t.kind == Tuple {
		return nil, p.wrong(0, "a type")
	}
	return p.t.with(args...)
}

func (p parameters) structure() (*Type, error) {
	if len(p.list) != 1 {
		return nil, p.wrongCount(1, 1)
	}
	if p.list[0].Kind() != value.Hash {
		return nil, p.wrong(0, "a Hash")
	}
	seen := map[string]bool{}
	for k, v := range p.list[0].Pairs() {
		m, err := newMember(k, v)
		if err != nil {
			return nil, err
		}
		if seen[m.name] {
			return nil, fmt.Errorf("the type Struct[]: duplicate key %s", value.Quote(m.name))
		}
		seen[m.name] = true
		p.t.members = append(p.t.members, m)
	}
	return p.t, p.t.measure()
}

// newMember returns the Struct member for the key k and its type v. By default, the key is optional if its type
// accepts undef. The key Optional['a'] is always optional, NotUndef['a'] never.
func newMember(k, v value.Value) (member, error) {
	t, err := FromValue(v)
	if err != nil {
		return member{}, fmt.Errorf("the type Struct[]: the value of a key must be a type, found %s", Infer(v))
	}
	if t.unfinished(0) {
		return member{}, fmt.Errorf("the type Struct[]: whether the key is optional depends on the type that is being defined")
	}
	if k.Kind() == value.String {
		return member{k.Text(), t.Accepts(Of(Undef)), t}, nil
	}
	kt, err := FromValue(k)
	inner := kt.Elem()
	if err != nil || inner == nil || !inner.exact || inner.kind != String {
		return member{}, fmt.Errorf("the type Struct[]: a key must be a String, Optional[String] or NotUndef[String], found %s", Infer(k))
	}
	return member{inner.texts[0], kt.kind == Optional, t}, nil
}

func (p parameters) collection() (*Type, error) {
	if err := p.span(0); err != nil {
		return nil, err
	}
	if p.t.unbounded() {
		return Of(Collection), nil
	}
	return p.t, nil
}
