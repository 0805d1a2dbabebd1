package report

import (
	"encoding/json"

	"bindc/internal/lookup"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// Tree converts v for writing as YAML or JSON. Sensitive values are hidden, and hash keys keep their type where YAML
// has it. Tree returns a *DamageError if v is damaged. It returns another error if two keys of a hash have the same
// text.
func Tree(v bindings.Value) (value.Value, error) {
	if v.Sensitive() {
		return value.FromString(v.String()), nil
	}
	if v.Len() < 0 { // negative if v is damaged
		_, _, err := lookup.Value(v).AppendRich(nil)
		return value.Value{}, err
	}
	switch v.Kind() {
	case bindings.Undef:
		return value.Value{}, nil
	case bindings.Bool:
		on, err := v.Bool()
		return value.FromBool(on), err
	case bindings.Int:
		n, err := v.Int()
		return value.FromInt(n), err
	case bindings.Float:
		f, err := v.Float()
		return value.FromFloat(f), err
	case bindings.Default:
		return value.TheDefault(), nil
	case bindings.Array:
		return arrayTree(v)
	case bindings.Hash:
		return hashTree(v)
	}
	return value.FromString(v.String()), nil
}

func arrayTree(v bindings.Value) (value.Value, error) {
	elems := []value.Value{}
	for e := range v.Elems() {
		t, err := Tree(e)
		if err != nil {
			return value.Value{}, err
		}
		elems = append(elems, t)
	}
	return value.FromSlice(elems), nil
}

func hashTree(v bindings.Value) (value.Value, error) {
	var b value.Builder
	for k, e := range v.Entries() {
		key, err := Tree(k)
		if err == nil && key.Kind() == value.Default {
			key = value.FromString(k.String())
		}
		if _, twice := b.Get(key); err == nil && twice {
			err = &bindings.Error{Code: bindings.CodeTypeMismatch, Message: "a hash has two keys with the text '" +
				k.String() + "', which neither YAML nor JSON can distinguish"}
		}
		if err != nil {
			return value.Value{}, err
		}
		t, err := Tree(e)
		if err != nil {
			return value.Value{}, err
		}
		b.Set(key, t)
	}
	return b.Hash(), nil
}

func sameText(name string) error {
	return &bindings.Error{Code: bindings.CodeTypeMismatch, Message: "a hash has two keys whose text is '" + name +
		"', which JSON cannot distinguish; --format yaml shows both"}
}

// Form determines how hash keys that are not strings are written.
type Form int

const (
	JSON   Form = iota // as strings; two keys with the same text are an error
	YAML               // as a list of pairs, which restoreKeys turns back into a hash
	People             // without quotes
)

// FormOf returns the Form for the value of the --format flag.
func FormOf(format string) Form {
	switch format {
	case "json":
		return JSON
	case "yaml":
		return YAML
	}
	return People
}

// Text returns v as text in the given form. It returns an error only if the form is JSON and two keys of a hash have
// the same text.
func Text(v value.Value, f Form) (json.RawMessage, error) {
	if name, twice := value.SameText(v); twice && f == JSON {
		return nil, sameText(name)
	}
	return appendForm(nil, v, f), nil
}

// pairsName is the key of the list of pairs in form YAML.
const pairsName = "\x00"

func appendForm(dst []byte, v value.Value, f Form) []byte {
	between := ""
	switch {
	case v.Kind() == value.Array:
		dst = append(dst, '[')
		for e := range v.Elems() {
			dst, between = appendForm(append(dst, between...), e, f), ","
		}
		return append(dst, ']')
	case v.Kind() == value.Hash && f == YAML && !hasPlainKeys(v):
		dst = append(appendName(append(dst, '{'), pairsName), '[')
		for k, e := range v.Pairs() {
			dst = append(appendForm(append(append(dst, between...), '['), k, f), ',')
			dst, between = append(appendForm(dst, e, f), ']'), ","
		}
		return append(dst, "]}"...)
	case v.Kind() == value.Hash:
		dst = append(dst, '{')
		for k, e := range v.Pairs() {
			dst = append(dst, between...)
			if f == People && k.Kind() != value.String {
				dst = append(appendForm(dst, k, f), ':')
			} else {
				dst = appendName(dst, string(value.AppendText(nil, k)))
			}
			dst, between = appendForm(dst, e, f), ","
		}
		return append(dst, '}')
	}
	return value.AppendJSON(dst, v)
}

func appendName(dst []byte, name string) []byte {
	return append(value.AppendJSON(dst, value.FromString(name)), ':')
}

// hasPlainKeys reports whether all keys are strings, so that the hash needs no list of pairs.
func hasPlainKeys(hash value.Value) bool {
	for k := range hash.Pairs() {
		if k.Kind() != value.String || k.Text() == pairsName {
			return false
		}
	}
	return true
}

// restoreKeys turns the lists of pairs of form YAML back into hashes.
func restoreKeys(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		elems := []value.Value{}
		for e := range v.Elems() {
			elems = append(elems, restoreKeys(e))
		}
		return value.FromSlice(elems)
	case value.Hash:
		var b value.Builder
		list, isList := v.Get(value.FromString(pairsName))
		for pair := range list.Elems() {
			b.Set(restoreKeys(pair.Index(0)), restoreKeys(pair.Index(1)))
		}
		for k, e := range v.Pairs() {
			if !isList {
				b.Set(k, restoreKeys(e))
			}
		}
		return b.Hash()
	}
	return v
}
