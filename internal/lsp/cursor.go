package lsp

import (
	"context"
	"errors"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/mention"
)

// cursor is a position in an open document, with the latest result of reading its site.
type cursor struct {
	*Server
	ctx  context.Context
	doc  *document
	site *analysis.Site
	off  int
}

var errNoDocument = errors.New("the document is not open")

// document returns a document as it was when the request arrived, and the latest result of reading its site. site is
// nil if the document belongs to no site.
func (s *Server) document(ctx context.Context, u uri.URI) (doc *document, site *analysis.Site, err error) {
	path, ok := pathOf(u)
	open, _ := ctx.Value(textsKey{}).(texts)
	if doc = open[path]; !ok || doc == nil {
		return nil, nil, errNoDocument
	}
	if p := s.projectOf(path); p != nil {
		site, err = p.current(ctx)
	}
	return doc, site, err
}

// at returns the cursor for a request. Its site is empty, not nil, if the document belongs to no site.
func (s *Server) at(ctx context.Context, p protocol.TextDocumentPositionParams) (*cursor, error) {
	doc, site, err := s.document(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	if site == nil {
		site = analysis.Empty("")
	}
	return &cursor{s, ctx, doc, site, s.offset(doc.text, p.Position)}, nil
}

// mention returns the mention at the cursor, or nil if there is none.
func (c *cursor) mention() *mention.Mention { return mention.At(c.doc.mentions(), c.off) }

// check returns ErrContentModified if the document has changed since the request arrived.
func (c *cursor) check() error {
	if now := c.texts()[c.doc.path]; now == nil || now.text != c.doc.text {
		return protocol.ErrContentModified
	}
	return nil
}
