package report

import (
	"fmt"
	"slices"
	"strings"

	"bindc/diag"
)

// Diff writes a summary of the changes, and then each change.
func (p *Page) Diff(d *Diff) {
	fmt.Fprintln(p, p.paint("", d.Summary()))
	if d.isEmpty() {
		return
	}
	fmt.Fprintln(p)
	for i := range d.Causes {
		c := &d.Causes[i]
		if i > 0 {
			fmt.Fprintln(p)
		}
		p.line(0, bold, c.title())
		p.wrapped(2, "", c.consequence())
		p.line(2, dim, "(--all shows them)")
	}
	shown := len(d.Causes)
	for i := range d.Keys {
		k := &d.Keys[i]
		if d.isGrouped(k.Key) {
			continue
		}
		if shown > 0 {
			fmt.Fprintln(p)
		}
		shown++
		fmt.Fprintln(p, p.paint(bold, k.Key))
		p.goneKey(k)
		p.changes(2, k.bindings())
		if len(k.Contributions) > 0 {
			p.line(2, bold, "contributions")
			p.changes(4, k.Contributions)
		}
	}
	for i, g := range d.groups() {
		if i > 0 || len(d.Keys) > 0 {
			fmt.Fprintln(p)
		}
		fmt.Fprintf(p, "%s\n", p.paint(bold, diag.Count(len(g.Nodes), "node")))
		p.wrapped(2, "", firstNames(g.Nodes, shownRows))
		for _, text := range d.causesOf(g.Changes) {
			p.wrapped(4, "", strings.Fields(text))
		}
		for _, k := range g.Changes {
			if d.isGrouped(k.Key) {
				continue
			}
			p.line(4, "", k.Key)
			p.oldAndNew(6, k.Old, k.New, "", "")
			if g.differing[k.Key] {
				p.wrapped(6, dim, strings.Fields("shown for "+g.Nodes[0]+"; "+othersDiffer))
			}
		}
	}
}

// goneKey writes the new name of a removed key and where manifests still look up the old one.
func (p *Page) goneKey(k *Key) {
	p.wrapped(2, yellow, strings.Fields(k.renamed()))
	for i, u := range k.AskedFor {
		if i == shownRows {
			p.line(2, dim, fmt.Sprintf("and %d more (--format json lists all)", len(k.AskedFor)-shownRows))
			break
		}
		p.wrapped(2, "", strings.Fields("still looked up by "+u.By))
		fmt.Fprintf(p, "    %s\n", p.paint(cyan, u.At))
	}
}

// renamed returns a note with the new name of a removed key, or "".
func (k *Key) renamed() string {
	if k.RenamedTo == "" {
		return ""
	}
	return "is gone; the new key '" + k.RenamedTo + "' has the same values"
}

// othersDiffer follows the values of one node if the key has other new values on the other nodes of the group.
const othersDiffer = "other nodes get other values (--format json lists all)"

// firstNames returns at most limit names, followed by "and N more" if that is not all.
func firstNames(all []string, limit int) []string {
	out := slices.Clone(all[:min(limit, len(all))])
	for i := range len(out) - 1 {
		out[i] += ","
	}
	if len(all) > limit {
		out = append(out, fmt.Sprintf("and %d more", len(all)-limit))
	}
	return out
}

// changes writes cs. Changes with the same values and positions share one entry.
func (p *Page) changes(indent int, cs []Change) {
	for _, same := range together(cs) {
		for i, c := range same {
			if i == shownRows {
				p.line(indent, dim, fmt.Sprintf("and %d more (--format json lists all)", len(same)-shownRows))
				break
			}
			always := "always"
			if len(c.Except) > 0 {
				always = "for all"
			}
			p.wrapped(indent, "", condition(c.Name, c.When, always))
			if len(c.Except) > 0 {
				p.wrapped(indent+2, dim, append([]string{"but not when"}, exceptionWords(c.Except)...))
			}
		}
		c := &same[0]
		if !c.isIndirect() {
			p.oldAndNew(indent+4, c.Old, c.New, c.OldAt, c.NewAt)
		} else if p.line(indent+4, "", "= "+c.New.text()); c.NewAt != "" {
			fmt.Fprintf(p, "%s%s\n", strings.Repeat(" ", indent+6), p.paint(cyan, c.NewAt))
		}
		p.wrapped(indent+4, yellow, strings.Fields(c.why()))
	}
}

// shownExceptions is the maximum number of exceptions written for one condition.
const shownExceptions = 5

func exceptionWords(all []Terms) []string {
	var words []string
	for i, e := range all[:min(shownExceptions, len(all))] {
		if i > 0 {
			words = append(words, "or")
		}
		words = append(words, conditionText(e))
	}
	if more := len(all) - shownExceptions; more > 0 {
		words = append(words, "or in "+diag.Count(more, "more case"))
	}
	return words
}

// oldAndNew writes the old and the new value, each with the position of its binding.
func (p *Page) oldAndNew(indent int, old, now Outcome, oldAt, newAt string) {
	pad := strings.Repeat(" ", indent)
	for _, side := range []struct{ mark, style, text, at string }{
		{"-", red, old.text(), oldAt}, {"+", green, now.text(), newAt}} {
		p.line(indent, side.style, side.mark+" "+side.text)
		if side.at != "" {
			fmt.Fprintf(p, "%s  %s\n", pad, p.paint(cyan, side.at))
		}
	}
}
