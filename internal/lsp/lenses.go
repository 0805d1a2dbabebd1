package lsp

import (
	"context"
	"encoding/json"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/diag"
	"bindc/internal/lsp/mention"
	"bindc/internal/report"
)

// maxLenses limits the code lenses of a document. Editors are slow with more.
const maxLenses = 1000

// lensData identifies the key of a lens. The editor sends it back to ask for the title.
type lensData struct {
	URI uri.URI `json:"uri"`
	Key string  `json:"key"`
}

// CodeLens marks the keys that a document binds, and its class parameters. The editor asks for the titles of visible
// lenses only.
func (s *Server) CodeLens(ctx context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	doc, err := s.openDocument(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []protocol.CodeLens{}
	if s.siteOf(doc.path) == "" {
		return out, nil
	}
	for _, m := range doc.mentions() {
		if m.Role != mention.Binds && m.Role != mention.Parameter || len(out) == maxLenses {
			continue
		}
		data, err := json.Marshal(lensData{p.TextDocument.URI, m.Name})
		if err != nil {
			return nil, err
		}
		out = append(out, protocol.CodeLens{Range: s.rangeOf(doc.text, m.From, m.To), Data: data})
	}
	return out, nil
}

// CodeLensResolve adds the title of a lens: how many bindings the key has, and how many nodes get a value.
func (s *Server) CodeLensResolve(ctx context.Context, l *protocol.CodeLens) (*protocol.CodeLens, error) {
	var data lensData
	if err := json.Unmarshal(l.Data, &data); err != nil {
		return nil, err
	}
	at := protocol.TextDocumentPositionParams{TextDocument: protocol.TextDocumentIdentifier{URI: data.URI},
		Position: l.Range.Start}
	c, err := s.at(ctx, at)
	if err != nil {
		return nil, err
	}
	out := *l
	out.Command = protocol.Command{Title: c.summary(data.Key)} // without a command, editors only show the title
	return &out, c.check()
}

// summary returns how many bindings a key has, and how many nodes get a value.
func (c *cursor) summary(key string) string {
	t := c.site.Table(key)
	switch {
	case t == nil:
		return "the site has errors"
	case len(t.Rows) == 0:
		return "not bound"
	}
	text := diag.Count(len(t.Rows), "binding")
	if fleet := c.fleet(); fleet != nil {
		v := report.Style{Form: report.People}.Values(key, t)
		c.countNodes(key, v)
		nodes := min(len(fleet.Nodes), maxCounted)
		text += fmt.Sprintf(", for %d of %s", nodes-len(v.Without), diag.Count(nodes, "node"))
	}
	return text
}
