package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	bindings "bindc/runtime"
)

var renderings = []string{"s", "json", "yaml"}

func checkRendering(name string) error {
	if !slices.Contains(renderings, name) {
		return fmt.Errorf("--render-as: expected one of %s, found '%s'", strings.Join(renderings, ", "), name)
	}
	return nil
}

func printValue(w io.Writer, render string, v bindings.Value) error {
	switch {
	case render == "yaml":
		return writeYAML(w, v)
	case render == "s" && v.Kind() == bindings.String:
		_, err := fmt.Fprintln(w, v.Text())
		return err
	}
	text, err := v.MarshalJSON() // json.Marshal would escape it for HTML
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

func printHash(w io.Writer, render string, h hash) error {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, e := range h {
		name, err := bindings.ValueOf(e.key)
		if err != nil {
			return err
		}
		key, err := name.MarshalJSON()
		if err != nil {
			return err
		}
		val, err := e.v.MarshalJSON()
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(append(append(key, ':'), val...))
	}
	out.WriteByte('}')
	if render == "yaml" {
		v, err := bindings.ParseJSON(out.Bytes())
		if err != nil {
			return err
		}
		return writeYAML(w, v)
	}
	return writeJSON(w, out.Bytes(), render == "s")
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
