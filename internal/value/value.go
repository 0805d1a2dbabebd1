// Package value holds the values a lookup answers with. A Value is either built in memory or a view of encoded
// bytes (see encode.go); both look the same to the reader. Values are immutable and safe for concurrent use.
package value

import (
	"iter"
	"math"
)

// Kind says what a Value is.
type Kind uint8

const (
	Undef Kind = iota
	Default
	Bool
	Int
	Float
	String
	Regexp // a pattern, by its source
	Array
	Hash
	Type // a type of the type system; Ref returns it
)

var kindNames = [...]string{"Undef", "Default", "Boolean", "Integer", "Float", "String", "Regexp", "Array", "Hash", "Type"}

func (k Kind) String() string { return kindNames[k] }

// Value is one value. The zero Value is undef.
type Value struct {
	kind Kind
	num  uint64 // Bool: 0 or 1; Int, Float: the bits; an encoded Array or Hash: the number of entries
	str  string // String, Regexp: the text; an encoded Array or Hash: its entries
	ref  any    // a built Array: []Value; a built Hash: *table; Type: what Ref returns
}

// TypeRef is a type used as a value. Package types implements it; it is an interface to keep the imports one way.
type TypeRef interface{ String() string }

func FromBool(b bool) Value {
	if b {
		return Value{kind: Bool, num: 1}
	}
	return Value{kind: Bool}
}
func FromInt(n int64) Value     { return Value{kind: Int, num: uint64(n)} }
func FromFloat(f float64) Value { return Value{kind: Float, num: math.Float64bits(f)} }
func FromString(s string) Value { return Value{kind: String, str: s} }
func FromRegexp(s string) Value { return Value{kind: Regexp, str: s} }
func FromType(t TypeRef) Value  { return Value{kind: Type, ref: t} }
func TheDefault() Value         { return Value{kind: Default} }

// FromSlice makes an array; the caller gives elems away.
func FromSlice(elems []Value) Value { return Value{kind: Array, ref: elems} }

// Strings makes an array of strings.
func Strings(ss ...string) Value {
	out := make([]Value, len(ss))
	for i, s := range ss {
		out[i] = FromString(s)
	}
	return FromSlice(out)
}

func (v Value) Kind() Kind     { return v.kind }
func (v Value) IsUndef() bool  { return v.kind == Undef }
func (v Value) Bool() bool     { return v.kind == Bool && v.num == 1 }
func (v Value) Int() int64     { return int64(v.num) }
func (v Value) Float() float64 { return math.Float64frombits(v.num) }

// Text is the text of a String or Regexp, else "".
func (v Value) Text() string {
	if v.kind == String || v.kind == Regexp {
		return v.str
	}
	return ""
}

// Ref is the type of a Type value, else nil.
func (v Value) Ref() TypeRef {
	t, _ := v.ref.(TypeRef)
	return t
}

// Truthy tells whether v counts as true in a condition: all but undef and false do.
func (v Value) Truthy() bool { return v.kind != Undef && (v.kind != Bool || v.num == 1) }

// Len is the number of elements of an Array or entries of a Hash, else 0.
func (v Value) Len() int {
	switch r := v.ref.(type) {
	case []Value:
		return len(r)
	case *table:
		return len(r.pairs)
	}
	if v.kind == Array || v.kind == Hash {
		return int(v.num)
	}
	return 0
}

// Elems ranges over the elements of an Array, in order.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.kind != Array {
			return
		}
		if built, ok := v.ref.([]Value); ok {
			for _, e := range built {
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

// Pairs ranges over the entries of a Hash, in the order of the data.
func (v Value) Pairs() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if v.kind != Hash {
			return
		}
		if built, ok := v.ref.(*table); ok {
			for _, p := range built.pairs {
				if !yield(p.Key, p.Value) {
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

// Slice is the elements of an Array as a slice the caller must not change.
func (v Value) Slice() []Value {
	if built, ok := v.ref.([]Value); ok {
		return built
	}
	out := make([]Value, 0, v.Len())
	for e := range v.Elems() {
		out = append(out, e)
	}
	return out
}

// Index is element i of an Array, undef where there is none.
func (v Value) Index(i int) Value {
	if built, ok := v.ref.([]Value); ok {
		if i >= 0 && i < len(built) {
			return built[i]
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

// Get is the value of key in a Hash. Keys are compared exactly: by kind and value, not as == compares.
func (v Value) Get(key Value) (Value, bool) {
	if v.kind != Hash {
		return Value{}, false
	}
	if built, ok := v.ref.(*table); ok {
		if i, ok := built.find(key); ok {
			return built.pairs[i].Value, true
		}
		return Value{}, false
	}
	for k, e := range v.Pairs() {
		if Identical(k, key) {
			return e, true
		}
	}
	return Value{}, false
}

// Probes is how many entries of a Hash Get may have to look at for key.
func (v Value) Probes(key Value) int {
	if built, ok := v.ref.(*table); ok && built.index != nil && key.kind == String {
		return 1
	}
	return v.Len()
}

// Identical tells whether a and b are the same value of the same kind: 1 and 1.0 are not, 'a' and 'A' are not.
// Hashes are compared without regard to order.
func Identical(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
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
