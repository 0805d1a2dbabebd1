// Package value holds the values a lookup answers with. A Value is either built in memory or a view of encoded
// bytes (see encode.go); both look the same to the reader. Values are immutable and safe for concurrent use.
package value

import (
	"iter"
	"math"
	"slices"
)

// Kind says what a Value is.
type Kind uint8

// The kinds. undef and default are one value each.
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
	Type    // a type of the type system; Ref returns it
	Invalid // an unreadable value; no Value has this kind, but readers may return it
)

var kindNames = [...]string{"Undef", "Default", "Boolean", "Integer", "Float", "String", "Regexp", "Array", "Hash",
	"Type", "Invalid"}

func (k Kind) String() string { return kindNames[k] }

// Value is one value. The zero Value is undef. It has four words, which is the most that Go keeps in registers: what a
// lookup returns is not copied through memory.
type Value struct {
	ref *body  // says what it is; nil is undef
	num uint64 // Bool: 0 or 1; Int, Float: the bits; an encoded Array or Hash: the number of entries
	str string // String, Regexp: the text; an encoded Array or Hash: its entries
}

// body says what a Value is, and holds what one made in memory does: the elements of an Array; the keys and values of a
// Hash in turn, with an index of the string keys once there are many; a Type.
type body struct {
	kind      Kind
	sensitive bool
	built     bool // an Array or Hash made in memory; else one is a view of encoded bytes
	elems     []Value
	index     map[string]int // positions of String keys in elems; nil while there are few
	others    map[string]int // the same for other keys, by identity
	typ       TypeRef
	load      func(uint64) (Value, error) // of a Source, and of what is sensitive
}

// plain are the bodies of values that need none of their own.
var plain [Type + 1]body

func init() {
	for k := range plain {
		plain[k].kind = Kind(k)
	}
}

// Source is where values come from that are read only when they are looked at: what a lookup finds need not be touched
// before somebody asks for it.
type Source struct{ b body }

// NewSource makes a source of load, which is called each time a value is looked at.
func NewSource(load func(n uint64) (Value, error)) *Source { return &Source{body{load: load}} }

// Value is the value that load will be asked for by n. Nothing may be done with it but Read.
func (s *Source) Value(n uint64) Value { return Value{ref: &s.b, num: n} }

// Read is v itself, read now if it is of a Source, and without its mark if it is sensitive.
func (v Value) Read() (Value, error) {
	if v.Deferred() {
		return v.ref.load(v.num)
	}
	return v, nil
}

// Deferred reports whether Read reads v from elsewhere.
func (v Value) Deferred() bool { return v.ref != nil && v.ref.load != nil }

// TypeRef is a type used as a value. Package types implements it; it is an interface to keep the imports one way.
type TypeRef interface{ String() string }

// FromBool is a Bool; the functions below make the other kinds. What they make of text refers to it.
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

// FromSlice makes an array; the caller gives elems away.
func FromSlice(elems []Value) Value { return Value{ref: &body{kind: Array, built: true, elems: elems}} }

// Strings makes an array of strings.
func Strings(ss ...string) Value {
	out := make([]Value, len(ss))
	for i, s := range ss {
		out[i] = FromString(s)
	}
	return FromSlice(out)
}

// Kind says what v is.
func (v Value) Kind() Kind {
	if v.ref == nil {
		return Undef
	}
	return v.ref.kind
}

func (v Value) is(k Kind) bool { return v.ref != nil && v.ref.kind == k }

// built tells whether v is an Array or Hash made in memory, encoded whether it is a view of one.
func (v Value) built() bool   { return v.ref != nil && v.ref.built }
func (v Value) encoded() bool { return (v.is(Array) || v.is(Hash)) && !v.ref.built }

// Sensitive is v, marked as something to be shown only to who asks for it. Nothing may be done with it but Read: v
// stands behind a function, where not even fmt finds it, which looks through whatever fields hold a value.
func (v Value) Sensitive() Value {
	if v.IsSensitive() {
		return v
	}
	return Value{ref: &body{sensitive: true, load: func(uint64) (Value, error) { return v.Read() }}}
}

// IsSensitive tells whether v is marked. Elements and entries do not carry the mark, but while data of Hiera 5 is being
// looked up: there a value that alias() puts into another one keeps it, and is nothing that can be looked into, until
// Unveiled takes it off.
func (v Value) IsSensitive() bool { return v.ref != nil && v.ref.sensitive }

// Unveiled is v with all that is marked in it as it is without, and whether something was.
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

// IsUndef tells whether v is undef, Bool whether it is true. Int and Float are the number of an Int and of a Float; of
// other kinds they mean nothing.
func (v Value) IsUndef() bool  { return v.ref == nil || v.ref.kind == Undef && !v.ref.sensitive }
func (v Value) Bool() bool     { return v.is(Bool) && v.num == 1 }
func (v Value) Int() int64     { return int64(v.num) }
func (v Value) Float() float64 { return math.Float64frombits(v.num) }

// Text is the text of a String or Regexp, else "".
func (v Value) Text() string {
	if v.is(String) || v.is(Regexp) {
		return v.str
	}
	return ""
}

// Ref is the type of a Type value, else nil.
func (v Value) Ref() TypeRef {
	if v.ref == nil {
		return nil
	}
	return v.ref.typ
}

// Truthy tells whether v counts as true in a condition: all but undef and false do.
func (v Value) Truthy() bool { return !v.IsUndef() && (!v.is(Bool) || v.num == 1) }

// Len is the number of elements of an Array or entries of a Hash, else 0.
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

// Elems ranges over the elements of an Array, in order.
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

// Pairs ranges over the entries of a Hash, in the order of the data.
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

// Slice is the elements of an Array as a slice the caller must not change.
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

// Index is element i of an Array, undef where there is none.
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

// Get is the value of key in a Hash. Keys are compared exactly: by kind and value, not as == compares.
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
	for k, e := range v.Pairs() {
		if Identical(k, key) {
			return e, true
		}
	}
	return Value{}, false
}

// Probes is how many entries of a Hash Get may have to look at for key.
func (v Value) Probes(key Value) int {
	if v.built() && v.ref.index != nil && key.is(String) {
		return 1
	}
	return v.Len()
}

// Identical tells whether a and b are the same value of the same kind: 1 and 1.0 are not, 'a' and 'A' are not.
// Hashes are compared without regard to order.
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
