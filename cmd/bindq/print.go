package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

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
		_, err := fmt.Fprintln(w, v.Text())
		return err
	}
	text, err := v.MarshalJSON() // json.Marshal would escape it for HTML
	if err != nil {
		return err
	}
	if render == "yaml" {
		return writeYAML(w, plain(v))
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
			return fmt.Errorf("%s: %w", e.key, err)
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
	text, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	name := value.FromString(key)
	if p.render == "yaml" {
		p.some = true
		return writeYAML(p.w, value.FromPairs(value.Pair{Key: name, Value: plain(v)}))
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

// plain is v, which MarshalJSON has found sound, as package yaml takes values: sensitive ones are not shown, and keys
// are text, as in JSON.
func plain(v bindings.Value) value.Value {
	switch {
	case v.Sensitive():
		return value.FromString(v.String())
	case v.IsUndef():
		return value.Value{}
	}
	switch v.Kind() {
	case bindings.Bool:
		return value.FromBool(v.Bool())
	case bindings.Int:
		return value.FromInt(v.Int())
	case bindings.Float:
		return value.FromFloat(v.Float())
	case bindings.Default:
		return value.TheDefault()
	case bindings.Array:
		elems := []value.Value{}
		for e := range v.Elems() {
			elems = append(elems, plain(e))
		}
		return value.FromSlice(elems)
	case bindings.Hash:
		var b value.Builder
		for k, e := range v.Entries() {
			b.Set(value.FromString(k.String()), plain(e))
		}
		return b.Hash()
	}
	return value.FromString(v.String())
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
