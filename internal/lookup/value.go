package lookup

import (
	"fmt"
	"runtime"

	"bindc/internal/value"
)

// Value is the result of a lookup. It may refer to the mapped file of a snapshot, which stays mapped while the Value is
// in use. Read and Whole return the content. The owner of a Value is the value.Source of the snapshot. Package runtime
// documents Value for users.
type Value value.Value

// FromValue converts a value that does not refer to a file.
func FromValue(v value.Value) Value { return Value(v) }

func (v Value) engine() value.Value { return value.Value(v) }

// Read returns v without its sensitive mark. It does not check the parts of v, which may be damaged.
func (v Value) Read() (value.Value, error) { return v.engine().Read() }

// Whole is like Read, but checks all parts of v first. They need no further check. The result is valid while v is
// alive; see KeepAlive.
func (v Value) Whole() (value.Value, error) {
	c, err := v.engine().Read()
	if err == nil && v.engine().Deferred() {
		err = sound(c)
	}
	return c, err
}

// Content returns v without its sensitive mark, or undef if it cannot be read. It is for Values that do not refer to a
// file, such as values of facts.
func (v Value) Content() value.Value {
	c, _ := v.Whole()
	return c
}

// KeepAlive keeps the file that v refers to mapped until this call.
func (v Value) KeepAlive() { runtime.KeepAlive(v.engine().Owner()) }

func (v Value) Sensitive() bool { return v.engine().IsSensitive() }

// Reveal returns v without its sensitive mark. It returns v unchanged if it cannot be read.
func (v Value) Reveal() Value {
	if !v.Sensitive() {
		return v
	}
	c, err := v.Whole()
	if err != nil {
		return v
	}
	return Value(v.engine().Owner().Own(c))
}

func (v Value) Marked() Value { return Value(v.engine().Sensitive()) }

// Part converts e, a part of v, to a Value that is sensitive if v is.
func (v Value) Part(e value.Value) Value {
	e = v.engine().Owner().Own(e)
	if v.Sensitive() {
		e = e.Sensitive()
	}
	return Value(e)
}

// Copy returns a copy of v that does not refer to a file and has no sensitive mark.
func (v Value) Copy() (value.Value, error) { return v.own(nil) }

// own returns v without its sensitive mark. It copies v if v refers to the file of a source other than s, so that the
// caller need not keep v.
func (v Value) own(s *value.Source) (value.Value, error) {
	c, err := v.Whole()
	if owner := v.engine().Owner(); err != nil || owner == nil || owner == s {
		return c, err
	}
	c = value.Clone(c)
	v.KeepAlive()
	return c, nil
}

// Replacements for the text of a sensitive value and of a value that cannot be read.
const (
	Redacted  = "<sensitive>"
	destroyed = "<damaged>"
)

// String returns v as it appears in an interpolated string, or Redacted if it is sensitive.
func (v Value) String() string {
	if v.Sensitive() {
		return Redacted
	}
	c, err := v.Whole()
	if err != nil {
		return destroyed
	}
	text := string(value.AppendText(nil, c))
	v.KeepAlive()
	return text
}

// Format implements fmt.Formatter. Every verb formats the result of String, so that none shows a sensitive value.
func (v Value) Format(f fmt.State, verb rune) { fmt.Fprintf(f, fmt.FormatString(f, verb), v.String()) }

// AppendRich appends v in Puppet's rich data format, which is JSON with additions; docs/serve.md
// describes the forms. rich reports whether v needed one of them. The error is a *DamageError.
func (v Value) AppendRich(dst []byte) (out []byte, rich bool, err error) {
	if v.Sensitive() {
		return append(dst, `"`+Redacted+`"`...), false, nil
	}
	if out, ok := v.engine().AppendCell(dst); ok { // true for nearly all constants
		v.KeepAlive()
		return out, false, nil
	}
	c, err := v.Whole()
	if err != nil {
		return dst, false, err
	}
	out, rich = value.AppendRich(dst, c)
	v.KeepAlive()
	return out, rich, nil
}

func sound(v value.Value) error {
	if !value.Sound(v) {
		return &DamageError{Section: "keys", Expected: "a value, all of whose elements are values"}
	}
	return nil
}
