package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Value is what a lookup finds: undef, a boolean, an integer of 64 bits, a float, a string, an array or a hash (and,
// from expressions, a regular expression, a type, or the default). The zero Value is undef. It is a view of the
// snapshot; the comment of the package says how long it is valid. In a snapshot that is damaged it may be undef, or end
// early; Snapshot.Verify and MarshalJSON tell.
//
// A value is sensitive that a binding marks so, or that was computed from one; so is whatever part of it Elems,
// Entries, Get and Index give. What makes something else of a whole value for others to see, String, all verbs of
// package fmt, MarshalJSON and Interface, makes "<sensitive>" of it. Bool, Int, Float and Text give what they are asked
// for, and Reveal gives the value without the mark.
type Value struct{ v value.Value } // read with get

// get is v. Where it cannot be read, in a damaged file, it is undef.
func (v Value) get() value.Value {
	c, _ := v.v.Read()
	return c
}

// redacted stands for a sensitive value.
const redacted = "<sensitive>"

// Kind says what a Value is.
type Kind = value.Kind

// The kinds of values.
const (
	Undef     = value.Undef
	Default   = value.Default // the word default of an expression
	Bool      = value.Bool
	Int       = value.Int
	Float     = value.Float
	String    = value.String
	Regexp    = value.Regexp // Text is its source
	Array     = value.Array
	Hash      = value.Hash
	TypeValue = value.Type // String is its text, which ParseType reads
)

// Kind says what v is.
func (v Value) Kind() Kind { return v.get().Kind() }

// Sensitive tells whether v should be shown only to who asked for it.
func (v Value) Sensitive() bool { return v.v.IsSensitive() }

// Reveal is v without the mark, to be shown.
func (v Value) Reveal() Value {
	if v.Sensitive() {
		return Value{v.get()}
	}
	return v
}

// part is something inside v.
func (v Value) part(e value.Value) Value {
	if v.Sensitive() {
		return Value{e.Sensitive()}
	}
	return Value{e}
}

// IsUndef tells whether v is undef, which YAML writes as null.
func (v Value) IsUndef() bool { return v.get().IsUndef() }

// Bool is v as a boolean; false if it is none.
func (v Value) Bool() bool { return v.get().Bool() }

// Int is v as an integer; 0 if it is none.
func (v Value) Int() int64 {
	if c := v.get(); c.Kind() == value.Int {
		return c.Int()
	}
	return 0
}

// Float is v as a float; an integer is converted, anything else is 0.
func (v Value) Float() float64 {
	switch c := v.get(); c.Kind() {
	case value.Float:
		return c.Float()
	case value.Int:
		return float64(c.Int())
	}
	return 0
}

// Text is the text of a string or the source of a regular expression, without copying it; "" if v is neither.
func (v Value) Text() string { return v.get().Text() }

// String is v as it stands in an interpolated string.
func (v Value) String() string {
	if v.Sensitive() {
		return redacted
	}
	return string(value.AppendText(nil, v.get()))
}

// Format has every verb of package fmt format v as the text that String gives.
func (v Value) Format(f fmt.State, verb rune) { fmt.Fprintf(f, fmt.FormatString(f, verb), v.String()) }

// Len is the number of elements of an array or of entries of a hash, else 0.
func (v Value) Len() int { return v.get().Len() }

// Elems ranges over the elements of an array, in order.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for e := range v.get().Elems() {
			if !yield(v.part(e)) {
				return
			}
		}
	}
}

// Entries ranges over the entries of a hash, in the order of the data.
func (v Value) Entries() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		for k, e := range v.get().Pairs() {
			if !yield(v.part(k), v.part(e)) {
				return
			}
		}
	}
}

// Get is the entry of a hash with a string key.
func (v Value) Get(key string) (Value, bool) {
	e, ok := v.get().Get(value.FromString(key))
	return v.part(e), ok
}

// Index is element i of an array, from 0; undef where there is none.
func (v Value) Index(i int) Value { return v.part(v.get().Index(i)) }

// Interface is v as ordinary Go values that do not refer to the snapshot: nil, bool, int64, float64, string, []any and
// map[string]any, whose keys are the text of the hash's keys.
func (v Value) Interface() any {
	if v.Sensitive() {
		return redacted
	}
	v.v = v.get()
	switch v.v.Kind() {
	case value.Undef:
		return nil
	case value.Bool:
		return v.v.Bool()
	case value.Int:
		return v.v.Int()
	case value.Float:
		return v.v.Float()
	case value.Array:
		out := make([]any, 0, v.Len())
		for e := range v.Elems() {
			out = append(out, e.Interface())
		}
		return out
	case value.Hash:
		out := make(map[string]any, v.Len())
		for k, e := range v.Entries() {
			out[k.String()] = e.Interface()
		}
		return out
	}
	return v.String()
}

// MarshalJSON is v as JSON: hashes in the order of the data, floats with a point, integers exact. The error is a
// *DamageError.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Sensitive() {
		return []byte(`"` + redacted + `"`), nil
	}
	c, err := v.whole()
	if err != nil {
		return nil, err
	}
	return value.AppendJSON(nil, c), nil
}

// AppendRich appends v as the rich data of Puppet, JSON that loses nothing: docs/serve.md has the forms. rich tells
// whether they occur; else it is plain JSON. The error is that of MarshalJSON.
func (v Value) AppendRich(dst []byte) (out []byte, rich bool, err error) {
	if v.Sensitive() {
		return append(dst, `"`+redacted+`"`...), false, nil
	}
	c, err := v.whole()
	if err != nil {
		return dst, false, err
	}
	out, rich = value.AppendRich(dst, c)
	return out, rich, nil
}

// whole is v, if all of it can be read.
func (v Value) whole() (value.Value, error) {
	c, err := v.v.Read()
	if err == nil {
		err = sound(c)
	}
	return c, err
}

// sound checks what is inside an array or a hash that was found; a lookup alone does not.
func sound(v value.Value) error {
	if !value.Sound(v) {
		return &DamageError{Section: "keys", Expected: "a value, all of whose elements are values"}
	}
	return nil
}

// Check asserts a type, as `type:` of a binding does (language.md, section 9): nil, or an *Error with the code
// type_mismatch that says what was expected and found, and where in the value, or a *DamageError.
func (v Value) Check(t *Type) error {
	c, err := v.whole()
	if err != nil {
		return err
	}
	if m := t.t.Check(c); m != nil {
		return &Error{Code: CodeTypeMismatch, Message: m.Text(v.Sensitive())}
	}
	return nil
}

// Type is a type that values are held to. It belongs to no snapshot and may be used by several goroutines at once.
type Type struct{ t *types.Type }

// ParseType reads a type, as "Array[String]". The error says what is wrong with the text.
func ParseType(text string) (*Type, error) {
	t, err := types.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Type{t}, nil
}

// ParseJSON reads one JSON value; hashes keep their order, integers are exact. What is no JSON, nested deeper than
// values of bindings are, or has a number beyond 64 bits is an error. The value does not refer to text.
func ParseJSON(text []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := readJSON(d, value.MaxDepth)
	if err == io.EOF {
		return Value{}, io.ErrUnexpectedEOF
	}
	if err != nil {
		return Value{}, err
	}
	if _, more := d.Token(); more != io.EOF {
		return Value{}, errors.New("expected one JSON value, found more behind it")
	}
	return Value{v: v}, nil
}

func readJSON(d *json.Decoder, depth int) (value.Value, error) {
	t, err := d.Token()
	if err != nil {
		return value.Value{}, err
	}
	switch t := t.(type) {
	case bool:
		return value.FromBool(t), nil
	case string:
		return value.FromString(t), nil
	case json.Number:
		return jsonNumber(string(t))
	case json.Delim:
		if depth == 0 {
			return value.Value{}, fmt.Errorf("expected JSON nested at most %d levels deep", value.MaxDepth)
		}
		if t == '[' {
			return readJSONArray(d, depth-1)
		}
		return readJSONObject(d, depth-1)
	}
	return value.Value{}, nil
}

func readJSONArray(d *json.Decoder, depth int) (value.Value, error) {
	elems := []value.Value{}
	for d.More() {
		e, err := readJSON(d, depth)
		if err != nil {
			return value.Value{}, err
		}
		elems = append(elems, e)
	}
	_, err := d.Token()
	return value.FromSlice(elems), err
}

func readJSONObject(d *json.Decoder, depth int) (value.Value, error) {
	var b value.Builder
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return value.Value{}, err
		}
		e, err := readJSON(d, depth)
		if err != nil {
			return value.Value{}, err
		}
		name, _ := k.(string)
		b.Set(value.FromString(name), e)
	}
	_, err := d.Token()
	return b.Hash(), err
}

func jsonNumber(text string) (value.Value, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value.FromInt(n), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return value.Value{}, fmt.Errorf("expected a number of 64 bits, found %s", text)
	}
	return value.FromFloat(f), nil
}

// ValueOf converts ordinary Go values: nil, booleans, integers, floats, json.Number, strings, Values, slices and
// arrays, and maps whose keys are strings, which are taken in the order of these; also those behind pointers, and of
// types that have one of these kinds. Anything else is an error, and so is an integer beyond 64 bits with a sign. What
// holds a sensitive Value is sensitive.
func ValueOf(x any) (Value, error) {
	sensitive := false
	v, err := valueOf(reflect.ValueOf(x), value.MaxDepth, &sensitive)
	if err == nil && sensitive {
		v = v.Sensitive()
	}
	return Value{v}, err
}

func valueOf(x reflect.Value, depth int, sensitive *bool) (value.Value, error) {
	if depth < 0 {
		return value.Value{}, fmt.Errorf("expected values nested at most %d levels deep", value.MaxDepth)
	}
	switch {
	case !x.IsValid():
		return value.Value{}, nil
	case x.Type() == reflect.TypeFor[Value]():
		v := x.Interface().(Value)
		*sensitive = *sensitive || v.Sensitive()
		return v.get(), nil
	case x.Type() == reflect.TypeFor[json.Number]():
		return jsonNumber(x.String())
	}
	switch x.Kind() {
	case reflect.Bool:
		return value.FromBool(x.Bool()), nil
	case reflect.String:
		return value.FromString(x.String()), nil
	case reflect.Interface:
		return valueOf(x.Elem(), depth, sensitive)
	case reflect.Pointer:
		return valueOf(x.Elem(), depth-1, sensitive)
	case reflect.Slice, reflect.Array:
		return sliceOf(x, depth-1, sensitive)
	case reflect.Map:
		if x.Type().Key().Kind() == reflect.String {
			return hashOf(x, depth-1, sensitive)
		}
	}
	return numberOf(x)
}

func numberOf(x reflect.Value) (value.Value, error) {
	switch {
	case x.CanInt():
		return value.FromInt(x.Int()), nil
	case x.CanFloat():
		return value.FromFloat(x.Float()), nil
	case !x.CanUint():
		return value.Value{}, fmt.Errorf("a value of Go type %s cannot be made a value of the bindings", x.Type())
	case x.Uint() > math.MaxInt64:
		return value.Value{}, fmt.Errorf("the integer %d does not fit 64 bits with a sign", x.Uint())
	}
	return value.FromInt(int64(x.Uint())), nil
}

func sliceOf(xs reflect.Value, depth int, sensitive *bool) (value.Value, error) {
	elems := make([]value.Value, xs.Len())
	for i := range elems {
		var err error
		if elems[i], err = valueOf(xs.Index(i), depth, sensitive); err != nil {
			return value.Value{}, err
		}
	}
	return value.FromSlice(elems), nil
}

func hashOf(m reflect.Value, depth int, sensitive *bool) (value.Value, error) {
	var b value.Builder
	byName := func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }
	for _, k := range slices.SortedFunc(slices.Values(m.MapKeys()), byName) {
		e, err := valueOf(m.MapIndex(k), depth, sensitive)
		if err != nil {
			return value.Value{}, err
		}
		b.Set(value.FromString(k.String()), e)
	}
	return b.Hash(), nil
}
