package types

import (
	"math"
	"slices"
	"unicode/utf8"

	"bindc/internal/value"
)

// Infer returns the narrowest type of ARM-8 or ARM-9 that v has, for messages. It ignores undef inside collections,
// because undef has all these types.
func Infer(v value.Value) *Type {
	switch v.Kind() {
	case value.Array:
		return inferArray(v, maxDepth)
	case value.Hash:
		return inferHash(v, maxDepth)
	}
	return inferLeaf(v)
}

// leafKinds maps the kind of a value to its type without parameters.
var leafKinds = [...]Kind{value.Undef: Undef, value.Default: Default, value.Bool: Boolean, value.Int: Integer,
	value.Float: Float, value.String: String, value.Regexp: Pattern, value.Array: Array, value.Hash: Hash,
	value.Type: Meta}

func inferLeaf(v value.Value) *Type { return Of(leafKinds[v.Kind()]) }

func inferDeep(v value.Value, depth int) *Type {
	switch k := v.Kind(); {
	case depth == 0:
		return inferLeaf(v)
	case k == value.Array:
		return inferArray(v, depth)
	case k == value.Hash:
		return inferHash(v, depth)
	}
	return inferLeaf(v)
}

func inferArray(v value.Value, depth int) *Type {
	var elem *Type
	for e := range v.Elems() {
		elem = join(elem, inferDeep(e, depth-1))
	}
	if elem == nil || elem.kind == Data {
		return Of(Array)
	}
	t := newType(Array)
	t.args = []*Type{elem}
	return t
}

func inferHash(v value.Value, depth int) *Type {
	var key, val *Type
	for k, e := range v.Pairs() {
		key, val = join(key, inferDeep(k, depth-1)), join(val, inferDeep(e, depth-1))
	}
	if key == nil {
		return Of(Hash)
	}
	if val == nil {
		val = Of(Data)
	}
	t := newType(Hash)
	t.args = []*Type{key, val}
	return t
}

// join returns the narrowest type of ARM-8 or ARM-9 that includes a and b. It ignores Undef. nil means that there is
// no type yet.
func join(a, b *Type) *Type {
	switch {
	case a == nil || a.kind == Undef:
		if b.kind == Undef {
			return nil
		}
		return b
	case b.kind == Undef:
		return a
	case a.kind == Array && b.kind == Array:
		return joinArgs(Array, a, b)
	case a.kind == Hash && b.kind == Hash:
		return joinArgs(Hash, a, b)
	case a.kind == b.kind:
		return a
	}
	for _, k := range []Kind{Numeric, Scalar, Data} {
		if within(a, k) && within(b, k) {
			return Of(k)
		}
	}
	if within(a, Collection) && within(b, Collection) {
		return Of(Collection)
	}
	return Of(Any)
}

func joinArgs(k Kind, a, b *Type) *Type {
	switch {
	case a.plain || b.plain:
		if within(a, Data) && within(b, Data) {
			return Of(k)
		}
		return Of(Collection)
	case a.String() == b.String():
		return a
	}
	t := newType(k)
	for i := range a.args {
		t.args = append(t.args, join(a.args[i], b.args[i]))
	}
	return t
}

// within reports whether the ARM-8 or ARM-9 type k includes the inferred type a.
func within(a *Type, k Kind) bool {
	switch k {
	case Numeric:
		return a.kind == Integer || a.kind == Float || a.kind == Numeric
	case Scalar:
		return within(a, Numeric) || a.kind == String || a.kind == Boolean || a.kind == Pattern || a.kind == Scalar
	case Data:
		if a.kind == Array || a.kind == Hash {
			return all(a.args, func(t *Type) bool { return within(t, Data) })
		}
		return a.kind == Data || within(a, Scalar)
	case Collection:
		return a.kind == Array || a.kind == Hash || a.kind == Collection
	}
	return false
}

// Detailed returns the narrowest type of v, like Puppet's type(). For example, [1, 'a'] has the type Tuple[Integer[1,
// 1], String].
func Detailed(v value.Value) *Type {
	in := inference{budget: maxNodes / 2, detailed: true}
	return in.infer(v, maxDepth-1)
}

// Reduced is like Detailed, but combines the types of a collection's elements into one type.
func Reduced(v value.Value) *Type {
	in := inference{budget: maxNodes / 2}
	return in.infer(v, maxDepth-1)
}

// inference infers the type of one value. budget limits how many types it creates. When it is used up, collections
// get no element types.
type inference struct {
	budget   int
	detailed bool
}

func (in *inference) infer(v value.Value, depth int) *Type {
	in.budget--
	if in.budget <= 0 || depth == 0 {
		return inferLeaf(v)
	}
	switch v.Kind() {
	case value.Bool:
		t := newType(Boolean)
		t.exact, t.truth = true, v.Bool()
		return t
	case value.Int:
		t := newType(Integer)
		t.min, t.max = v.Int(), v.Int()
		return t
	case value.Float:
		t := newType(Float)
		t.from, t.to = v.Float(), v.Float()
		return t
	case value.String:
		return literalString(v.Text())
	case value.Regexp:
		t := newType(Regexp)
		t.texts = []string{v.Text()}
		return t
	case value.Type:
		if inner, err := FromValue(v); err == nil {
			return in.sized(newType(Meta), v, inner)
		}
	case value.Array:
		return in.array(v, depth)
	case value.Hash:
		return in.hash(v, depth)
	}
	return inferLeaf(v)
}

// sized gives t the inner types args and the size of v. If the result is too large, it returns the type without
// parameters.
func (in *inference) sized(t *Type, v value.Value, args ...*Type) *Type {
	if t.kind != Meta {
		t.min, t.max = int64(v.Len()), int64(v.Len())
	}
	if _, err := t.with(args...); err != nil {
		return inferLeaf(v)
	}
	return t
}

func (in *inference) array(v value.Value, depth int) *Type {
	if v.Len() == 0 {
		return in.sized(newType(Array), v, Of(unit))
	}
	inner := make([]*Type, 0, min(v.Len(), max(in.budget, 1)))
	for e := range v.Elems() {
		inner = append(inner, in.infer(e, depth-1))
	}
	if in.detailed {
		return in.sized(newType(Tuple), v, inner...)
	}
	return in.sized(newType(Array), v, common(inner))
}

func (in *inference) hash(v value.Value, depth int) *Type {
	if v.Len() == 0 {
		return in.sized(newType(Hash), v, Of(unit), Of(unit))
	}
	var keys, values []*Type
	texts := true
	for k, e := range v.Pairs() {
		keys, values = append(keys, in.infer(k, depth-1)), append(values, in.infer(e, depth-1))
		texts = texts && k.Kind() == value.String && k.Text() != ""
	}
	switch {
	case !in.detailed:
		return in.sized(newType(Hash), v, common(keys), common(values))
	case !texts:
		return in.sized(newType(Hash), v, union(keys), union(values))
	}
	t := newType(Struct)
	i := 0
	for k := range v.Pairs() {
		t.members = append(t.members, member{name: k.Text(), value: values[i]})
		i++
	}
	if t.measure() != nil {
		return inferLeaf(v)
	}
	return t
}

// union returns the Variant of ts without duplicates. If only one type is left, it returns that type.
func union(ts []*Type) *Type {
	var different []*Type
	seen := map[string]bool{}
	for _, t := range ts {
		if t.kind == Variant {
			t = union(t.args)
		}
		if id := t.distinct(); !seen[id] {
			seen[id] = true
			different = append(different, t)
		}
	}
	if len(different) == 1 {
		return different[0]
	}
	t := newType(Variant)
	if _, err := t.with(different...); err != nil {
		return Of(Any)
	}
	return t
}

// distinct returns a text that is unique to t. Unlike String, it includes the text of an exact String type.
func (t *Type) distinct() string {
	if t.kind == String && t.exact {
		return value.Quote(t.texts[0])
	}
	return t.String()
}

// Generalize returns t without ranges, lengths and exact strings, like Puppet. An Enum becomes a String type with the
// lengths of its values.
func (t *Type) Generalize() *Type {
	switch {
	case t != nil && t.kind == Enum:
		return t.lengths()
	case t == nil || t.plain:
		return t
	}
	switch t.kind {
	case Boolean, Integer, Float, String, Collection:
		return Of(t.kind)
	}
	g := *t
	g.args = make([]*Type, len(t.args))
	for i, a := range t.args {
		g.args[i] = a.Generalize()
	}
	g.members = slices.Clone(t.members)
	for i := range g.members {
		g.members[i].value = g.members[i].value.Generalize()
	}
	switch t.kind {
	case Array, Hash:
		if t.max == 0 {
			return t
		}
		g.min, g.max = 0, newType(t.kind).max
	case Variant:
		return union(g.args)
	}
	return &g
}

// lengths returns the String type for the lengths of t's values. t must be an Enum.
func (t *Type) lengths() *Type {
	if t.plain {
		return Of(String)
	}
	g := newType(String)
	g.min, g.max = math.MaxInt64, 0
	for _, s := range t.texts {
		n := int64(utf8.RuneCountInString(s))
		g.min, g.max = min(g.min, n), max(g.max, n)
	}
	return g
}
