package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/snapshot"
)

// Value is what a lookup finds: undef, a boolean, an integer of 64 bits, a float, a string, an array or a hash (and, from
// expressions, a regular expression, a type, or the default). The zero Value is undef. It is a view of the snapshot and
// valid until that is closed. In a snapshot that is damaged it may be undef, or end early; Snapshot.Verify and MarshalJSON tell.
type Value struct{ v value.Value } // read with get

// get is v. Where it cannot be read, in a damaged file, it is undef.
func (v Value) get() value.Value {
	c, _ := v.v.Read()
	return c
}

// Kind says what a Value is.
type Kind = value.Kind

// The kinds of values.
const (
	Undef  = value.Undef
	Bool   = value.Bool
	Int    = value.Int
	Float  = value.Float
	String = value.String
	Array  = value.Array
	Hash   = value.Hash
)

// Kind says what v is.
func (v Value) Kind() Kind { return v.get().Kind() }

// Sensitive tells whether v is the value of a binding marked as sensitive, or was computed from one: it should be shown
// only to who asked for it. Elements and entries do not carry the mark.
func (v Value) Sensitive() bool { return v.v.IsSensitive() }

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

// Text is the text of a string, without copying it; "" if v is none.
func (v Value) Text() string { return v.get().Text() }

// String is v as it stands in an interpolated string.
func (v Value) String() string { return string(value.AppendText(nil, v.get())) }

// Len is the number of elements of an array or of entries of a hash, else 0.
func (v Value) Len() int { return v.get().Len() }

// Elems ranges over the elements of an array, in order.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for e := range v.get().Elems() {
			if !yield(Value{v: e}) {
				return
			}
		}
	}
}

// Entries ranges over the entries of a hash, in the order of the data.
func (v Value) Entries() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		for k, e := range v.get().Pairs() {
			if !yield(Value{v: k}, Value{v: e}) {
				return
			}
		}
	}
}

// Get is the entry of a hash with a string key.
func (v Value) Get(key string) (Value, bool) {
	e, ok := v.get().Get(value.FromString(key))
	return Value{v: e}, ok
}

// Index is element i of an array, from 0; undef where there is none.
func (v Value) Index(i int) Value { return Value{v: v.get().Index(i)} }

// Interface is v as ordinary Go values that do not refer to the snapshot: nil, bool, int64, float64, string, []any and
// map[string]any, whose keys are the text of the hash's keys.
func (v Value) Interface() any {
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
// *snapshot.DamageError.
func (v Value) MarshalJSON() ([]byte, error) {
	c, err := v.whole()
	if err != nil {
		return nil, err
	}
	return value.AppendJSON(nil, c), nil
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
		return &snapshot.DamageError{Section: "keys", Expected: "a value, all of whose elements are values"}
	}
	return nil
}

// Check asserts a type, as `type:` of a binding does (language.md, section 9): nil, or an *Error with the code
// type_mismatch that says what was expected and found, and where in the value, or a *snapshot.DamageError.
func (v Value) Check(t *Type) error {
	c, err := v.whole()
	if err != nil {
		return err
	}
	if m := t.t.Check(c); m != nil {
		return &Error{Code: "type_mismatch", Message: m.Text(v.Sensitive())}
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

// ParseJSON reads one JSON value; hashes keep their order, integers are exact. What is no JSON, nested deeper than values of
// bindings are, or has a number beyond 64 bits is an error. The value does not refer to text.
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

// ValueOf converts ordinary Go values: nil, booleans, integers, floats, json.Number, strings, Values, slices of any or of
// strings, and maps from string to any, which are taken in the order of their keys. Anything else is an error, and so is
// an integer beyond 64 bits with a sign.
func ValueOf(x any) (Value, error) {
	switch x := x.(type) {
	case nil:
		return Value{}, nil
	case Value:
		return x, nil
	case bool:
		return Value{v: value.FromBool(x)}, nil
	case string:
		return Value{v: value.FromString(x)}, nil
	case json.Number:
		v, err := jsonNumber(string(x))
		return Value{v: v}, err
	case []any:
		return sliceOf(x)
	case []string:
		return Value{v: value.Strings(x...)}, nil
	case map[string]any:
		return hashOf(x)
	}
	return numberOf(reflect.ValueOf(x))
}

func numberOf(x reflect.Value) (Value, error) {
	switch {
	case x.CanInt():
		return Value{v: value.FromInt(x.Int())}, nil
	case x.CanFloat():
		return Value{v: value.FromFloat(x.Float())}, nil
	case !x.CanUint():
		return Value{}, fmt.Errorf("a value of Go type %s cannot be made a value of the bindings", x.Type())
	case x.Uint() > math.MaxInt64:
		return Value{}, fmt.Errorf("the integer %d does not fit 64 bits with a sign", x.Uint())
	}
	return Value{v: value.FromInt(int64(x.Uint()))}, nil
}

func sliceOf(xs []any) (Value, error) {
	elems := make([]value.Value, len(xs))
	for i, x := range xs {
		e, err := ValueOf(x)
		if err != nil {
			return Value{}, err
		}
		elems[i] = e.get()
	}
	return Value{v: value.FromSlice(elems)}, nil
}

func hashOf(m map[string]any) (Value, error) {
	var b value.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e, err := ValueOf(m[k])
		if err != nil {
			return Value{}, err
		}
		b.Set(value.FromString(k), e.get())
	}
	return Value{v: b.Hash()}, nil
}
