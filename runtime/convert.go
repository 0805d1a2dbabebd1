package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/value"
)

// UnmarshalJSON sets v to the one JSON value in text. Hashes keep their order and integers are exact. It rejects
// invalid JSON, nesting deeper than a binding allows, numbers that do not fit 64 bits, and objects with two different
// values for a name. v does not refer to text. After an error, v is unchanged.
func (v *Value) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	parsed, err := readJSON(d, value.MaxDepth)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	if _, more := d.Token(); more != io.EOF {
		return errors.New("expected one JSON value, found data after it")
	}
	*v = Value(lookup.FromValue(parsed))
	return nil
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
		end := d.InputOffset()
		e, err := readJSON(d, depth)
		if err != nil {
			return value.Value{}, err
		}
		name, _ := k.(string)
		before := b.Len()
		at := b.At(value.FromString(name))
		if b.Len() == before && !value.Same(*at, e) {
			return value.Value{}, fmt.Errorf("byte %d: '%s' is given twice in one object, with different values", end,
				value.Shorten(name))
		}
		*at = e
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
		return value.Value{}, fmt.Errorf("expected a 64-bit number, found %s", text)
	}
	return value.FromFloat(f), nil
}

// ValueOf converts ordinary Go values: nil, booleans, integers, floats, json.Number, strings, Values, slices, arrays,
// and maps with string keys, which it sorts. It follows pointers and accepts named types of these kinds. It returns an
// error for anything else, and for an integer that does not fit int64. The result is sensitive if x contains a
// sensitive Value.
func ValueOf(x any) (Value, error) {
	sensitive := false
	v, err := valueOf(reflect.ValueOf(x), value.MaxDepth, &sensitive)
	if err == nil && sensitive {
		v = v.Sensitive()
	}
	return Value(lookup.FromValue(v)), err
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
		return v.handle().Copy()
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
		return value.Value{}, fmt.Errorf("cannot convert a Go value of type %s", x.Type())
	case x.Uint() > math.MaxInt64:
		return value.Value{}, fmt.Errorf("the integer %d does not fit a signed 64-bit integer", x.Uint())
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
