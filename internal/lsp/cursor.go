package lsp

import (
	"context"
	"errors"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/mention"
)

// cursor is a position in an open document, with the site as it was last read.
type cursor struct {
	*Server
	ctx  context.Context
	doc  *document
	site *analysis.Site
	off  int
}

// errNoDocument is the error for a request about a document that is not open.
var errNoDocument = errors.New("the document is not open")

// document returns a document in its state when the request arrived, and its site. site is nil if the file belongs to
// no site.
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

// at returns the cursor for a request. Its site is never nil.
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

// mention returns the name at the cursor, or nil.
func (c *cursor) mention() *mention.Mention { return mention.At(c.doc.mentions(), c.off) }

// check returns ContentModified if the document has changed since the request arrived.
func (c *cursor) check() error {
	if now := c.texts()[c.doc.path]; now == nil || now.text != c.doc.text {
		return protocol.ErrContentModified
	}
	return nil
}
