package lsp

import (
	"context"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/mention"
	"bindc/internal/lsp/outline"
)

// maxOutline limits the number of symbols in a document, because more make editors slow.
const maxOutline = 5000

// DocumentSymbol lists the keys that a document binds.
func (s *Server) DocumentSymbol(ctx context.Context, p *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult,
	error) {
	doc, err := s.openDocument(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := protocol.DocumentSymbolSlice{}
	for _, m := range doc.mentions() {
		if m.Role != mention.Binds && m.Role != mention.Parameter && m.Role != mention.Path || len(out) == maxOutline {
			continue
		}
		from, to := doc.linesOf(m)
		kind := protocol.SymbolKindKey
		if m.Role == mention.Path {
			kind = protocol.SymbolKindFile
		}
		out = append(out, protocol.DocumentSymbol{Name: m.Name, Kind: kind, Range: s.rangeOf(doc.text, from, to),
			SelectionRange: s.rangeOf(doc.text, m.From, m.To)})
	}
	return out, nil
}

// linesOf returns the range of the entry that binds m, or the range of m itself if it is not a binding.
func (d *document) linesOf(m mention.Mention) (from, to int) {
	if f := d.outline(); f != nil && m.Role == mention.Binds {
		if e := entryAt(f, m.From); e != nil {
			to := e.From + len(strings.TrimRight(d.text.Src[e.From:e.To], " \t\r\n"))
			return min(e.From, m.From), max(to, m.To)
		}
	}
	return m.From, m.To
}

// entryAt returns the innermost entry that contains off, or nil.
func entryAt(f *outline.File, off int) (found *outline.Entry) {
	for i := range f.Entries {
		if e := &f.Entries[i]; e.From <= off && off <= e.To && (found == nil || e.From >= found.From) {
			found = e
		}
	}
	return found
}

// maxSymbols limits the number of results of a search for keys.
const maxSymbols = 200

// Symbols searches all sites for keys that contain the query.
func (s *Server) Symbols(ctx context.Context, p *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult,
	error) {
	out := protocol.SymbolInformationSlice{}
	query := strings.ToLower(p.Query)
	for _, project := range s.allProjects() {
		site, err := project.current(ctx)
		if err != nil {
			return nil, err
		}
		keys := slices.DeleteFunc(site.Keys(), func(key string) bool {
			return !strings.Contains(strings.ToLower(key), query)
		})
		slices.Sort(keys)
		for _, key := range keys {
			if len(out) == maxSymbols {
				return out, nil
			}
			if list := site.Bindings(key); len(list) > 0 {
				if l, ok := s.location(site, list[len(list)-1].Pos); ok {
					out = append(out, protocol.SymbolInformation{Location: l,
						BaseSymbolInformation: protocol.BaseSymbolInformation{Name: key, Kind: protocol.SymbolKindKey}})
				}
			}
		}
	}
	return out, nil
}

func (s *Server) allProjects() []*project {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*project, 0, len(s.projects))
	for _, p := range s.projects {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *project) int { return strings.Compare(a.dir, b.dir) })
	return out
}

// DocumentHighlight returns all mentions in the document of the name at the cursor.
func (s *Server) DocumentHighlight(ctx context.Context, p *protocol.DocumentHighlightParams) (
	[]protocol.DocumentHighlight, error) {
	doc, err := s.openDocument(ctx, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	list := doc.mentions()
	m := mention.At(list, s.offset(doc.text, p.Position))
	if m == nil {
		return nil, nil
	}
	var out []protocol.DocumentHighlight
	for _, other := range list {
		if other.SameAs(m) {
			kind := protocol.DocumentHighlightKindRead
			if other.Role == mention.Binds {
				kind = protocol.DocumentHighlightKindWrite
			}
			out = append(out, protocol.DocumentHighlight{Range: s.rangeOf(doc.text, other.From, other.To), Kind: kind})
		}
	}
	return out, nil
}

// References returns all mentions in the site of the name at the cursor.
func (s *Server) References(ctx context.Context, p *protocol.ReferenceParams) ([]protocol.Location, error) {
	c, err := s.at(ctx, p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	m := c.mention()
	if m == nil {
		return nil, c.check()
	}
	var out []protocol.Location
	err = c.mentionsOf(m, func(f analysis.File, other mention.Mention) {
		if (other.Role != mention.Binds || p.Context.IncludeDeclaration) && len(out) < maxLocations {
			out = append(out, protocol.Location{URI: uri.File(f.Path), Range: s.rangeOf(f.Text, other.From, other.To)})
		}
	})
	if err != nil {
		return nil, err
	}
	return out, c.check()
}

// mentionsOf calls found for each mention in the site that refers to the same thing as m. It reads open documents
// instead of saved files.
func (c *cursor) mentionsOf(m *mention.Mention, found func(analysis.File, mention.Mention)) error {
	open := c.texts()
	for f := range c.site.FilesWith(c.ctx, m.Name) {
		var entries *outline.File
		if d := open[f.Path]; d != nil {
			f.Text = d.text
		}
		if analysis.IsYAML(f.Path) {
			entries = analysis.Outline(f.Path, f.Text.Src)
		} else {
			entries = &outline.File{}
		}
		for _, other := range mention.Find(kindOf(f.Path, f.Text.Src), f.Text, entries) {
			if other.SameAs(m) {
				found(f, other)
			}
		}
	}
	return c.ctx.Err()
}

// openDocument returns a document as it was when the request arrived.
func (s *Server) openDocument(ctx context.Context, u uri.URI) (*document, error) {
	path, ok := pathOf(u)
	open, _ := ctx.Value(textsKey{}).(texts)
	if doc := open[path]; ok && doc != nil {
		return doc, nil
	}
	return nil, errNoDocument
}
