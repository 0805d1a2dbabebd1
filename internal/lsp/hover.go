package lsp

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/lsp/mention"
	"bindc/internal/report"
)

// maxRows limits the number of bindings in a hover.
const maxRows = 10

// Hover describes the name at the cursor.
func (s *Server) Hover(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	c, err := s.at(ctx, p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	m := c.mention()
	if m == nil {
		return nil, c.check()
	}
	text := c.describe(m)
	if text == "" {
		return nil, c.check()
	}
	r := s.rangeOf(c.doc.text, m.From, m.To)
	contents := &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text}
	return &protocol.Hover{Contents: contents, Range: &r}, c.check()
}

// describe returns a description of the mentioned name in Markdown.
func (c *cursor) describe(m *mention.Mention) string {
	switch m.Role {
	case mention.Collects, mention.Joins:
		return c.describeMultibind(m.Name)
	case mention.Variable:
		return c.describeVariable(m.Name)
	case mention.Category:
		return c.describeValues("category", m.Name)
	case mention.Value:
		return c.describeValues("category", m.Of)
	case mention.Environment:
		return c.describeEnvironment(m.Name)
	case mention.Path:
		files := c.site.FilesOf(c.doc.path, m.Name)
		return fmt.Sprintf("%s: %s", code(m.Name), diag.Count(len(files), "file"))
	}
	return c.describeKey(m.Name)
}

// describeKey returns the decision table of a key. If the site has errors, it can only list the bindings.
func (c *cursor) describeKey(key string) string {
	if t := c.site.Table(key); t != nil {
		v := report.Style{Form: report.People}.Values(key, t)
		secret := c.site.IsSecret(t)
		if len(v.Bindings) == 0 {
			return c.unbound(key)
		}
		c.countNodes(key, v)
		return c.table(key, v, secret) + c.forNode(key, secret)
	}
	list := c.site.Bindings(key)
	if len(list) == 0 {
		return c.unbound(key)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** is bound in %s. The site has errors, so it is unknown which one wins.\n\n", escape(key),
		diag.Count(len(list), "place"))
	for i, x := range list {
		if i == maxRows {
			fmt.Fprintf(&b, "* and %d more\n", len(list)-i)
			break
		}
		when := x.When
		if when == "" {
			when = "always"
		}
		fmt.Fprintf(&b, "* %s: %s\n", escape(when), code(c.site.Relative(x.Pos)))
	}
	return b.String()
}

func (c *cursor) unbound(key string) string {
	if c.site.Dir == "" {
		return ""
	}
	text := fmt.Sprintf("**%s** is not bound.", escape(key))
	if hint := diag.DidYouMean(key, c.site.Keys()); hint != "" {
		text += " " + escape(strings.ToUpper(hint[:1])+hint[1:])
	}
	return text
}

// maxCounted limits the number of nodes for which a hover looks up a key.
const maxCounted = 2000

// countNodes adds to each binding in v the nodes of the fleet for which it wins.
func (c *cursor) countNodes(key string, v *report.Values) {
	c.site.Each(c.ctx, c.fleet(), maxCounted, func(node string, r *lookup.Request) {
		if e, err := (report.Style{Form: report.People}).Explain(r, key); err == nil {
			v.AddNode(node, e)
		}
	})
}

// forNode returns the value of key for the pinned node, or "" if no node is pinned.
func (c *cursor) forNode(key string, secret bool) string {
	node := c.settings.Node
	if node == "" {
		return ""
	}
	r, err := c.site.Request(c.fleet(), node)
	if err != nil {
		return fmt.Sprintf("\nNode %s: %s.\n", code(node), escape(err.Error()))
	}
	e, err := report.Style{Form: report.People}.Explain(r, key)
	if err != nil {
		return ""
	}
	text := "*sensitive*"
	if !secret {
		text = valueOf(e.Outcome)
	}
	out := fmt.Sprintf("\nNode %s: %s", code(node), text)
	for i := range e.Candidates {
		if x := &e.Candidates[i]; x.State == lookup.Wins || x.State == lookup.Merged {
			out += fmt.Sprintf(", from %s", code(x.At))
		}
	}
	return out + ".\n"
}

// table formats a decision table as Markdown.
func (c *cursor) table(key string, v *report.Values, secret bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", escape(key))
	if len(v.Options) > 0 && string(v.Options) != "true" {
		fmt.Fprintf(&b, "lookup_options: %s\n\n", code(string(v.Options)))
	}
	c.rows(&b, v.Bindings, secret)
	if len(v.Contributions) > 0 {
		fmt.Fprintf(&b, "\nContributions:\n\n")
		c.rows(&b, v.Contributions, secret)
	}
	return b.String()
}

func (c *cursor) rows(b *strings.Builder, rows []report.Candidate, secret bool) {
	fleet := c.fleet()
	b.WriteString("| for | value | bound at |")
	if fleet != nil {
		fmt.Fprintf(b, " wins for, of %s |\n|---", diag.Count(min(len(fleet.Nodes), maxCounted), "node"))
	} else {
		b.WriteString("\n")
	}
	b.WriteString("|---|---|---|\n")
	for i := range rows {
		if i == maxRows {
			fmt.Fprintf(b, "| %d more | | |\n", len(rows)-i)
			return
		}
		r := &rows[i]
		var when []string
		for _, t := range r.When {
			when = append(when, t.Name+" = "+t.Value)
		}
		if len(when) == 0 {
			when = []string{"all"}
		}
		value := "*sensitive*"
		if !secret {
			value = valueOf(r.Outcome)
		}
		fmt.Fprintf(b, "| %s | %s | %s |", escape(strings.Join(when, ", ")), value, code(r.At))
		if fleet != nil {
			fmt.Fprintf(b, " %d |", len(r.Nodes))
		}
		b.WriteString("\n")
	}
}

// maxValue limits the length of a value in a hover.
const maxValue = 60

// valueOf formats a value as Markdown. It hides sensitive and encrypted values.
func valueOf(o report.Outcome) string {
	text := string(o.Value)
	switch {
	case o.Error != nil:
		return escape(o.Error.Message)
	case o.Found != nil:
		return "not found"
	case o.Sensitive:
		return "*sensitive*"
	case o.Computed != "":
		text = o.Computed
	}
	if strings.Contains(text, "ENC[") {
		return "*encrypted*"
	}
	if short := []rune(text); len(short) > maxValue {
		text = string(short[:maxValue]) + "…"
	}
	return code(text)
}

// code formats text as a Markdown code span that is safe in a table.
func code(text string) string {
	text = strings.NewReplacer("\n", " ", "|", "\\|").Replace(diag.Visible(text))
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if fence != "`" {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// escape escapes the special characters of Markdown in text.
func escape(text string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "|", "\\|", "<", "&lt;", "`", "\\`", "[", "\\[",
		"\n", " ").Replace(diag.Visible(text))
}

func (c *cursor) describeMultibind(id string) string {
	key, at, ok := c.site.Multibind(id)
	if !ok {
		return ""
	}
	list := c.site.Contributions(id)
	return fmt.Sprintf("**%s** collects %s to %s, declared at %s.", escape(id),
		diag.Count(len(list), "contribution"), code(key), code(c.site.Relative(at)))
}

// describeVariable returns the values that nodes have for a variable and the values that conditions compare it with.
func (c *cursor) describeVariable(name string) string {
	text := c.describeValues("variable", name)
	counts := c.fleet().Values(name)
	if len(counts) == 0 {
		return text
	}
	text += "\n\nNodes have:\n\n"
	for i, n := range counts {
		if i == maxRows {
			return text + fmt.Sprintf("* and %d other values\n", len(counts)-i)
		}
		text += fmt.Sprintf("* %s: %s\n", code(n.Value), diag.Count(n.Nodes, "node"))
	}
	return text
}

// maxCompared limits the number of values in a hover.
const maxCompared = 20

func (c *cursor) describeValues(what, name string) string {
	values := c.site.Compared()[name]
	if len(values) == 0 {
		return fmt.Sprintf("%s **%s**: no condition names a value.", what, escape(name))
	}
	more := ""
	if len(values) > maxCompared {
		values, more = values[:maxCompared], fmt.Sprintf(" and %d more", len(values)-maxCompared)
	}
	for i := range values {
		values[i] = code(values[i])
	}
	return fmt.Sprintf("%s **%s**: conditions name %s%s.", what, escape(name), strings.Join(values, ", "), more)
}
