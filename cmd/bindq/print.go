package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"bindc/internal/report"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// printValue prints v in the given format. If v cannot be formatted, it prints nothing.
func printValue(w io.Writer, format string, v bindings.Value) error {
	if format == "text" && v.Kind() == bindings.String {
		text, err := v.Text()
		if err == nil {
			_, err = fmt.Fprintln(w, text)
		}
		return err
	}
	t, err := report.Tree(v)
	if err != nil {
		return err
	}
	if format == "yaml" {
		return report.WriteYAML(w, t)
	}
	text, err := report.Text(t, report.JSON)
	if err != nil {
		return err
	}
	return report.WriteJSON(w, text, format == "text")
}

// An entry is a key with its value. A hash lists entries in the order of the keys on the command line.
type entry struct {
	key string
	v   bindings.Value
}
type hash []entry

// printHash prints h in the given format. If a value cannot be formatted, it prints nothing.
func printHash(w io.Writer, format string, h hash) error {
	var out bytes.Buffer
	p := hashPrinter{w: &out, format: format}
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

// hashPrinter prints a hash entry by entry, so that bindq dump never has the whole hash in memory.
type hashPrinter struct {
	w          io.Writer
	format     string
	hasEntries bool
}

// add prints an entry. If its value cannot be formatted, add prints nothing.
func (p *hashPrinter) add(key string, v bindings.Value) error {
	t, err := report.Tree(v)
	if err != nil {
		return err
	}
	name := value.FromString(key)
	if p.format == "yaml" {
		p.hasEntries = true
		return report.WriteYAML(p.w, value.FromPairs(value.Pair{Key: name, Value: t}))
	}
	text, err := report.Text(t, report.JSON)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	begin := byte('{')
	if p.hasEntries {
		begin = ','
	}
	out.WriteByte(begin)
	p.hasEntries = true
	if p.format == "text" {
		out.WriteString("\n  ")
	}
	out.Write(append(value.AppendJSON(nil, name), ':'))
	if p.format != "text" {
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

func (p *hashPrinter) end() error {
	text := "}\n"
	switch {
	case !p.hasEntries:
		text = "{}\n"
	case p.format == "yaml":
		text = ""
	case p.format == "text":
		text = "\n}\n"
	}
	_, err := io.WriteString(p.w, text)
	return err
}
