package report

import (
	"fmt"
	"strings"

	"bindc/internal/lookup"
)

// unmatched writes that no binding has the value in text, and then the bindings whose value depends on facts.
func (p *Page) unmatched(w *WhyNot, text string) {
	if len(w.Computed) == 0 {
		p.line(0, yellow, "Nothing binds "+w.Key+" to "+text+".")
		return
	}
	p.line(0, yellow, "No constant value of "+w.Key+" is "+text+".")
	p.line(0, "", "These are computed or encrypted (--facts, --node and --eyaml-key show them):")
	p.rows(w.Computed)
}

// WhyNot writes the bindings with the value, and what hides them.
func (p *Page) WhyNot(w *WhyNot) {
	if w.Outcome != nil {
		const intro, is = "For this node ", " = "
		left := p.room(len(intro) + columns(w.Key) + len(is))
		fmt.Fprint(p, intro, p.paint(bold, w.Key), is, p.paint("", fitted(w.Outcome.text(), left)), "\n")
	}
	if !w.IsBound() {
		p.unmatched(w, w.text)
	}
	for i := range w.Bindings {
		b := &w.Bindings[i]
		if i > 0 || w.Outcome != nil {
			fmt.Fprintln(p)
		}
		p.bound(b, w.merged)
	}
	for i := range w.Parts {
		if i > 0 || len(w.Bindings) > 0 || w.Outcome != nil {
			fmt.Fprintln(p)
		}
		p.contributed(&w.Parts[i])
	}
}

func (p *Page) contributed(c *Candidate) {
	p.location(0, c.At, c.Layer)
	p.line(2, "", "= "+c.Outcome.text())
	p.nodes(2, c.Nodes)
	p.stateOfNode(c, "is collected")
	words := []string{"contributes"}
	if c.Name != "" {
		words = append(words, "as", c.Name)
	}
	intro := strings.Join(append(words, "for", "all"), " ")
	if len(c.When) > 0 {
		intro = strings.Join(append(words, "when"), " ")
	}
	p.wrapped(2, green, conditionWords(intro, c.When))
}

// stateOfNode writes the state of a binding for the selected node. wins is the text for a binding that wins.
func (p *Page) stateOfNode(c *Candidate, wins string) {
	if c.State == "" {
		return
	}
	words := []string{"for this node it " + map[string]string{lookup.Wins: wins, lookup.Hidden: "is",
		lookup.Merged: "contributes to the value", lookup.NotEffective: "is not effective:",
		lookup.Declined: "declines:", lookup.Renames: "gives a name:"}[c.State]}
	p.wrapped(2, stateStyles[c.State], append(words, strings.Fields(c.Why)...))
}

func (p *Page) bound(b *Bound, merged bool) {
	p.location(0, b.At, b.Layer)
	p.line(2, "", "= "+b.Outcome.text())
	p.nodes(2, b.Nodes)
	p.stateOfNode(&b.Candidate, "wins")
	switch {
	case b.Never:
		p.line(2, yellow, "never wins; this higher binding always hides it:")
	case merged && len(b.When) == 0:
		p.line(2, green, "contributes for all")
	case merged:
		p.wrapped(2, green, conditionWords("contributes when", b.When))
	case len(b.When) == 0:
		p.line(2, green, "wins for all")
	default:
		p.wrapped(2, green, conditionWords("wins when", b.When))
	}
	if len(b.HiddenBy) > 0 && !b.Never {
		p.line(2, yellow, "but is hidden by these when they hold:")
	}
	for i := range b.HiddenBy {
		if i == shownRows {
			p.line(4, dim, fmt.Sprintf("and %d more (--format json lists all)", len(b.HiddenBy)-shownRows))
			return
		}
		h := &b.HiddenBy[i]
		p.wrapped(4, "", condition("", h.When, "always"))
		p.line(8, "", "= "+h.Outcome.text())
		fmt.Fprint(p, "        ")
		p.location(8, h.At, h.Layer)
	}
}
