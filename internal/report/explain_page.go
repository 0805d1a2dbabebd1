package report

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/lookup"
)

// Explanation writes the value of a key, the categories of the request, and the state of each binding.
func (p *Page) Explanation(e *Explanation) {
	p.heading(e, 0)
	fmt.Fprintln(p)
	if len(e.Categories) == 0 {
		p.line(0, dim, "No category has a value for this request.")
	} else {
		p.wrapped(0, dim, conditionWords("For", e.Categories))
	}
	p.details(e, 0)
}

func (p *Page) heading(e *Explanation, indent int) {
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
	if indent > 0 || used+columns(text) <= p.width() {
		fmt.Fprintf(p, "%s%s = %s\n", pad, p.paint(bold, e.Key), p.paint(style, fitted(text, p.room(used))))
		return
	}
	fmt.Fprintf(p, "%s =\n", p.paint(bold, e.Key))
	if style != "" {
		p.wrapped(2, style, strings.Fields(text))
		return
	}
	lines := slices.Collect(strings.Lines(indented(text)))
	for i, line := range lines {
		if more := len(lines) - i; i == shownRows && more > 1 && !p.All {
			p.line(2, dim, diag.Count(more, "line")+" more (--all shows each)")
			break
		}
		fmt.Fprintln(p, p.paint("", strings.TrimSuffix(line, "\n")))
	}
}

// indented returns JSON lists and hashes on several indented lines, and other text on a single line.
func indented(text string) string {
	out := &strings.Builder{}
	v, err := parseJSON([]byte(text))
	if err != nil || v.Len() == 0 {
		return "  " + text + "\n"
	}
	WriteJSON(out, []byte(text), true) // a strings.Builder never returns an error
	return "  " + strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n  ") + "\n"
}

// shownRows is the number of rows after which lists are cut off without --all.
const shownRows = 20

func (p *Page) details(e *Explanation, indent int) {
	p.candidates("lookup_options", e.Options, 0, indent)
	title := "Bindings, highest first"
	if e.Root != "" {
		title = "Bindings of " + e.Root + ", whose value contains this key, highest first"
	}
	p.candidates(title, e.Candidates, e.Left, indent)
	p.candidates("Contributions, highest first", e.Contributions, e.LeftParts, indent)
	if len(e.Candidates) == 0 {
		fmt.Fprintln(p)
		p.line(indent, "", "Nothing binds this key.")
	}
	if len(e.Lookups) == 0 {
		return
	}
	fmt.Fprintln(p)
	p.line(indent, bold, "Lookups made for the value")
	for i := range e.Lookups {
		p.heading(&e.Lookups[i], indent+2)
		p.details(&e.Lookups[i], indent+4)
	}
	if e.Unexplained > 0 {
		p.line(indent+2, dim, fmt.Sprintf("and %d more that are not shown", e.Unexplained))
	}
}

var stateStyles = map[string]string{lookup.Wins: green, lookup.Merged: green, lookup.Hidden: yellow,
	lookup.Declined: yellow, lookup.Renames: green, lookup.NotEffective: dim}

// candidates writes a list of bindings. left is the number of bindings that cs lacks because the explanation is brief.
func (p *Page) candidates(title string, cs []Candidate, left, indent int) {
	if len(cs) == 0 {
		return
	}
	if indent == 0 {
		fmt.Fprintln(p)
	}
	p.line(indent, bold, title)
	notEffective := 0
	for i := range cs {
		if cs[i].State == lookup.NotEffective {
			notEffective++
		} else {
			p.candidate(&cs[i], indent+2)
		}
	}
	shown := 0
	switch {
	case p.All:
		shown = notEffective
	case notEffective == len(cs): // nothing applies, so show some bindings with their conditions
		shown = min(notEffective, shownRows)
	}
	p.notEffective(cs, shown, notEffective-shown+left, indent+2)
}

// notEffective writes the first shown bindings in cs that do not apply, and then how many more there are.
func (p *Page) notEffective(cs []Candidate, shown, more, indent int) {
	for i := 0; shown > 0; i++ {
		if cs[i].State == lookup.NotEffective {
			p.candidate(&cs[i], indent)
			shown--
		}
	}
	if more > 0 {
		p.line(indent, dim, diag.Count(more, "binding")+" for other requests (--all shows each)")
	}
}

func (p *Page) candidate(c *Candidate, indent int) {
	pad := strings.Repeat(" ", indent)
	state := p.paint(stateStyles[c.State], fmt.Sprintf("%-13s", c.State))
	inner := indent + len("not effective") + 2
	fmt.Fprintf(p, "%s%s  ", pad, state)
	p.location(inner, c.At, c.Layer)
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

// Outcomes writes one value per line, each after key unless key is "".
func (p *Page) Outcomes(key string, all []Outcome) {
	for _, o := range all {
		if key != "" {
			fmt.Fprintf(p, "%s: ", p.paint("", key))
		}
		fmt.Fprintln(p, p.paint("", o.text()))
	}
}
