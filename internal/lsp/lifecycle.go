package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/internal/lsp/buffer"
)

// settings are the initializationOptions that an editor sends. Editors may read them from the repository, which is not
// trusted. Therefore no setting can name a program or a file outside the repository.
type settings struct {
	Node string `json:"node"` // pinned node, whose values hovers and hints show; needs facts

	CodeLens       bool `json:"codeLens"`
	InlayHints     bool `json:"inlayHints"`
	SemanticTokens bool `json:"semanticTokens"`

	units   buffer.Units
	refresh []func(protocol.Client, context.Context) error // refresh requests that the editor supports
}

// Initialize negotiates the position encoding, reads the settings and records the workspace folders.
func (s *Server) Initialize(_ context.Context, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	if len(p.InitializationOptions) > 0 {
		if err := json.Unmarshal(p.InitializationOptions, &s.settings); err != nil {
			s.log(protocol.MessageTypeWarning, fmt.Sprintf("initializationOptions are ignored: %v", err))
		}
	}
	s.findRefreshes(p.Capabilities.Workspace)
	encoding := protocol.PositionEncodingKindUTF16
	const utf8 = protocol.PositionEncodingKindUTF8
	if g := p.Capabilities.General; g != nil && slices.Contains(g.PositionEncodings, utf8) {
		encoding, s.settings.units = utf8, buffer.UTF8
	}
	folders, _ := p.WorkspaceFolders.Get()
	for _, f := range folders {
		s.addRoot(f.URI)
	}
	if len(folders) == 0 {
		s.addRootOfOldClient(p)
	}
	version := s.opts.Version
	return &protocol.InitializeResult{Capabilities: s.capabilities(encoding),
		ServerInfo: protocol.ServerInfo{Name: "bindc", Version: protocol.NewOptional(version)}}, nil
}

// addRootOfOldClient uses the root directory of a client that does not support workspace folders.
func (s *Server) addRootOfOldClient(p *protocol.InitializeParams) {
	root := p.RootURI //lint:ignore SA1019 such clients send no other member
	if root != nil {
		s.addRoot(*root)
	}
}

func (s *Server) addRoot(u uri.URI) {
	if u.IsFile() {
		s.roots = append(s.roots, filepath.Clean(u.FsPath()))
	}
}

func (s *Server) capabilities(encoding protocol.PositionEncodingKind) protocol.ServerCapabilities {
	yes := true
	kind := protocol.TextDocumentSyncKindIncremental
	c := protocol.ServerCapabilities{
		PositionEncoding: encoding,
		TextDocumentSync: &protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &kind,
			Save: protocol.Boolean(true)},
		HoverProvider:      protocol.Boolean(true),
		DefinitionProvider: protocol.Boolean(true),
		CompletionProvider: &protocol.CompletionOptions{
			TriggerCharacters: []string{"'", "\"", "{", ":", "[", ".", " "}},
		CodeActionProvider: &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{
			protocol.CodeActionKindQuickFix, protocol.CodeActionKindRefactorRewrite}},
		RenameProvider:            &protocol.RenameOptions{PrepareProvider: &yes},
		ReferencesProvider:        protocol.Boolean(true),
		DocumentHighlightProvider: protocol.Boolean(true),
		DocumentSymbolProvider:    protocol.Boolean(true),
		WorkspaceSymbolProvider:   protocol.Boolean(true),
	}
	if s.settings.CodeLens {
		c.CodeLensProvider = &protocol.CodeLensOptions{ResolveProvider: &yes}
	}
	if s.settings.InlayHints {
		c.InlayHintProvider = protocol.Boolean(true)
	}
	if s.settings.SemanticTokens {
		c.SemanticTokensProvider = tokenOptions()
	}
	return c
}

// findRefreshes sets s.settings.refresh according to the editor's capabilities.
func (s *Server) findRefreshes(w *protocol.WorkspaceClientCapabilities) {
	supported := func(on *bool) bool { return on != nil && *on }
	if w == nil {
		return
	}
	if s.settings.CodeLens && w.CodeLens != nil && supported(w.CodeLens.RefreshSupport) {
		s.settings.refresh = append(s.settings.refresh, protocol.Client.CodeLensRefresh)
	}
	if s.settings.InlayHints && w.InlayHint != nil && supported(w.InlayHint.RefreshSupport) {
		s.settings.refresh = append(s.settings.refresh, protocol.Client.InlayHintRefresh)
	}
}

// refresh makes the editor request lenses and hints again.
func (s *Server) refresh() {
	for _, ask := range s.settings.refresh {
		go ask(s.client, s.ctx)
	}
}

// Initialized asks the editor to report changes of files that are not open.
func (s *Server) Initialized(context.Context, *protocol.InitializedParams) error {
	go func() {
		options, err := json.Marshal(map[string]any{"watchers": []map[string]string{
			{"globPattern": "**/*.{yaml,yml,json,eyaml,pp,conf}"}}})
		if err == nil {
			files := protocol.Registration{ID: "files", Method: protocol.MethodWorkspaceDidChangeWatchedFiles,
				RegisterOptions: options}
			err = s.client.RegisterCapability(s.ctx,
				&protocol.RegistrationParams{Registrations: []protocol.Registration{files}})
		}
		if err != nil && s.ctx.Err() == nil {
			const text = "the editor does not report changes of files that are not open: "
			s.log(protocol.MessageTypeInfo, text+err.Error())
		}
	}()
	return nil
}

// Shutdown stops reading sites.
func (s *Server) Shutdown(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.projects {
		p.stop()
	}
	return nil
}

// Exit ends Serve.
func (s *Server) Exit(context.Context) error {
	s.exit.Do(func() { close(s.exited) })
	return nil
}

// SetTrace does nothing, because the server does not trace.
func (s *Server) SetTrace(context.Context, *protocol.SetTraceParams) error { return nil }
