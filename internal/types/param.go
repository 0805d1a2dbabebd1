package types

import (
	"fmt"
	"math"
	"slices"

	"bindc/internal/types/onigmo"
	"bindc/internal/value"
)

// With returns t[params...], as in an expression. The params replace all parameters of t. Arrays among them are
// flattened.
func (t *Type) With(params ...value.Value) (*Type, error) {
	return t.withParams(params, func(src string) error {
		_, err := onigmo.Compile(src)
		return err
	})
}

// withParams implements With. compiles returns an error for an unsupported regular expression.
func (t *Type) withParams(params []value.Value, compiles func(src string) error) (*Type, error) {
	spread, err := spreadParams(params, 0)
	if err != nil {
		return nil, err
	}
	if t.Kind() != Callable && len(spread) == 0 {
		return nil, fmt.Errorf("%s[] needs a parameter", t)
	}
	if t.Kind() == alias { // an alias ignores its parameters
		return t, nil
	}
	if t.Kind() == foreign {
		return t.foreignParams(spread), nil
	}
	p := parameters{t: newType(t.Kind()), list: spread, compiles: compiles}
	switch t.Kind() {
	case Integer:
		return p.integer()
	case Float:
		return p.float()
	case Boolean:
		return p.boolean()
	case String:
		return p.sizedString()
	case Collection:
		return p.collection()
	case Enum:
		return p.enum()
	case Pattern, Regexp:
		return p.sources()
	case Array:
		return p.array()
	case Hash:
		return p.hash()
	case Tuple, Callable:
		return p.tuple()
	case Struct:
		return p.structure()
	case Variant:
		return p.variant()
	case Optional, NotUndef, Iterable, Iterator, Meta, sensitive:
		return p.only()
	}
	return nil, fmt.Errorf("the type %s takes no parameters", t)
}

func spreadParams(params []value.Value, depth int) ([]value.Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the parameters of a type are nested too deeply")
	}
	var out []value.Value
	for _, p := range params {
		if p.Kind() != value.Array {
			out = append(out, p)
			continue
		}
		inner, err := spreadParams(p.Slice(), depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	if len(out) > maxNodes {
		return nil, fmt.Errorf("the type is too large")
	}
	return out, nil
}

// parameters builds the type t from a list of parameters.
type parameters struct {
	t        *Type
	list     []value.Value
	compiles func(src string) error // returns an error if a regular expression is not supported
}

func (p parameters) wrongCount(min, max int) error {
	want := fmt.Sprintf("%d to %d parameters", min, max)
	if min == max {
		want = fmt.Sprintf("%d parameter", min)
	}
	return fmt.Errorf("%s[] takes %s, found %d", names[p.t.kind], want, len(p.list))
}

func (p parameters) wrong(i int, want string) error {
	return fmt.Errorf("parameter %d of %s[] must be %s, found %s", i+1, names[p.t.kind], want, Infer(p.list[i]))
}

func (p parameters) typeAt(i int) (*Type, error) {
	if p.list[i].Kind() != value.Type {
		return nil, p.wrong(i, "a type")
	}
	return FromValue(p.list[i])
}

// FromValue returns the type in v. A type that was decoded from bytes is parsed from its text.
func FromValue(v value.Value) (*Type, error) {
	switch r := v.Ref().(type) {
	case *Type:
		return r, nil
	case nil:
		return nil, fmt.Errorf("not a type: %s", Infer(v))
	default:
		return Parse(r.String())
	}
}

// Value returns t as a value of kind Type. A nil t means Any.
func (t *Type) Value() value.Value {
	if t == nil {
		t = Of(Any)
	}
	return value.FromType(t)
}

// span sets the range of p.t from the parameters i and i+1, which are optional.
func (p parameters) span(i int) error {
	t := p.t
	if len(p.list)-i > 2 {
		return p.wrongCount(i, i+2)
	}
	if i < len(p.list) && t.kind != Integer && p.list[i].Kind() == value.Type { // such as String[Integer[1, 2]]
		r, err := p.typeAt(i)
		if err != nil || r.Kind() != Integer || len(p.list)-i > 1 {
			return p.wrong(i, "an Integer or default")
		}
		t.min, t.max = r.min, r.max
	}
	for at, bound := range []*int64{&t.min, &t.max} {
		if i+at >= len(p.list) || t.kind != Integer && p.list[i].Kind() == value.Type {
			break
		}
		switch v := p.list[i+at]; v.Kind() {
		case value.Int:
			*bound = v.Int()
		case value.Default:
		default:
			return p.wrong(i+at, "an Integer or default")
		}
	}
	if t.min > t.max {
		return fmt.Errorf("%s[]: the lower bound %d is above the upper bound %d", names[t.kind], t.min, t.max)
	}
	if t.kind != Integer {
		t.min, t.max = max(t.min, 0), max(t.max, 0)
	}
	return nil
}

// unbounded reports whether the range of t includes everything.
func (t *Type) unbounded() bool {
	return t.max == math.MaxInt64 && (t.min == 0 || t.kind == Integer) && (t.kind != Integer || t.min == math.MinInt64)
}

func (p parameters) integer() (*Type, error) {
	if err := p.span(0); err != nil {
		return nil, err
	}
	if p.t.unbounded() {
		return Of(Integer), nil
	}
	return p.t, nil
}

func (p parameters) float() (*Type, error) {
	if len(p.list) > 2 {
		return nil, p.wrongCount(1, 2)
	}
	for i, bound := range []*float64{&p.t.from, &p.t.to}[:len(p.list)] {
		switch v := p.list[i]; v.Kind() {
		case value.Int:
			*bound = float64(v.Int())
		case value.Float:
			*bound = v.Float()
		case value.Default:
		default:
			return nil, p.wrong(i, "a number or default")
		}
	}
	t := p.t
	if !(t.from <= t.to) {
		return nil, fmt.Errorf("the type Float[]: the lower bound is above the upper bound")
	}
	if math.IsInf(t.from, -1) && math.IsInf(t.to, 1) {
		return Of(Float), nil
	}
	return t, nil
}

func (p parameters) boolean() (*Type, error) {
	if len(p.list) != 1 {
		return nil, p.wrongCount(1, 1)
	}
	if p.list[0].Kind() != value.Bool {
		return nil, p.wrong(0, "a Boolean")
	}
	p.t.exact, p.t.truth = true, p.list[0].Bool()
	return p.t, nil
}

func (p parameters) sizedString() (*Type, error) {
	if err := p.span(0); err != nil {
		return nil, err
	}
	if p.t.unbounded() {
		return Of(String), nil
	}
	return p.t, nil
}

// literalString returns the type that only s has.
func literalString(s string) *Type {
	t := newType(String)
	t.exact, t.texts = true, []string{s}
	return t
}

func (p parameters) enum() (*Type, error) {
	list := p.list
	if last := list[len(list)-1]; last.Kind() == value.Bool {
		p.t.fold, list = last.Bool(), list[:len(list)-1]
	}
	for i, v := range list {
		if v.Kind() != value.String {
			return nil, p.wrong(i, "a String")
		}
		p.t.texts = append(p.t.texts, v.Text())
	}
	if len(p.t.texts) == 0 {
		return nil, fmt.Errorf("the type Enum[] needs a String")
	}
	return newEnum(p.t)
}

func newEnum(t *Type) (*Type, error) {
	slices.Sort(t.texts)
	t.texts = slices.Compact(t.texts)
	return t, t.measure()
}

func (p parameters) sources() (*Type, error) {
	for i, v := range p.list {
		switch v.Kind() {
		case value.String, value.Regexp:
			p.t.texts = append(p.t.texts, v.Text())
		case value.Type:
			inner, err := p.typeAt(i)
			if err != nil || inner.Kind() != Pattern && inner.Kind() != Regexp {
				return nil, p.wrong(i, "a regular expression or String")
			}
			p.t.texts = append(p.t.texts, inner.texts...)
		default:
			return nil, p.wrong(i, "a regular expression or String")
		}
	}
	if p.t.kind == Regexp && len(p.t.texts) != 1 {
		return nil, p.wrongCount(1, 1)
	}
	if len(p.t.texts) == 0 {
		return Of(Pattern), nil
	}
	for _, src := range p.t.texts {
		if err := p.compiles(src); err != nil {
			return nil, fmt.Errorf("%s[]: %w", names[p.t.kind], err)
		}
	}
	return p.t, p.t.measure()
}

// variant builds a Variant and flattens Variants inside it. If only one type is left, the result is that type.
func (p parameters) variant() (*Type, error) {
	var args []*Type
	seen := map[string]bool{}
	for i := range p.list {
		inner, err := p.typeAt(i)
		if err != nil {
			return nil, err
		}
		for _, a := range inner.alternatives() {
			if id := a.distinct(); !seen[id] {
				seen[id] = true
				args = append(args, a)
			}
		}
	}
	switch len(args) {
	case 0:
		return Of(Variant), nil
	case 1:
		return args[0], nil
	}
	return p.t.with(args...)
}

// alternatives returns the types inside a Variant. For any other type, it returns t.
func (t *Type) alternatives() []*Type {
	if t.Kind() == Variant {
		return t.args
	}
	return []*Type{t}
}

// only builds a type that takes exactly one parameter, such as Optional or Sensitive.
func (p parameters) only() (*Type, error) {
	if len(p.list) != 1 {
		return nil, p.wrongCount(1, 1)
	}
	if v := p.list[0]; v.Kind() == value.String && (p.t.kind == Optional || p.t.kind == NotUndef) {
		return p.t.with(literalString(v.Text()))
	}
	inner, err := p.typeAt(0)
	if err != nil {
		return nil, err
	}
	if inner.kind == Any && (p.t.kind == NotUndef) {
		return Of(NotUndef), nil
	}
	return p.t.with(inner)
}
