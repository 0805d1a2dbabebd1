package main

import (
	"bytes"
	"io"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/yaml"
	bindings "bindc/runtime"
)

// writeYAML prints v in block style. What our own reader would not take for a plain string is quoted as JSON quotes it,
// which YAML reads the same.
func writeYAML(w io.Writer, v bindings.Value) error {
	var out bytes.Buffer
	block(&out, v, "", "")
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// block writes v behind lead, on lines indented by indent; a collection that is not empty begins on a line of its own
// unless lead is empty.
func block(out *bytes.Buffer, v bindings.Value, lead, indent string) {
	if v.Len() == 0 {
		out.WriteString(strings.TrimPrefix(lead+" ", " "))
		scalar(out, v)
		return
	}
	first := lead == "" || lead == "-"
	out.WriteString(lead)
	if lead == "-" {
		out.WriteByte(' ')
		indent += "  "
	}
	line := func() {
		if !first {
			out.WriteString("\n" + indent)
		}
		first = false
	}
	for e := range v.Elems() {
		line()
		block(out, e, "-", indent)
	}
	for k, e := range v.Entries() {
		line()
		name, _ := bindings.ValueOf(k.String())
		scalar(out, name)
		deeper := indent + "  "
		if e.Kind() == bindings.Array {
			deeper = indent
		}
		block(out, e, ":", deeper)
	}
}

func scalar(out *bytes.Buffer, v bindings.Value) {
	text := v.Text()
	if v.Kind() == bindings.String && plain(text) {
		out.WriteString(text)
		return
	}
	quoted, _ := v.MarshalJSON() // it never fails
	out.Write(quoted)
}

// plain tells whether text, unquoted, reads as the same string.
func plain(text string) bool {
	if text == "" || strings.ContainsAny(text, "\n\r\t:#{}[],&*!|>'\"%@`\\ ") || strings.ContainsAny(text[:1], "-?=<~") {
		return false
	}
	doc, ok := yaml.Parse("", []byte(text), yaml.Options{}, &diag.List{})
	if !ok || doc.Root == nil {
		return false
	}
	got, isText := doc.Root.Text()
	return isText && got == text
}
