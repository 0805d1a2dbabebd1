package lsp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/internal/lint"
	"bindc/internal/lsp/analysis"
)

// editor is a client of a server under test.
type editor struct {
	protocol.UnimplementedClient
	t      *testing.T
	dir    string
	server protocol.Server
	inside *Server // the server itself, to wait until it has read a site

	mu    sync.Mutex
	diags map[string][]string // diagnostics by path relative to dir
	sent  map[string]int      // number of publications by path
	logs  []string

	texts map[string]string // texts of open files
}

// PublishDiagnostics records the diagnostics of a file.
func (e *editor) PublishDiagnostics(_ context.Context, p *protocol.PublishDiagnosticsParams) error {
	var list []string
	for _, d := range p.Diagnostics {
		code, _ := d.Code.(protocol.String)
		message, _, _ := strings.Cut(string(d.Message.(protocol.String)), "\n")
		list = append(list, fmt.Sprintf("%d:%d-%d:%d %s: %s", d.Range.Start.Line, d.Range.Start.Character,
			d.Range.End.Line, d.Range.End.Character, code, message))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	rel, _ := filepath.Rel(e.dir, p.URI.FsPath())
	e.sent[rel]++
	if e.diags[rel] = list; list == nil {
		delete(e.diags, rel)
	}
	return nil
}

// LogMessage records a message.
func (e *editor) LogMessage(_ context.Context, p *protocol.LogMessageParams) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.logs = append(e.logs, p.Message)
	return nil
}

// RegisterCapability accepts everything.
func (e *editor) RegisterCapability(context.Context, *protocol.RegistrationParams) error { return nil }

// start starts a server for the files in dir.
func start(t *testing.T, dir string, opts Options) *editor {
	t.Helper()
	return startWith(t, dir, opts, "")
}

// startWith starts a server with initializationOptions in JSON.
func startWith(t *testing.T, dir string, opts Options, settings string) *editor {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	if opts.Delay == 0 {
		opts.Delay = time.Millisecond
	}
	s := newServer(ctx, opts)
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(&pipe{fromClient, toClient}), jsonrpc2.WithCodec(codec{}))
	s.client = protocol.ClientDispatcher(conn)
	conn.Go(ctx, s.handler())
	e := &editor{t: t, dir: dir, inside: s, diags: map[string][]string{}, sent: map[string]int{},
		texts: map[string]string{}}
	// protocol.NewClient would handle notifications in any order.
	client := jsonrpc2.NewConn(jsonrpc2.NewStream(&pipe{fromServer, toServer}), jsonrpc2.WithCodec(codec{}))
	client.Go(ctx, protocol.ClientHandler(e, jsonrpc2.MethodNotFoundHandler))
	e.server = protocol.ServerDispatcher(client)
	_, err := e.server.Initialize(ctx, &protocol.InitializeParams{
		InitializationOptions: protocol.LSPAny(settings),
		WorkspaceFoldersInitializeParams: protocol.WorkspaceFoldersInitializeParams{
			WorkspaceFolders: protocol.NewNullable([]protocol.WorkspaceFolder{{URI: uri.File(dir)}})}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// withLints are the options of the tests: as those of the verb.
func withLints() Options { return Options{Analysis: analysis.Options{Lints: lint.Codes()}} }

// site writes files, given as "-- NAME --" followed by the content, into a new directory.
func site(t *testing.T, files string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(files, "-- ")[1:] {
		name, content, ok := strings.Cut(part, " --\n")
		if !ok {
			t.Fatalf("expected NAME --, found %q", part)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (e *editor) id(name string) protocol.TextDocumentIdentifier {
	return protocol.TextDocumentIdentifier{URI: uri.File(filepath.Join(e.dir, name))}
}

// open opens a file with a text. Without one, it has the text that was saved.
func (e *editor) open(name, text string) {
	e.t.Helper()
	if text == "" {
		src, err := os.ReadFile(filepath.Join(e.dir, name))
		if err != nil {
			e.t.Fatal(err)
		}
		text = string(src)
	}
	e.texts[name] = text
	err := e.server.DidOpen(e.t.Context(), &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
		URI: e.id(name).URI, LanguageID: "yaml", Version: 1, Text: text}})
	if err != nil {
		e.t.Fatal(err)
	}
}

// change replaces the text of an open file.
func (e *editor) change(name, text string) {
	e.t.Helper()
	e.texts[name] = text
	err := e.server.DidChange(e.t.Context(), &protocol.DidChangeTextDocumentParams{
		TextDocument: protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: e.id(name), Version: 2},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{
			&protocol.TextDocumentContentChangeWholeDocument{Text: text}}})
	if err != nil {
		e.t.Fatal(err)
	}
}

// settle waits until the server has read all sites with all changes, and has published the results.
func (e *editor) settle() {
	e.t.Helper()
	// An answer to a request shows that the server has handled all notifications before it.
	e.server.Hover(e.t.Context(), &protocol.HoverParams{TextDocumentPositionParams: e.at("none", 0, 0)})
	e.inside.mu.Lock()
	var all []*project
	for _, p := range e.inside.projects {
		all = append(all, p)
	}
	e.inside.mu.Unlock()
	for _, p := range all {
		if _, err := p.settled(e.t.Context()); err != nil {
			e.t.Fatal(err)
		}
		p.reading.Lock()   // a read publishes its results before it releases this lock
		p.reading.Unlock() //lint:ignore SA2001 only waiting for the lock matters
	}
	e.server.Hover(e.t.Context(), &protocol.HoverParams{TextDocumentPositionParams: e.at("none", 0, 0)})
}

func (e *editor) at(name string, line, col int) protocol.TextDocumentPositionParams {
	return protocol.TextDocumentPositionParams{TextDocument: e.id(name),
		Position: protocol.Position{Line: uint32(line), Character: uint32(col)}}
}

// found returns the diagnostics of a file.
func (e *editor) found(name string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.diags[name])
}

// hover returns the text of a hover, or "".
func (e *editor) hover(name string, line, col int) string {
	e.t.Helper()
	h, err := e.server.Hover(e.t.Context(), &protocol.HoverParams{TextDocumentPositionParams: e.at(name, line, col)})
	if err != nil {
		e.t.Fatalf("hover at %s:%d:%d fails: %v", name, line, col, err)
	}
	if h == nil {
		return ""
	}
	return h.Contents.(*protocol.MarkupContent).Value
}

// definition returns the places that a definition request finds, as name:line:column.
func (e *editor) definition(name string, line, col int) (out []string) {
	e.t.Helper()
	found, err := e.server.Definition(e.t.Context(),
		&protocol.DefinitionParams{TextDocumentPositionParams: e.at(name, line, col)})
	if err != nil {
		e.t.Fatalf("definition at %s:%d:%d fails: %v\n%s", name, line, col, err, strings.Join(e.logs, "\n"))
	}
	switch list := found.(type) {
	case protocol.LocationSlice:
		out = e.places(list)
	case *protocol.Location:
		out = e.places([]protocol.Location{*list})
	}
	return out
}

func (e *editor) places(list []protocol.Location) (out []string) {
	for _, l := range list {
		rel, _ := filepath.Rel(e.dir, l.URI.FsPath())
		out = append(out, fmt.Sprintf("%s:%d:%d", rel, l.Range.Start.Line, l.Range.Start.Character))
	}
	return out
}
