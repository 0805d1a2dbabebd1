// Package rich converts values to Puppet's types Timestamp, Timespan, SemVer and URI. Results are strings, as Puppet
// prints such values.
package rich

import (
	"errors"
	"unicode/utf8"

	"bindc/internal/value"
)

// Type is one of Puppet's rich types, as listed in the variable all.
type Type struct {
	Name  string
	make  func(args []value.Value) (string, error)
	check func(args []value.Value) error // rejects arguments that only Puppet supports; nil if there are none
}

var all = []*Type{
	{"Timestamp", newTimestamp, checkTimestamp},
	{"Timespan", newTimespan, checkTimespan},
	{"SemVer", newSemVer, nil},
	{"URI", newURI, nil},
}

// Named returns the type called name, or nil.
func Named(name string) *Type {
	for _, t := range all {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// New makes a value of the type from args, and returns it as the text that Puppet prints.
func (t *Type) New(args ...value.Value) (value.Value, error) {
	text, err := t.make(args)
	if err != nil {
		return value.Value{}, err
	}
	return value.FromString(text), nil
}

// Check checks args, the arguments of New after the value. For arguments that Puppet accepts but New does not, it
// returns ErrUnsupported.
func (t *Type) Check(args []value.Value) error {
	if t.check == nil {
		return nil
	}
	return t.check(args)
}

// ErrUnsupported is the error for conversions that only Puppet supports.
var ErrUnsupported = errors.New("is not supported here")

var (
	errArguments = errors.New("the type cannot be made from this value and these arguments")
	errEmpty     = errors.New("expected a non-empty string")
)

// isText reports whether v is a String with least or more characters.
func isText(v value.Value, least int) bool {
	return v.Kind() == value.String && utf8.RuneCountInString(v.Text()) >= least
}

func isNumber(v value.Value) bool { return v.Kind() == value.Int || v.Kind() == value.Float }

// formatsOf returns the formats in v, which must have Puppet's type Variant[String[2], Array[String[2], 1]]. single
// reports whether v is a String.
func formatsOf(v value.Value) (formats []string, single, ok bool) {
	if v.Kind() != value.Array {
		return []string{v.Text()}, true, isText(v, 2)
	}
	for e := range v.Elems() {
		if !isText(e, 2) {
			return nil, false, false
		}
		formats = append(formats, e.Text())
	}
	return formats, false, len(formats) > 0
}

// fields returns the entries of a hash. ok is false unless all keys and values are allowed and the required key
// exists.
func fields(v value.Value, required string, allowed map[string]func(value.Value) bool) (map[string]value.Value, bool) {
	if v.Kind() != value.Hash {
		return nil, false
	}
	out := map[string]value.Value{}
	for k, e := range v.Pairs() {
		if k.Kind() != value.String {
			return nil, false
		}
		fits := allowed[k.Text()]
		if fits == nil || !fits(e) {
			return nil, false
		}
		out[k.Text()] = e
	}
	_, ok := out[required]
	return out, ok || required == ""
}
