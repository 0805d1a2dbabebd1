package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"bindc/internal/report"
	"bindc/internal/value"
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
	t, err := report.Tree(v)
	if err != nil {
		return err
	}
	if render == "yaml" {
		return report.WriteYAML(w, t)
	}
	text, err := report.Text(t, report.JSON)
	if err != nil {
		return err
	}
	return report.WriteJSON(w, text, render == "s")
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
	t, err := report.Tree(v)
	if err != nil {
		return err
	}
	name := value.FromString(key)
	if p.render == "yaml" {
		p.some = true
		return report.WriteYAML(p.w, value.FromPairs(value.Pair{Key: name, Value: t}))
	}
	text, err := report.Text(t, report.JSON)
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
