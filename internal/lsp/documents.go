package lsp

import (
	"context"
	"maps"
	"path/filepath"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/mention"
	"bindc/internal/lsp/outline"
)

// texts holds the open documents by path.
type texts map[string]*document

func (t texts) buffers() map[string]*buffer.Text {
	out := make(map[string]*buffer.Text, len(t))
	for path, d := range t {
		out[path] = d.text
	}
	return out
}

// document is one version of an open document. It is immutable; a change creates a new document.
type document struct {
	path    string
	version int32
	text    *buffer.Text

	once    sync.Once
	entries *outline.File // entries of a YAML or JSON file, computed by outline

	find  sync.Once
	names []mention.Mention
}

// outline returns the entries of a YAML or JSON file. It returns nil for other files.
func (d *document) outline() *outline.File {
	d.once.Do(func() {
		if analysis.IsYAML(d.path) || filepath.Ext(d.path) == ".json" {
			d.entries = analysis.Outline(d.path, d.text.Src)
		}
	})
	return d.entries
}

// mentions returns the mentions in the document. It finds them on the first call.
func (d *document) mentions() []mention.Mention {
	d.find.Do(func() { d.names = mention.Find(kindOf(d.path, d.text.Src), d.text, d.outline()) })
	return d.names
}

// texts returns the currently open documents. The caller must not change the map.
func (s *Server) texts() texts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// update replaces the document at path by the result of next, or closes it if next returns nil.
func (s *Server) update(path string, next func(before *document) *document) {
	s.mu.Lock()
	open := maps.Clone(s.open)
	if d := next(open[path]); d != nil {
		open[path] = d
	} else {
		delete(open, path)
	}
	s.open = open
	s.mu.Unlock()
	s.changed(path)
}

// DidOpen handles a newly opened document.
func (s *Server) DidOpen(_ context.Context, p *protocol.DidOpenTextDocumentParams) error {
	if path, ok := pathOf(p.TextDocument.URI); ok {
		s.update(path, func(*document) *document {
			return &document{path: path, version: p.TextDocument.Version, text: buffer.New(p.TextDocument.Text)}
		})
	}
	return nil
}

// DidChange applies changes to an open document.
func (s *Server) DidChange(_ context.Context, p *protocol.DidChangeTextDocumentParams) error {
	path, ok := pathOf(p.TextDocument.URI)
	if !ok {
		return nil
	}
	s.update(path, func(before *document) *document {
		text := buffer.New("")
		if before != nil {
			text = before.text
		}
		for _, change := range p.ContentChanges {
			switch c := change.(type) {
			case *protocol.TextDocumentContentChangePartial:
				text = text.Replace(s.offset(text, c.Range.Start), s.offset(text, c.Range.End), c.Text)
			case *protocol.TextDocumentContentChangeWholeDocument:
				text = buffer.New(c.Text)
			}
		}
		return &document{path: path, version: p.TextDocument.Version, text: text}
	})
	return nil
}

// DidClose handles a closed document. From then on, the server reads the saved file.
func (s *Server) DidClose(_ context.Context, p *protocol.DidCloseTextDocumentParams) error {
	if path, ok := pathOf(p.TextDocument.URI); ok {
		s.update(path, func(*document) *document { return nil })
	}
	return nil
}

// DidSave schedules a read of the whole site, because a save can run programs that change other files.
func (s *Server) DidSave(_ context.Context, p *protocol.DidSaveTextDocumentParams) error {
	if path, ok := pathOf(p.TextDocument.URI); ok {
		s.changed(path)
	}
	return nil
}

// DidChangeWatchedFiles handles changes of files that are not open.
func (s *Server) DidChangeWatchedFiles(_ context.Context, p *protocol.DidChangeWatchedFilesParams) error {
	for _, e := range p.Changes {
		if path, ok := pathOf(e.URI); ok {
			s.changed(path)
		}
	}
	return nil
}

// pathOf returns the path of a file URI. It returns false for other URIs.
func pathOf(u uri.URI) (string, bool) {
	if !u.IsFile() {
		return "", false
	}
	path := filepath.Clean(u.FsPath())
	return path, filepath.IsAbs(path)
}

func (s *Server) offset(t *buffer.Text, p protocol.Position) int {
	return t.Offset(buffer.Place{Line: p.Line, Col: p.Character}, s.settings.units)
}

func (s *Server) rangeOf(t *buffer.Text, from, to int) protocol.Range {
	return protocol.Range{Start: s.position(t, from), End: s.position(t, to)}
}

func (s *Server) position(t *buffer.Text, off int) protocol.Position {
	p := t.Place(off, s.settings.units)
	return protocol.Position{Line: p.Line, Character: p.Col}
}
