package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"bindc/internal/lookup"
)

// explain prints why each key has its outcome.
func (f *lookupFlags) explain(w io.Writer, r *lookup.Request, keys []string) error {
	s := shower{f.showSensitive, formOf(f.render)}
	var shapes []explanationShape
	for _, key := range keys {
		e, err := r.Explain(key)
		if err != nil {
			return err
		}
		shapes = append(shapes, s.explanation(e, r.Categories()))
	}
	if f.render == "s" {
		return onPage(w, func(p *page) {
			for i := range shapes {
				if i > 0 {
					fmt.Fprintln(p)
				}
				p.explanation(&shapes[i])
			}
		})
	}
	return printShapes(w, f.render, keys, shapes)
}

// printShapes prints the one shape, or an object of those of several keys.
func printShapes[T any](w io.Writer, render string, keys []string, shapes []T) error {
	if len(keys) == 1 {
		return printShape(w, render, shapes[0])
	}
	out := []byte{'{'}
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, asJSON(key)...), ':'), asJSON(shapes[i])...)
	}
	return printShape(w, render, json.RawMessage(append(out, '}')))
}

// printShape prints an answer as JSON or YAML.
func printShape(w io.Writer, render string, shape any) error {
	if render != "yaml" {
		return encode(w, shape)
	}
	v, err := parseJSON(asJSON(shape))
	if err != nil {
		return err
	}
	t, err := tree(v)
	if err != nil {
		return err
	}
	return writeYAML(w, typed(t))
}

// explanation is the answer, who asks, and each binding with what became of it.
func (p *page) explanation(e *explanationShape) {
	p.heading(e, 0)
	fmt.Fprintln(p)
	if len(e.Categories) == 0 {
		p.line(0, dim, "This request has no value of any category.")
	} else {
		p.wrapped(0, dim, conditionWords("For", e.Categories))
	}
	p.explained(e, 0)
}

// heading is the key and what came of it.
func (p *page) heading(e *explanationShape, indent int) {
	text := e.Outcome.text()
	style := ""
	switch {
	case e.Outcome.Error != nil:
		style = red
	case e.Outcome.Found != nil:
		style = yellow
	}
	pad := strings.Repeat(" ", indent)
	used := indent + columns(e.Key) + len(" = ")
	if indent > 0 || used+columns(text) <= pageWidth {
		fmt.Fprintf(p, "%s%s = %s\n", pad, p.paint(bold, e.Key), p.paint(style, fitted(text, room(used))))
		return
	}
	fmt.Fprintf(p, "%s =\n", p.paint(bold, e.Key))
	if style != "" {
		p.wrapped(2, style, strings.Fields(text))
		return
	}
	for line := range strings.Lines(indented(text)) {
		fmt.Fprintln(p, p.paint("", strings.TrimSuffix(line, "\n")))
	}
}

// indented is JSON over several lines, below a key; what is none stays one line.
func indented(text string) string {
	out := &strings.Builder{}
	v, err := parseJSON([]byte(text))
	if err != nil || v.Len() == 0 {
		return "  " + text + "\n"
	}
	writeJSON(out, []byte(text), true) // a builder takes all
	return "  " + strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n  ") + "\n"
}

// shownRows is how many bindings whose condition does not hold are shown to people.
const shownRows = 20

func (p *page) explained(e *explanationShape, indent int) {
	p.candidates("lookup_options", e.Options, indent)
	title := "Bindings, highest first"
	if e.Root != "" {
		title = "Bindings of " + e.Root + ", into whose value this key leads, highest first"
	}
	p.candidates(title, e.Candidates, indent)
	p.candidates("Contributions, highest first", e.Contributions, indent)
	if len(e.Candidates) == 0 {
		fmt.Fprintln(p)
		p.line(indent, "", "Nothing binds this key.")
	}
	if len(e.Lookups) == 0 {
		return
	}
	fmt.Fprintln(p)
	p.line(indent, bold, "Lookups that the value made")
	for i := range e.Lookups {
		p.heading(&e.Lookups[i], indent+2)
		p.explained(&e.Lookups[i], indent+4)
	}
	if e.Unexplained > 0 {
		p.line(indent+2, dim, fmt.Sprintf("and %d more that are not shown", e.Unexplained))
	}
}

var stateStyles = map[string]string{lookup.Wins: green, lookup.Merged: green, lookup.Hidden: yellow,
	lookup.Declined: yellow, lookup.Renames: green, lookup.NotEffective: dim}

func (p *page) candidates(title string, cs []candidateShape, indent int) {
	if len(cs) == 0 {
		return
	}
	if indent == 0 {
		fmt.Fprintln(p)
	}
	p.line(indent, bold, title)
	idle := 0
	for i := range cs {
		if cs[i].State == lookup.NotEffective {
			if idle++; idle > shownRows {
				continue
			}
		}
		p.candidate(&cs[i], indent+2)
	}
	if idle > shownRows {
		more := "and %d more that are not effective (--render-as json has all)"
		p.line(indent+2, dim, fmt.Sprintf(more, idle-shownRows))
	}
}

func (p *page) candidate(c *candidateShape, indent int) {
	pad := strings.Repeat(" ", indent)
	state := p.paint(stateStyles[c.State], fmt.Sprintf("%-13s", c.State))
	inner := indent + len("not effective") + 2
	fmt.Fprintf(p, "%s%s  ", pad, state)
	p.place(inner, c.At, c.Layer)
	style := ""
	if c.State == lookup.NotEffective {
		style = dim
	}
	p.wrapped(inner, style, condition(c.Name, c.When, "always"))
	if c.Outcome.Error != nil {
		p.wrapped(inner, red, strings.Fields(c.Outcome.text()))
	} else if c.State != lookup.Declined && c.State != lookup.Renames {
		p.line(inner, style, "= "+c.Outcome.text())
	}
	if c.Why != "" {
		p.wrapped(inner, stateStyles[c.State], strings.Fields(c.Why))
	}
}

// all prints what is bound for the request, in order of precedence.
func (f *lookupFlags) all(w io.Writer, r *lookup.Request, keys []string) error {
	s := shower{f.showSensitive, formOf(f.render)}
	shapes := make([][]outcome, len(keys))
	for i, key := range keys {
		cs, err := r.Candidates(key)
		if err != nil {
			return err
		}
		shapes[i] = []outcome{}
		for _, c := range cs {
			if c.State != lookup.NotEffective && (c.Outcome.Found || c.Outcome.Err != nil) {
				shapes[i] = append(shapes[i], s.outcome(c.Outcome))
			}
		}
	}
	if f.render != "s" {
		return printShapes(w, f.render, keys, shapes)
	}
	return onPage(w, func(p *page) {
		for i, key := range keys {
			for _, o := range shapes[i] {
				if len(keys) > 1 {
					fmt.Fprintf(p, "%s: ", p.paint("", key))
				}
				fmt.Fprintln(p, p.paint("", o.text()))
			}
		}
	})
}
