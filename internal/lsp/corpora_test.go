package lsp

import (
	"context"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"bindc/internal/lsp/analysis"
	"bindc/internal/testmode"
)

// corpora lists the real sites next to the repository. They may be absent.
func corpora(t *testing.T) (dirs []string) {
	t.Helper()
	for _, pattern := range []string{"*/site", "hiera5/*/site"} {
		found, err := filepath.Glob(filepath.Join("../../../shared/corpora", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range found {
			abs, err := filepath.EvalSymlinks(dir)
			if err == nil {
				abs, err = filepath.Abs(abs)
			}
			if err != nil {
				t.Fatal(err)
			}
			dirs = append(dirs, abs)
		}
	}
	if len(dirs) == 0 {
		t.Skip("no corpora")
	}
	return dirs
}

// hanging is the time after which a request counts as hanging, even on a busy machine.
const hanging = time.Minute

// Requests at all places of the files of real sites get an answer. Without BINDC_THOROUGH, a sample is tried.
func TestEveryPlaceOfRealSitesAnswers(t *testing.T) {
	everyFile := testmode.Number(1200, 1)
	everyPlace := 41 // all places of all files would take hours
	if testmode.Race {
		everyPlace = 410
	}
	tried, files := 0, 0
	for _, dir := range testmode.Sample(t, corpora(t), 4) {
		options := withLints()
		options.Delay = time.Hour // after the first time, the site is not read again
		e := start(t, dir, options)
		number := 0
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			ext := filepath.Ext(path)
			if err != nil || entry.IsDir() || !analysis.IsYAML(path) && ext != ".json" && ext != ".pp" {
				return err
			}
			if number++; number%everyFile != 1 && everyFile > 1 {
				return nil
			}
			files++
			rel, _ := filepath.Rel(dir, path)
			e.open(rel, "")
			tried += e.tryPlaces(rel, path, everyPlace)
			return e.server.DidClose(t.Context(), &protocol.DidCloseTextDocumentParams{TextDocument: e.id(rel)})
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d places in %d files so far", dir, tried, files)
	}
	if t.Logf("%d places in %d files", tried, files); tried < 10 {
		t.Error("too few")
	}
}

// tryPlaces sends requests at every n-th place of an open file. They go to the server itself, without the
// connection.
func (e *editor) tryPlaces(name, path string, n int) (tried int) {
	e.t.Helper()
	e.hover(name, 0, 0) // the server has opened the file when it answers
	ctx := context.WithValue(e.t.Context(), textsKey{}, e.inside.texts())
	doc := e.inside.texts()[path]
	check := func(what string, line int, do func() error) {
		began := time.Now()
		if err := do(); err != nil {
			e.t.Errorf("%s:%d: %s fails: %v", name, line, what, err)
		}
		if took := time.Since(began); took > hanging {
			e.t.Errorf("%s:%d: %s takes %v", name, line, what, took)
		}
	}
	s := e.inside
	for off := 0; off <= len(doc.text.Src); off += n {
		at := protocol.TextDocumentPositionParams{TextDocument: e.id(name), Position: s.position(doc.text, off)}
		line := int(at.Position.Line) + 1
		tried++
		check("hover", line, func() error {
			_, err := s.Hover(ctx, &protocol.HoverParams{TextDocumentPositionParams: at})
			return err
		})
		check("definition", line, func() error {
			_, err := s.Definition(ctx, &protocol.DefinitionParams{TextDocumentPositionParams: at})
			return err
		})
		check("highlight", line, func() error {
			_, err := s.DocumentHighlight(ctx, &protocol.DocumentHighlightParams{TextDocumentPositionParams: at})
			return err
		})
		if off%(10*n) == 0 {
			check("completion", line, func() error {
				_, err := s.Completion(ctx, &protocol.CompletionParams{TextDocumentPositionParams: at})
				return err
			})
		}
	}
	check("symbols", 0, func() error {
		_, err := s.DocumentSymbol(ctx, &protocol.DocumentSymbolParams{TextDocument: e.id(name)})
		return err
	})
	check("lenses", 0, func() error {
		_, err := s.CodeLens(ctx, &protocol.CodeLensParams{TextDocument: e.id(name)})
		return err
	})
	check("hints", 0, func() error {
		_, err := s.InlayHint(ctx, &protocol.InlayHintParams{TextDocument: e.id(name),
			Range: s.rangeOf(doc.text, 0, len(doc.text.Src))})
		return err
	})
	check("tokens", 0, func() error {
		_, err := s.SemanticTokensFull(ctx, &protocol.SemanticTokensParams{TextDocument: e.id(name)})
		return err
	})
	check("references", 0, func() error {
		_, err := s.References(ctx, &protocol.ReferenceParams{TextDocumentPositionParams: e.at(name, 0, 2)})
		return err
	})
	return tried
}
