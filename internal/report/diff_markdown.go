package report

import (
	"fmt"
	"strings"

	"bindc/diag"
)

// Markdown writes the changes as Markdown, for a comment on a merge request.
func (p *Page) Markdown(d *Diff) {
	if d.isEmpty() {
		fmt.Fprintln(p, diag.Visible(d.Summary()))
		return
	}
	fmt.Fprintf(p, "### %s\n", diag.Visible(d.Summary()))
	for i := range d.Causes {
		c := &d.Causes[i]
		fmt.Fprintf(p, "\n#### %s\n\n%s\n", diag.Visible(c.title()), diag.Visible(strings.Join(c.consequence(), " ")))
	}
	for i := range d.Keys {
		k := &d.Keys[i]
		if d.isGrouped(k.Key) {
			continue
		}
		fmt.Fprintf(p, "\n#### %s\n\n", codeSpan(k.Key))
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
			diag.Visible(strings.Join(firstNames(g.Nodes, shownRows), " ")))
		for _, text := range d.causesOf(g.Changes) {
			fmt.Fprintf(p, "| %s | | |\n", diag.Visible(text))
		}
		for _, c := range g.Changes {
			if d.isGrouped(c.Key) {
				continue
			}
			now := codeSpan(fitted(c.New.text(), 200))
			if g.differing[c.Key] {
				now += "<br>shown for " + codeSpan(g.Nodes[0]) + "; " + othersDiffer
			}
			fmt.Fprintf(p, "| %s | %s | %s |\n", codeSpan(c.Key), codeSpan(fitted(c.Old.text(), 200)), now)
		}
	}
}

// markdownGone writes the new name of a removed key and where manifests still look up the old one.
func (p *Page) markdownGone(k *Key) {
	if k.RenamedTo != "" {
		fmt.Fprintf(p, "is gone; the new key %s has the same values\n\n", codeSpan(k.RenamedTo))
	}
	for i, u := range k.AskedFor {
		if i == shownRows {
			fmt.Fprintf(p, "* and %d more\n", len(k.AskedFor)-shownRows)
			break
		}
		fmt.Fprintf(p, "* still looked up by %s: %s\n", codeSpan(u.By), codeSpan(u.At))
	}
	if len(k.AskedFor) > 0 {
		fmt.Fprintln(p)
	}
}

func (p *Page) markdownRow(same []Change) {
	var conditions []string
	for _, c := range same {
		text := conditionText(c.When)
		if len(c.Except) > 0 {
			text += " (but not: " + strings.Join(exceptionWords(c.Except), " ") + ")"
		}
		if c.Name != "" {
			text = "contribution " + c.Name + ", " + text
		}
		conditions = append(conditions, codeSpan(text))
	}
	if len(same) > shownRows {
		conditions = append(conditions[:shownRows], fmt.Sprintf("and %d more", len(same)-shownRows))
	}
	side := func(o Outcome, at string) string {
		text := codeSpan(fitted(o.text(), 200))
		if at != "" {
			text += "<br>" + codeSpan(at)
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
		now += ", which changes with " + codeSpan(strings.Join(same[0].Through, ", "))
	}
	fmt.Fprintf(p, "| %s | %s | %s |\n", strings.Join(conditions, "<br>"), side(same[0].Old, same[0].OldAt), now)
}

// codeSpan formats text as code for a cell of a Markdown table.
func codeSpan(text string) string {
	text = strings.ReplaceAll(diag.Visible(text), "|", `\|`)
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}
