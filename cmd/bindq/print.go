package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"bindc/internal/lookup"
	"bindc/internal/value"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

var renderings = []string{"s", "json", "yaml"}

func checkRendering(name string) error {
	if !slices.Contains(renderings, name) {
		return fmt.Errorf("--render-as: expected one of %s, found '%s'", strings.Join(renderings, ", "), name)
	}
	return nil
}

// printValue prints v whole, or nothing at all.
func printValue(w io.Writer, render string, v bindings.Value) error {
	if render == "s" && v.Kind() == bindings.String {
		text, err := v.Text()
		if err == nil {
			_, err = fmt.Fprintln(w, text)
		}
		return err
	}
	t, err := tree(v)
	if err != nil {
		return err
	}
	if render == "yaml" {
		return writeYAML(w, t)
	}
	text, err := textOf(t, asJSONText)
	if err != nil {
		return err
	}
	return writeJSON(w, text, render == "s")
}

// entry and hash are answers in the order they were asked for.
type entry struct {
	key string
	v   bindings.Value
}
type hash []entry

// printHash prints all of h, or nothing.
func printHash(w io.Writer, render string, h hash) error {
	var out bytes.Buffer
	p := hashPrinter{w: &out, render: render}
	for _, e := range h {
		if err := p.add(e.key, e.v); err != nil {
			return withKey(e.key, err)
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// hashPrinter prints a hash entry by entry, so that it never is in memory as a whole.
type hashPrinter struct {
	w      io.Writer
	render string
	some   bool // entries are printed
}

// add prints an entry. Where its value cannot be printed, nothing is.
func (p *hashPrinter) add(key string, v bindings.Value) error {
	t, err := tree(v)
	if err != nil {
		return err
	}
	name := value.FromString(key)
	if p.render == "yaml" {
		p.some = true
		return writeYAML(p.w, value.FromPairs(value.Pair{Key: name, Value: t}))
	}
	text, err := textOf(t, asJSONText)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	begin := byte('{')
	if p.some {
		begin = ','
	}
	out.WriteByte(begin)
	p.some = true
	if p.render == "s" {
		out.WriteString("\n  ")
	}
	out.Write(append(value.AppendJSON(nil, name), ':'))
	if p.render != "s" {
		out.Write(text)
	} else {
		out.WriteByte(' ')
		if err := json.Indent(&out, text, "  ", "  "); err != nil {
			return err
		}
	}
	_, err = p.w.Write(out.Bytes())
	return err
}

// end ends the hash.
func (p *hashPrinter) end() error {
	text := "}\n"
	switch {
	case !p.some:
		text = "{}\n"
	case p.render == "yaml":
		text = ""
	case p.render == "s":
		text = "\n}\n"
	}
	_, err := io.WriteString(p.w, text)
	return err
}

func writeYAML(w io.Writer, v value.Value) error {
	text, err := yaml.Write(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// tree converts v to a value for package yaml. It hides sensitive values. Keys keep their type, except types that
// neither YAML nor JSON has. The error is a *DamageError, or reports two keys of such types with the same text.
func tree(v bindings.Value) (value.Value, error) {
	if v.Sensitive() {
		return value.FromString(v.String()), nil
	}
	if v.Len() < 0 { // damaged
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
		t, err := tree(e)
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
		key, err := tree(k)
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
		t, err := tree(e)
		if err != nil {
			return value.Value{}, err
		}
		b.Set(key, t)
	}
	return b.Hash(), nil
}

func sameText(name string) error {
	return &bindings.Error{Code: bindings.CodeTypeMismatch, Message: "a hash has two keys whose text is '" + name +
		"', which JSON cannot tell apart; --render-as yaml shows both"}
}

// form is a way to write hash keys that are not strings.
type form int

const (
	asJSONText form = iota // as text; two keys with the same text are an error
	forYAML                // the hash as a list of pairs, which typed converts back
	forPeople              // without quotes
)

// formOf returns the form of values in reports with the given --render-as.
func formOf(render string) form {
	switch render {
	case "s":
		return forPeople
	case "yaml":
		return forYAML
	}
	return asJSONText
}

// textOf returns the text of v in a form.
func textOf(v value.Value, f form) (json.RawMessage, error) {
	if name, twice := value.SameText(v); twice && f == asJSONText {
		return nil, sameText(name)
	}
	return appendForm(nil, v, f), nil
}

// pairs is the name of the list of pairs in forYAML.
const pairs = "\x00"

func appendForm(dst []byte, v value.Value, f form) []byte {
	between := ""
	switch {
	case v.Kind() == value.Array:
		dst = append(dst, '[')
		for e := range v.Elems() {
			dst, between = appendForm(append(dst, between...), e, f), ","
		}
		return append(dst, ']')
	case v.Kind() == value.Hash && f == forYAML && !hasPlainKeys(v):
		dst = append(appendName(append(dst, '{'), pairs), '[')
		for k, e := range v.Pairs() {
			dst = append(appendForm(append(append(dst, between...), '['), k, f), ',')
			dst, between = append(appendForm(dst, e, f), ']'), ","
		}
		return append(dst, "]}"...)
	case v.Kind() == value.Hash:
		dst = append(dst, '{')
		for k, e := range v.Pairs() {
			dst = append(dst, between...)
			if f == forPeople && k.Kind() != value.String {
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

// hasPlainKeys reports whether all keys of a hash are strings other than pairs.
func hasPlainKeys(hash value.Value) bool {
	for k := range hash.Pairs() {
		if k.Kind() != value.String || k.Text() == pairs {
			return false
		}
	}
	return true
}

// typed converts a value in forYAML back to one whose keys have their types.
func typed(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		elems := []value.Value{}
		for e := range v.Elems() {
			elems = append(elems, typed(e))
		}
		return value.FromSlice(elems)
	case value.Hash:
		var b value.Builder
		list, isList := v.Get(value.FromString(pairs))
		for pair := range list.Elems() {
			b.Set(typed(pair.Index(0)), typed(pair.Index(1)))
		}
		for k, e := range v.Pairs() {
			if !isList {
				b.Set(k, typed(e))
			}
		}
		return b.Hash()
	}
	return v
}

func writeJSON(w io.Writer, text []byte, indent bool) error {
	var out bytes.Buffer
	if indent {
		if err := json.Indent(&out, text, "", "  "); err != nil {
			return err
		}
	} else {
		out.Write(text)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}
