package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/mention"
	"bindc/internal/report"
)

// maxHints limits the number of inlay hints in a response.
const maxHints = 500

// InlayHint shows next to each binding for how many nodes it wins or, if a node is pinned, whether it wins for that
// node. Without facts, it shows the binding's rank among the bindings of the key.
func (s *Server) InlayHint(ctx context.Context, p *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
	c, err := s.at(ctx, protocol.TextDocumentPositionParams{TextDocument: p.TextDocument, Position: p.Range.Start})
	if err != nil {
		return nil, err
	}
	to := s.offset(c.doc.text, p.Range.End)
	saved := c.site.Text(c.doc.path)
	out := []protocol.InlayHint{}
	for _, m := range c.doc.mentions() {
		if m.Role != mention.Binds || m.From < c.off || m.From > to || len(out) == maxHints || ctx.Err() != nil {
			continue
		}
		if label := c.standing(m, saved); label != "" {
			yes := true
			out = append(out, protocol.InlayHint{Label: protocol.String(label), PaddingLeft: &yes,
				Position: s.position(c.doc.text, c.lineEnd(m.From))})
		}
	}
	return out, c.check()
}

// standing returns the hint for the binding at m, or "" if there is nothing to say. saved is the text of the file when
// the site was last read.
func (c *cursor) standing(m mention.Mention, saved *buffer.Text) string {
	t := c.site.Table(m.Name)
	if t == nil || saved == nil {
		return ""
	}
	v := report.Style{Form: report.People}.Values(m.Name, t)
	at, rows := "", []int(nil) // a binding has one row for each of its alternative conditions
	for i := range t.Rows {
		if x := t.Rows[i].At; x == at || at == "" && c.isAt(x, m, saved) {
			at, rows = x, append(rows, i)
		}
	}
	fleet, node := c.fleet(), c.settings.Node
	switch {
	case len(rows) == 0:
		return ""
	case fleet != nil && node != "":
		return c.standingFor(node, v, rows)
	case fleet != nil:
		c.countNodes(m.Name, v)
		verb := "wins for"
		if t.Merged {
			verb = "merged for"
		}
		return fmt.Sprintf("%s %d of %s", verb, len(nodesOf(v, rows)),
			diag.Count(min(len(fleet.Nodes), maxCounted), "node"))
	case len(t.Rows) == len(rows):
		return ""
	case t.Merged:
		return fmt.Sprintf("merged, %d of %d", rows[0]+1, len(t.Rows))
	}
	return fmt.Sprintf("precedence %d of %d", rows[0]+1, len(t.Rows))
}

// nodesOf returns the set of nodes that use any of the given rows.
func nodesOf(v *report.Values, rows []int) map[string]bool {
	out := map[string]bool{}
	for _, row := range rows {
		for _, node := range v.Bindings[row].Nodes {
			out[node] = true
		}
	}
	return out
}

// standingFor returns the hint for the pinned node. rows are the rows of the binding.
func (c *cursor) standingFor(node string, v *report.Values, rows []int) string {
	r, err := c.site.Request(c.fleet(), node)
	if err != nil {
		return ""
	}
	e, err := report.Style{Form: report.People}.Explain(r, v.Key)
	if err != nil {
		return ""
	}
	if v.AddNode(node, e); nodesOf(v, rows)[node] {
		return "wins for " + node
	}
	for i := range e.Candidates {
		if x := &e.Candidates[i]; x.At == v.Bindings[rows[0]].At && x.State == lookup.Hidden {
			return "overridden for " + node
		}
	}
	return "not for " + node
}

// isAt reports whether at, a position in the compiled site, is on the line of m. saved is the text of the file when the
// site was compiled.
func (c *cursor) isAt(at string, m mention.Mention, saved *buffer.Text) bool {
	p := diag.ParsePos(at)
	if p.Line == 0 || p.File != c.site.Label(c.doc.path) {
		return false
	}
	off, ok := c.doc.text.Follow(saved, saved.At(p, analysis.HasYAMLLines(c.doc.path)))
	return ok && c.doc.text.LineOf(off) == c.doc.text.LineOf(m.From)
}
