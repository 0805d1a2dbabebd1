// Package value defines the values that lookups return. A Value is either built in memory or a view of encoded bytes
// (see encode.go); both behave alike. Values are immutable and safe for concurrent use. Package value also lists the
// members of JSON objects and finds repeated ones.
package value

import (
	"iter"
	"math"
	"slices"
)

type Kind uint8

// The kinds of values. Undef and Default have only one value each.
const (
	Undef Kind = iota
	Default
	Bool
	Int
	Float
	String
	Regexp // the source of a regular expression
	Array
	Hash
	Type    // a type of the Puppet language; Ref returns it
	Invalid // returned by readers for an unreadable value; Kind never returns it
)

var kindNames = [...]string{"Undef", "Default", "Boolean", "Integer", "Float", "String", "Regexp", "Array", "Hash",
	"Type", "Invalid"}

func (k Kind) String() string { return kindNames[k] }

// Value is a value of the Puppet language. The zero Value is undef. A Value has four words, the most that Go passes in
// registers, so results of lookups are not copied through memory.
type Value struct {
	ref *body  // determines the kind; nil is undef
	num uint64 // Bool: 0 or 1; Int, Float: the bits; an encoded Array or Hash: the number of entries
	str string // String, Regexp: the text; an encoded Array or Hash: its entries
}

// body holds the kind of a Value. For a value built in memory it also holds the content: the elements of an Array, the
// alternating keys and values of a Hash, or a Type.
type body struct {
	kind      Kind
	sensitive bool
	built     bool // an Array or Hash built in memory, not a view of encoded bytes
	elems     []Value
	index     map[string]int // positions of String keys in elems; nil for small hashes
	others    map[string]int // positions of other keys, by their AppendDistinct text
	typ       TypeRef
	reader    *reader // reads the value, for a Source or a sensitive value
	owner     *Source // keeps alive the bytes that the value is a view of; may be nil
}

// plain has one body for each kind, shared by all values whose body has no content.
var plain [Type + 1]body

func init() {
	for k := range plain {
		plain[k].kind = Kind(k)
	}
}

// TypeRef is a type as the content of a Value. Package types implements it; the interface avoids an import cycle.
type TypeRef interface{ String() string }

// FromBool returns a Bool. The following functions return values of the other kinds. Strings and regexps refer to the
// given text.
func FromBool(b bool) Value {
	if b {
		return Value{ref: &plain[Bool], num: 1}
	}
	return Value{ref: &plain[Bool]}
}

func FromInt(n int64) Value     { return Value{ref: &plain[Int], num: uint64(n)} }
func FromFloat(f float64) Value { return Value{ref: &plain[Float], num: math.Float64bits(f)} }
func FromString(s string) Value { return Value{ref: &plain[String], str: s} }
func FromRegexp(s string) Value { return Value{ref: &plain[Regexp], str: s} }
func FromType(t TypeRef) Value  { return Value{ref: &body{kind: Type, typ: t}} }
func TheDefault() Value         { return Value{ref: &plain[Default]} }

// FromSlice returns an Array. The caller must not change elems afterwards.
func FromSlice(elems []Value) Value { return Value{ref: &body{kind: Array, built: true, elems: elems}} }

// Strings returns an array of strings.
func Strings(ss ...string) Value {
	out := make([]Value, len(ss))
	for i, s := range ss {
		out[i] = FromString(s)
	}
	return FromSlice(out)
}

func (v Value) Kind() Kind {
	if v.ref == nil {
		return Undef
	}
	return v.ref.kind
}

func (v Value) is(k Kind) bool { return v.ref != nil && v.ref.kind == k }

// built reports whether v is an Array or Hash built in memory, and encoded whether it is a view of an encoded one.
func (v Value) built() bool   { return v.ref != nil && v.ref.built }
func (v Value) encoded() bool { return (v.is(Array) || v.is(Hash)) && !v.ref.built }

// Sensitive returns v marked as sensitive. Only Read works on the result. The value is in a closure, because fmt would
// print it in an unexported field.
func (v Value) Sensitive() Value {
	if v.IsSensitive() {
		return v
	}
	read := func(uint64) (Value, error) { return v.Read() }
	return Value{ref: &body{sensitive: true, reader: &reader{load: read}, owner: v.Owner()}}
}

// IsSensitive reports whether v is marked as sensitive. Elements and entries do not inherit the mark. In Hiera 5,
// alias() can put a sensitive value into another one during a lookup. The inner value then stays unreadable until
// Unveiled removes the mark.
func (v Value) IsSensitive() bool { return v.ref != nil && v.ref.sensitive }

// Unveiled returns v without the marks of sensitive values inside it, and reports whether there were any.
func (v Value) Unveiled() (out Value, sensitive bool, err error) {
	if v.IsSensitive() {
		if v, err = v.Read(); err == nil {
			v, _, err = v.Unveiled()
		}
		return v, true, err
	}
	if !v.built() {
		return v, false, nil
	}
	elems := slices.Clone(v.ref.elems)
	for i, e := range elems {
		var veiled bool
		if elems[i], veiled, err = e.Unveiled(); err != nil {
			return v, sensitive, err
		}
		sensitive = sensitive || veiled
	}
	switch {
	case !sensitive:
		return v, false, nil
	case v.is(Array):
		return FromSlice(elems), true, nil
	}
	var b Builder
	for i := 0; i < len(elems); i += 2 {
		b.Set(elems[i], elems[i+1])
	}
	return b.Hash(), true, nil
}

// IsUndef reports whether v is undef. Bool reports whether v is true. Int and Float return the number of an Int or a
// Float, and nothing meaningful for other kinds.
func (v Value) IsUndef() bool  { return v.ref == nil || v.ref.kind == Undef && !v.ref.sensitive }
func (v Value) Bool() bool     { return v.is(Bool) && v.num == 1 }
func (v Value) Int() int64     { return int64(v.num) }
func (v Value) Float() float64 { return math.Float64frombits(v.num) }

// Text returns the text of a String or Regexp, and "" for other kinds.
func (v Value) Text() string {
	if v.is(String) || v.is(Regexp) {
		return v.str
	}
	return ""
}

// Ref returns the type of a Type value, and nil for other kinds.
func (v Value) Ref() TypeRef {
	if v.ref == nil {
		return nil
	}
	return v.ref.typ
}

// Truthy reports whether v is true in a condition. All values except undef and false are.
func (v Value) Truthy() bool { return !v.IsUndef() && (!v.is(Bool) || v.num == 1) }

// Len returns the number of elements of an Array or entries of a Hash, and 0 for other kinds.
func (v Value) Len() int {
	switch {
	case !v.is(Array) && !v.is(Hash):
		return 0
	case !v.ref.built:
		return int(v.num)
	case v.ref.kind == Hash:
		return len(v.ref.elems) / 2
	}
	return len(v.ref.elems)
}

// Elems returns an iterator over the elements of an Array, in order.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if !v.is(Array) {
			return
		}
		if v.built() {
			for _, e := range v.ref.elems {
				if !yield(e) {
					return
				}
			}
			return
		}
		for b, n := v.str, v.num; n > 0; n-- {
			e, rest, ok := view(b)
			if !ok || !yield(e) {
				return
			}
			b = rest
		}
	}
}

// Pairs returns an iterator over the entries of a Hash, in the order of the data.
func (v Value) Pairs() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if !v.is(Hash) {
			return
		}
		if v.built() {
			for i := 0; i < len(v.ref.elems); i += 2 {
				if !yield(v.ref.elems[i], v.ref.elems[i+1]) {
					return
				}
			}
			return
		}
		for b, n := v.str, v.num; n > 0; n-- {
			key, rest, ok := view(b)
			if !ok {
				return
			}
			val, rest, ok := view(rest)
			if !ok || !yield(key, val) {
				return
			}
			b = rest
		}
	}
}

// Slice returns the elements of an Array. Callers must not change them.
func (v Value) Slice() []Value {
	if v.is(Array) && v.built() {
		return v.ref.elems
	}
	out := make([]Value, 0, v.Len())
	for e := range v.Elems() {
		out = append(out, e)
	}
	return out
}

// Index returns element i of an Array, or undef if there is none.
func (v Value) Index(i int) Value {
	if v.is(Array) && v.built() {
		if i >= 0 && i < len(v.ref.elems) {
			return v.ref.elems[i]
		}
		return Value{}
	}
	for e := range v.Elems() {
		if i == 0 {
			return e
		}
		i--
	}
	return Value{}
}

// Get returns the value of key in a Hash. The key must be Identical, so 1 does not find 1.0.
func (v Value) Get(key Value) (Value, bool) {
	if !v.is(Hash) {
		return Value{}, false
	}
	if v.built() {
		if i, ok := v.ref.find(key); ok {
			return v.ref.elems[i+1], true
		}
		return Value{}, false
	}
	if key.is(String) {
		at, found := entry(v.str, 0, v.num, key.str)
		if !found {
			return Value{}, false
		}
		return Peek(v.str[at:])
	}
	for k, e := range v.Pairs() {
		if Identical(k, key) {
			return e, true
		}
	}
	return Value{}, false
}

// Probes returns the number of entries of a Hash that Get may compare with key.
func (v Value) Probes(key Value) int {
	if v.built() && v.ref.index != nil {
		return 1
	}
	return v.Len()
}

// Identical reports whether a and b have the same kind and value: 1 and 1.0 differ, and so do 'a' and 'A'. The order of
// hash entries does not matter.
func Identical(a, b Value) bool {
	if a.Kind() != b.Kind() || a.IsSensitive() != b.IsSensitive() {
		return false
	}
	if a.IsSensitive() {
		a, errA := a.Read()
		b, errB := b.Read()
		return errA == nil && errB == nil && Identical(a, b)
	}
	switch a.Kind() {
	case Bool, Int:
		return a.num == b.num
	case Float:
		return a.Float() == b.Float()
	case String, Regexp:
		return a.str == b.str
	case Type:
		return a.Ref().String() == b.Ref().String()
	case Array:
		if a.Len() != b.Len() {
			return false
		}
		bs := b.Slice()
		i := 0
		for e := range a.Elems() {
			if i >= len(bs) || !Identical(e, bs[i]) {
				return false
			}
			i++
		}
	case Hash:
		if a.Len() != b.Len() {
			return false
		}
		for k, e := range a.Pairs() {
			if f, ok := b.Get(k); !ok || !Identical(e, f) {
				return false
			}
		}
	}
	return true
}
