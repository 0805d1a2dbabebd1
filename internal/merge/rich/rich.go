// Package rich implements Puppet's RichData types Timestamp, Timespan, SemVer and URI. A value of
// such a type is the text that Puppet prints for it.
package rich

import (
	"errors"
	"unicode/utf8"

	"bindc/internal/value"
)

// Type converts values to texts of one type.
type Type struct {
	Name  string
	make  func(args []value.Value) (string, error)
	check func(args []value.Value) error // nil: all arguments that Puppet takes are supported
}

var all = []*Type{
	{"Timestamp", newTimestamp, checkTimestamp},
	{"Timespan", newTimespan, checkTimespan},
	{"SemVer", newSemVer, nil},
	{"URI", newURI, nil},
}

// Named returns the type of that name, or nil.
func Named(name string) *Type {
	for _, t := range all {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// New returns what Puppet prints for new(t, args...).
func (t *Type) New(args ...value.Value) (value.Value, error) {
	text, err := t.make(args)
	if err != nil {
		return value.Value{}, err
	}
	return value.FromString(text), nil
}

// Check returns an error, which is ErrUnsupported, if Puppet takes arguments that follow the value, and New does not.
func (t *Type) Check(args []value.Value) error {
	if t.check == nil {
		return nil
	}
	return t.check(args)
}

// ErrUnsupported reports a conversion that Puppet supports and this package does not.
var ErrUnsupported = errors.New("is not supported here")

var (
	errArguments = errors.New("the value and the arguments fit none of the forms of the type")
	errEmpty     = errors.New("a text is expected, found an empty one")
)

// isText reports that v is a String of at least so many characters.
func isText(v value.Value, least int) bool {
	return v.Kind() == value.String && utf8.RuneCountInString(v.Text()) >= least
}

// isNumber reports that v is an Integer or a Float.
func isNumber(v value.Value) bool { return v.Kind() == value.Int || v.Kind() == value.Float }

// formatsOf reads a format or a list of formats: the type Variant[String[2], Array[String[2], 1]] of Puppet.
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

// fields reads a hash that has the required key and none but the known ones, each of the right kind.
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
