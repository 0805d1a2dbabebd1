package runtime

import (
	"fmt"
	"iter"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/types"
	"bindc/internal/value"
)

// Value is the result of a lookup: undef, a boolean, a 64-bit integer, a float, a string, an array or a hash. An
// expression may also yield a regular expression, a type, or default. The zero Value is undef. A Value keeps the file
// mapped that it refers to, so it stays valid after its snapshot or Lease is closed.
//
// A Value is read on demand. If that part of the snapshot is damaged, Kind returns Invalid, and every method that
// returns an error returns a *DamageError.
//
// A Value is sensitive if a binding marks it so, or if it was computed from a sensitive one. The parts that Elems,
// Entries, Get and Index return are then sensitive too. Methods that format the whole value (String, all verbs of
// package fmt, MarshalJSON and Interface) return "<sensitive>" instead. Bool, Int, Float and Text return the actual
// value, and Reveal returns the value without the mark.
type Value lookup.Value

func (v Value) handle() lookup.Value { return lookup.Value(v) }

// Kind is the kind of a Value.
type Kind = value.Kind

// The kinds of values.
const (
	Undef     = value.Undef
	Default   = value.Default // the word default in an expression
	Bool      = value.Bool
	Int       = value.Int
	Float     = value.Float
	String    = value.String
	Regexp    = value.Regexp // Text returns its source
	Array     = value.Array
	Hash      = value.Hash
	TypeValue = value.Type    // String returns a text that ParseType parses
	Invalid   = value.Invalid // the value is damaged and cannot be read
)

// Kind returns the kind of v.
func (v Value) Kind() Kind { return value.Value(v).ReadKind() }

// IsUndef reports whether v is undef, which YAML writes as null.
func (v Value) IsUndef() bool { return v.Kind() == Undef }

// Sensitive reports whether v is sensitive: a program should show it only to the user who asked for it.
func (v Value) Sensitive() bool { return v.handle().Sensitive() }

// Reveal returns v without the sensitive mark.
func (v Value) Reveal() Value { return Value(v.handle().Reveal()) }

// Bool returns v as a boolean. Bool, Int, Float and Text return an *Error with the code type_mismatch if v has another
// kind.
func (v Value) Bool() (bool, error) {
	c, err := value.Value(v).Read()
	if err == nil && c.Kind() != Bool {
		err = mismatch(Bool, c)
	}
	return c.Bool(), err
}

// Int returns v as an integer.
func (v Value) Int() (int64, error) {
	c, err := value.Value(v).Read()
	switch {
	case err != nil:
		return 0, err
	case c.Kind() != Int:
		return 0, mismatch(Int, c)
	}
	return c.Int(), nil
}

// Float returns v as a float, converting an integer.
func (v Value) Float() (float64, error) {
	c, err := value.Value(v).Read()
	switch {
	case err != nil:
		return 0, err
	case c.Kind() == Int:
		return float64(c.Int()), nil
	case c.Kind() != Float:
		return 0, mismatch(Float, c)
	}
	return c.Float(), nil
}

// Text returns a copy of the text of a string or of the source of a regular expression.
func (v Value) Text() (string, error) {
	text, err := v.TextView()
	text = strings.Clone(text)
	v.handle().KeepAlive()
	return text, err
}

// TextView is like Text, but does not copy the text. The string is valid only while the program keeps v, the snapshot
// or the request alive, for instance with KeepAlive of Go's package runtime. After that it may have any content, and
// reading it may crash the program.
func (v Value) TextView() (string, error) {
	if text, ok := value.Value(v).ReadText(); ok {
		return text, nil
	}
	return v.text()
}

// text implements TextView for values that ReadText cannot read.
func (v Value) text() (string, error) {
	c, err := value.Value(v).Read()
	if err == nil && c.Kind() != String && c.Kind() != Regexp {
		err = mismatch(String, c)
	}
	return c.Text(), err
}

// mismatch returns an error that names the kind of found but not its content.
func mismatch(expected Kind, found value.Value) error {
	return &Error{Code: CodeTypeMismatch, Message: "expected " + expected.String() + ", found " + found.Kind().String()}
}

// String returns v as it appears in an interpolated string.
func (v Value) String() string { return v.handle().String() }

// Format implements fmt.Formatter. Every verb formats the result of String.
func (v Value) Format(f fmt.State, verb rune) { fmt.Fprintf(f, fmt.FormatString(f, verb), v.String()) }

// Len returns the number of elements of an array or entries of a hash, 0 for other kinds, and -1 if v cannot be read.
func (v Value) Len() int {
	c, err := v.handle().Whole()
	if err != nil {
		return -1
	}
	return c.Len()
}

// Elems returns an iterator over the elements of an array, in order. If v cannot be read, it yields one Invalid
// element.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		c, err := v.handle().Whole()
		if err != nil {
			yield(v)
			return
		}
		for e := range c.Elems() {
			if !yield(Value(v.handle().Part(e))) {
				break
			}
		}
		v.handle().KeepAlive()
	}
}

// Entries returns an iterator over the entries of a hash, in the order of the data. If v cannot be read, it yields one
// entry with an Invalid key and value.
func (v Value) Entries() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		c, err := v.handle().Whole()
		if err != nil {
			yield(v, v)
			return
		}
		for k, e := range c.Pairs() {
			if !yield(Value(v.handle().Part(k)), Value(v.handle().Part(e))) {
				break
			}
		}
		v.handle().KeepAlive()
	}
}

// Get returns the value under a string key of a hash, and whether the hash has the key. If v cannot be read, it returns
// an Invalid value and true.
func (v Value) Get(key string) (Value, bool) {
	c, err := v.handle().Whole()
	if err != nil {
		return v, true
	}
	e, ok := c.Get(value.FromString(key))
	v.handle().KeepAlive()
	return Value(v.handle().Part(e)), ok
}

// Index returns element i of an array, counted from 0. It returns undef if there is no such element, and an Invalid
// value if v cannot be read.
func (v Value) Index(i int) Value {
	c, err := v.handle().Whole()
	if err != nil {
		return v
	}
	e := c.Index(i)
	v.handle().KeepAlive()
	return Value(v.handle().Part(e))
}

// Interface converts v to ordinary Go values: nil, bool, int64, float64, string, []any and map[string]any. The keys of
// a map are the text of the keys of the hash. It returns the same errors as MarshalJSON.
func (v Value) Interface() (any, error) {
	if v.Sensitive() {
		return lookup.Redacted, nil
	}
	c, err := v.handle().Whole()
	if err != nil {
		return nil, err
	}
	out, err := ordinary(c)
	v.handle().KeepAlive()
	return out, err
}

func ordinary(v value.Value) (any, error) {
	switch v.Kind() {
	case value.Undef:
		return nil, nil
	case value.Bool:
		return v.Bool(), nil
	case value.Int:
		return v.Int(), nil
	case value.Float:
		return v.Float(), nil
	case value.Array:
		return ordinarySlice(v)
	case value.Hash:
		return ordinaryMap(v)
	}
	return string(value.AppendText(nil, v)), nil
}

func ordinarySlice(v value.Value) (any, error) {
	out := make([]any, 0, v.Len())
	for e := range v.Elems() {
		o, err := ordinary(e)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func ordinaryMap(v value.Value) (any, error) {
	out := make(map[string]any, v.Len())
	for k, e := range v.Pairs() {
		name := string(value.AppendText(nil, k))
		if _, twice := out[name]; twice {
			return nil, sameText(name)
		}
		o, err := ordinary(e)
		if err != nil {
			return nil, err
		}
		out[name] = o
	}
	return out, nil
}

// MarshalJSON returns v as JSON: hashes in the order of the data, floats with a point, integers exact. The error is a
// *DamageError, or an *Error with the code type_mismatch if two keys of a hash have the same text, such as 1 and '1',
// which JSON cannot distinguish.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Sensitive() {
		return []byte(`"` + lookup.Redacted + `"`), nil
	}
	c, err := v.handle().Whole()
	if err != nil {
		return nil, err
	}
	if name, twice := value.SameText(c); twice {
		return nil, sameText(name)
	}
	out := value.AppendJSON(nil, c)
	v.handle().KeepAlive()
	return out, nil
}

func sameText(name string) error {
	return &Error{Code: CodeTypeMismatch, Message: "a hash has two keys whose text is '" + strings.Clone(name) +
		"', which JSON cannot distinguish"}
}

// Check checks v against a type, as `type:` in a binding does (language.md, section 9). The error is an *Error with the
// code type_mismatch, or a *DamageError. The message of a type_mismatch has the expected type, the actual type, and the
// path to the wrong part.
func (v Value) Check(t *Type) error {
	c, err := v.handle().Whole()
	if err != nil {
		return err
	}
	if m := t.t.Check(c); m != nil {
		return &Error{Code: CodeTypeMismatch, Message: m.Text(v.Sensitive())}
	}
	v.handle().KeepAlive()
	return nil
}

// Type is a type to check values against. It does not refer to a snapshot, and is safe for concurrent use.
type Type struct{ t *types.Type }

// ParseType parses a type, such as "Array[String]". The error describes the mistake in the text.
func ParseType(text string) (*Type, error) {
	t, err := types.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Type{t}, nil
}
