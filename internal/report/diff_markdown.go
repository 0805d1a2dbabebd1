package report

import (
	"fmt"
	"strings"

	"bindc/diag"
)

// Markdown writes what changes as Markdown, for a comment on a merge request. It has no colour.
func (p *Page) Markdown(d *Diff) {
	if d.isEmpty() {
		fmt.Fprintln(p, d.Summary())
		return
	}
	fmt.Fprintf(p, "### %s\n", d.Summary())
	for i := range d.Causes {
		c := &d.Causes[i]
		fmt.Fprintf(p, "\n#### %s\n\n%s\n", diag.Visible(c.title()), diag.Visible(strings.Join(c.consequence(), " ")))
	}
	for i := range d.Keys {
		k := &d.Keys[i]
		if d.isGrouped(k.Key) {
			continue
		}
		fmt.Fprintf(p, "\n#### %s\n\n", code(k.Key))
		p.markdownGone(k)
		fmt.Fprint(p, "| for whom | old | new |\n|---|---|---|\n")
		for _, list := range [][]Change{k.bindings(), k.Contributions} {
			for _, same := range together(list) {
				p.markdownRow(same)
			}
		}
	}
	for _, g := range d.groups() {
		fmt.Fprintf(p, "\n#### %s\n\n%s\n\n| key | old | new |\n|---|---|---|\n", diag.Count(len(g.Nodes), "node"),
			diag.Visible(strings.Join(names(g.Nodes, shownRows), " ")))
		for _, text := range d.causesOf(g.Changes) {
			fmt.Fprintf(p, "| %s | | |\n", diag.Visible(text))
		}
		for _, c := range g.Changes {
			if d.isGrouped(c.Key) {
				continue
			}
			now := code(fitted(c.New.text(), 200))
			if g.own[c.Key] {
				now += "<br>so for " + code(g.Nodes[0]) + "; " + ownValues
			}
			fmt.Fprintf(p, "| %s | %s | %s |\n", code(c.Key), code(fitted(c.Old.text(), 200)), now)
		}
	}
}

// markdownGone shows what a key that is gone became, and who still asks for it.
func (p *Page) markdownGone(k *Key) {
	if k.RenamedTo != "" {
		fmt.Fprintf(p, "is gone; the new key %s has the same values\n\n", code(k.RenamedTo))
	}
	for i, u := range k.AskedFor {
		if i == shownRows {
			fmt.Fprintf(p, "* and %d more\n", len(k.AskedFor)-shownRows)
			break
		}
		fmt.Fprintf(p, "* still asked for by %s: %s\n", code(u.By), code(u.At))
	}
	if len(k.AskedFor) > 0 {
		fmt.Fprintln(p)
	}
}

func (p *Page) markdownRow(same []Change) {
	var who []string
	for _, c := range same {
		text := conditionText(c.When)
		if len(c.Except) > 0 {
			text += " (but not: " + strings.Join(excepted(c.Except), " ") + ")"
		}
		if c.Name != "" {
			text = "contribution " + c.Name + ", " + text
		}
		who = append(who, code(text))
	}
	if len(same) > shownRows {
		who = append(who[:shownRows], fmt.Sprintf("and %d more", len(same)-shownRows))
	}
	side := func(o Outcome, at string) string {
		text := code(fitted(o.text(), 200))
		if at != "" {
			text += "<br>" + code(at)
		}
		return text
	}
	now := side(same[0].New, same[0].NewAt)
	if same[0].isIndirect() {
		now = "the same"
	}
	switch {
	case same[0].Below:
		now += ", " + same[0].why()
	case len(same[0].Through) > 0:
		now += ", which changes with " + code(strings.Join(same[0].Through, ", "))
	}
	fmt.Fprintf(p, "| %s | %s | %s |\n", strings.Join(who, "<br>"), side(same[0].Old, same[0].OldAt), now)
}

// code is text as code in a cell of a table.
func code(text string) string {
	text = strings.ReplaceAll(diag.Visible(text), "|", `\|`)
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}
