package runtime

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/value"
)

// Decode looks up key and stores its value in the variable that into points to, as Value.Decode does. If key is not
// bound, found is false and the variable is unchanged. Decode returns the errors of Lookup and of Value.Decode, with
// the key in the message.
func (r *Request) Decode(key string, into any) (found bool, err error) {
	v, found, err := r.Lookup(key)
	if err != nil || !found {
		return false, err
	}
	err = v.Decode(into)
	if e, ok := err.(*Error); ok {
		err = &Error{Key: strings.Clone(key), Code: e.Code, Message: "'" + key + "': " + e.Message, Err: e.Err}
	}
	return err == nil, err
}

// Decode stores v in the variable that into points to, by the type of the variable:
//
//   - A struct takes a hash. A field takes the entry with the name in its tag `bindings:"name"`, or without a tag, with
//     its own name in lower case. Fields that are not exported or have the tag "-" are ignored. The fields of an
//     embedded struct count as fields of the outer struct. Entries without a field are ignored. Fields without an entry
//     are unchanged, so that a program can set defaults.
//   - A map takes a hash. Its keys are strings or integers, and the keys of the hash must be of that kind. Entries are
//     added to a map that is not nil.
//   - A slice takes an array. An array takes an array of its length.
//   - Booleans, strings, integers and floats take values of their kind; a float also takes an integer. A number that
//     does not fit is an error.
//   - A type with UnmarshalText takes a string.
//   - A pointer is set to a new variable, or to nil for undef.
//   - A Value takes any value and keeps the mark of a sensitive one. An empty interface takes what Interface returns,
//     but no sensitive value.
//
// Undef sets a variable to its zero value. Decode returns an error for a variable of any other type, and if into is nil
// or not a pointer.
//
// Decode stores the content of a sensitive value in a variable of an ordinary Go type, as Text returns it. The variable
// gets copies that do not refer to a file, except for Values. Errors do not show anything sensitive.
//
// The error is an *Error with the code type_mismatch, whose message has the path to the part that does not fit, such as
// servers[2].port; an *Error with the code usage if into has a wrong type; or a *DamageError. After an error, part of
// the variable may have changed.
func (v Value) Decode(into any) error {
	to := reflect.ValueOf(into)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return &Error{Code: CodeUsage, Message: fmt.Sprintf("expected a pointer to decode into, found %T", into)}
	}
	c, err := v.handle().Whole()
	if err != nil {
		return err
	}
	d := decoder{v, v.Sensitive(), ""}
	err = d.decode(c, to.Elem())
	v.handle().KeepAlive()
	return err
}

// tag is the key of struct tags that name the entry for a field.
const tag = "bindings"

// decoder decodes a value. The decoders that entry and element return decode a part of it.
type decoder struct {
	whole     Value
	sensitive bool
	path      string // path to the part, for errors; "" for the whole value
}

func (d decoder) failed(code Code, message string) error {
	if d.path != "" {
		message = d.path + ": " + message
	}
	return &Error{Code: code, Message: message}
}

func (d decoder) mismatch(expected string, found value.Value) error {
	return d.failed(CodeTypeMismatch, "expected "+expected+", found "+found.Kind().String())
}

func (d decoder) entry(name string) decoder {
	if d.path != "" {
		name = d.path + "." + name
	}
	d.path = name
	return d
}

func (d decoder) element(i int) decoder {
	d.path += "[" + strconv.Itoa(i) + "]"
	return d
}

// decode stores c in the variable to. The order of the cases matters: undef also resets a type with UnmarshalText.
func (d decoder) decode(c value.Value, to reflect.Value) error {
	switch {
	case to.Type() == reflect.TypeFor[Value]():
		to.Set(reflect.ValueOf(Value(d.whole.handle().Part(c))))
		return nil
	case c.IsUndef():
		to.SetZero()
		return nil
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return d.decode(c, to.Elem())
	}
	if u, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return d.unmarshal(c, u)
	}
	switch to.Kind() {
	case reflect.Interface:
		return d.decodeAny(c, to)
	case reflect.Struct:
		return d.decodeStruct(c, to)
	case reflect.Map:
		return d.decodeMap(c, to)
	case reflect.Slice, reflect.Array:
		return d.decodeElements(c, to)
	}
	return d.decodeScalar(c, to)
}

func (d decoder) unmarshal(c value.Value, u encoding.TextUnmarshaler) error {
	if c.Kind() != String {
		return d.mismatch(String.String(), c)
	}
	err := u.UnmarshalText([]byte(c.Text()))
	switch {
	case err == nil:
		return nil
	case d.sensitive: // the error of UnmarshalText may quote the value
		return d.failed(CodeTypeMismatch, fmt.Sprintf("a sensitive string does not have the form of %T", u))
	}
	failure := d.failed(CodeTypeMismatch, err.Error()).(*Error)
	failure.Err = err
	return failure
}

func (d decoder) decodeAny(c value.Value, to reflect.Value) error {
	if to.NumMethod() > 0 {
		return d.unsupported(to)
	}
	if d.sensitive {
		return d.failed(CodeTypeMismatch, "the value is sensitive: decode it into a Value, or into a type other than any")
	}
	out, err := ordinary(c)
	if e, ok := err.(*Error); ok {
		return d.failed(e.Code, e.Message)
	}
	if err == nil {
		to.Set(reflect.ValueOf(out))
	}
	return err
}

func (d decoder) unsupported(to reflect.Value) error {
	return d.failed(CodeUsage, "cannot decode into the Go type "+to.Type().String())
}

func (d decoder) decodeStruct(c value.Value, to reflect.Value) error {
	if c.Kind() != Hash {
		return d.mismatch(Hash.String(), c)
	}
	for i := range to.NumField() {
		field := to.Type().Field(i)
		name, tagged := field.Tag.Lookup(tag)
		embedded := field.Anonymous && !tagged && field.Type.Kind() == reflect.Struct
		if name == "-" || !field.IsExported() && !embedded {
			continue
		}
		if embedded {
			if err := d.decodeStruct(c, to.Field(i)); err != nil {
				return err
			}
			continue
		}
		if !tagged {
			name = strings.ToLower(field.Name)
		}
		if e, exists := c.Get(value.FromString(name)); exists {
			if err := d.entry(name).decode(e, to.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d decoder) decodeMap(c value.Value, to reflect.Value) error {
	if c.Kind() != Hash {
		return d.mismatch(Hash.String(), c)
	}
	keys, elems := to.Type().Key(), to.Type().Elem()
	if k := reflect.New(keys).Elem(); k.Kind() != reflect.String && !k.CanInt() && !k.CanUint() {
		return d.unsupported(to)
	}
	if to.IsNil() {
		to.Set(reflect.MakeMapWithSize(to.Type(), c.Len()))
	}
	for k, e := range c.Pairs() {
		name := string(value.AppendText(nil, k))
		if d.sensitive {
			name = lookup.Redacted
		}
		inner := d.entry(name)
		key, elem := reflect.New(keys).Elem(), reflect.New(elems).Elem()
		if err := inner.decodeScalar(k, key); err != nil {
			return err
		}
		if err := inner.decode(e, elem); err != nil {
			return err
		}
		to.SetMapIndex(key, elem)
	}
	return nil
}

func (d decoder) decodeElements(c value.Value, to reflect.Value) error {
	if c.Kind() != Array {
		return d.mismatch(Array.String(), c)
	}
	if to.Kind() == reflect.Slice {
		to.Set(reflect.MakeSlice(to.Type(), c.Len(), c.Len()))
	} else if c.Len() != to.Len() {
		return d.failed(CodeTypeMismatch, fmt.Sprintf("expected %d elements, found %d", to.Len(), c.Len()))
	}
	for i, e := range slices.Collect(c.Elems()) {
		if err := d.element(i).decode(e, to.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d decoder) decodeScalar(c value.Value, to reflect.Value) error {
	switch {
	case to.Kind() == reflect.Bool:
		if c.Kind() != Bool {
			return d.mismatch(Bool.String(), c)
		}
		to.SetBool(c.Bool())
	case to.Kind() == reflect.String:
		if c.Kind() != String && c.Kind() != Regexp {
			return d.mismatch(String.String(), c)
		}
		to.SetString(strings.Clone(c.Text()))
	case to.CanInt():
		if c.Kind() != Int || to.OverflowInt(c.Int()) {
			return d.outside(c, to)
		}
		to.SetInt(c.Int())
	case to.CanUint():
		if c.Kind() != Int || c.Int() < 0 || to.OverflowUint(uint64(c.Int())) {
			return d.outside(c, to)
		}
		to.SetUint(uint64(c.Int()))
	case to.CanFloat():
		return d.decodeFloat(c, to)
	default:
		return d.unsupported(to)
	}
	return nil
}

func (d decoder) decodeFloat(c value.Value, to reflect.Value) error {
	f := c.Float()
	switch {
	case c.Kind() == Int:
		f = float64(c.Int())
	case c.Kind() != Float:
		return d.mismatch(Float.String(), c)
	}
	if !math.IsInf(f, 0) && to.OverflowFloat(f) {
		return d.outside(c, to)
	}
	to.SetFloat(f)
	return nil
}

// outside returns the error for c, which is not a number of the right kind or does not fit the variable to.
func (d decoder) outside(c value.Value, to reflect.Value) error {
	if c.Kind() != Int && c.Kind() != Float || c.Kind() == Float && !to.CanFloat() {
		return d.mismatch(Int.String(), c)
	}
	found := "a sensitive number"
	if !d.sensitive {
		found = string(value.AppendText(nil, c))
	}
	return d.failed(CodeTypeMismatch, "expected a number that fits "+to.Type().String()+", found "+found)
}
