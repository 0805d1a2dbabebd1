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

// maxLenses limits the number of code lenses in a document, because more make editors slow.
const maxLenses = 1000

// lensData is stored in a code lens. The editor sends it back to request the title.
type lensData struct {
	URI uri.URI `json:"uri"`
	Key string  `json:"key"`
}

// CodeLens returns a code lens for each key that the document binds and each class parameter. The lenses have no titles
// yet, because the editor requests them only for visible lenses.
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

// CodeLensResolve adds the title of a code lens.
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
	out.Command = protocol.Command{Title: c.summary(data.Key)} // the lens only shows text
	return &out, c.check()
}

// summary returns the title of the lens for key: how many bindings it has, and how many nodes get a value.
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
