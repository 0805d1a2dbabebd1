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

func printHash(w io.Writer, render string, h hash) error {
	var out bytes.Buffer
	var all value.Builder
	out.WriteByte('{')
	for i, e := range h {
		val, err := e.v.MarshalJSON()
		if err != nil {
			return fmt.Errorf("%s: %w", e.key, err)
		}
		key := value.FromString(e.key)
		all.Set(key, plain(e.v))
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(append(append(value.AppendJSON(nil, key), ':'), val...))
	}
	out.WriteByte('}')
	if render == "yaml" {
		return writeYAML(w, all.Hash())
	}
	return writeJSON(w, out.Bytes(), render == "s")
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
