package lsp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/buffer"
	"bindc/internal/lsp/mention"
	"bindc/internal/pattern"
)

// requestFailed is the protocol's error code for a valid request that cannot be carried out.
const requestFailed = jsonrpc2.Code(-32803)

// refused returns an error that the editor shows to the user.
func refused(format string, args ...any) error {
	return jsonrpc2.NewError(requestFailed, fmt.Sprintf(format, args...))
}

// PrepareRename returns the range of the key at the cursor, or an error if it cannot be renamed.
func (s *Server) PrepareRename(ctx context.Context, p *protocol.PrepareRenameParams) (protocol.PrepareRenameResult,
	error) {
	c, err := s.at(ctx, p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	m, err := c.renamed()
	if err != nil {
		return nil, err
	}
	r := s.rangeOf(c.doc.text, m.From, m.To)
	return &r, c.check()
}

// renamed returns the key at the cursor, or an error if it cannot be renamed.
func (c *cursor) renamed() (*mention.Mention, error) {
	m := c.mention()
	switch {
	case m == nil || !m.Role.IsKey():
		return nil, refused("there is no key here")
	case m.Role == mention.Parameter:
		return nil, refused("'%s' is a class parameter; rename it in the manifests, then its key in the data", m.Name)
	case len(c.site.Bindings(m.Name)) == 0:
		return nil, refused("'%s' is not bound", m.Name)
	}
	return m, nil
}

// keyName matches the new names that a rename accepts.
var keyName = pattern.Lazy(`^[\pL_][\pL\pN_:-]*$`)

// Rename renames a key everywhere in data and manifests. Before that, it compiles the site with the new name, and
// refuses the rename if the answers for other keys change.
func (s *Server) Rename(ctx context.Context, p *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
	project := s.projectOf(p.TextDocument.URI.FsPath())
	if project == nil {
		return nil, refused("this file does not belong to a site")
	}
	site, err := project.settled(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.at(ctx, p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	c.site = site
	m, err := c.renamed()
	if err != nil {
		return nil, err
	}
	if err := c.mayRename(m.Name, p.NewName); err != nil {
		return nil, err
	}
	edits, texts, err := c.renaming(m, p.NewName)
	if err != nil {
		return nil, err
	}
	if err := project.tryRename(ctx, site, texts, m.Name, p.NewName); err != nil {
		return nil, err
	}
	return edits, c.check()
}

// mayRename returns an error if the old or new name makes the rename impossible. It needs no file.
func (c *cursor) mayRename(from, to string) error {
	switch {
	case !keyName().MatchString(to):
		return refused("'%s' cannot be a key here: expected letters, digits, '_', '-' and '::'", to)
	case from == to:
		return refused("this is already the name of the key")
	case len(c.site.Bindings(to)) > 0:
		return refused("'%s' is bound already; the rename would mix the two keys", to)
	}
	if at := c.site.ComputedLookup(from); at != "" {
		return refused("the lookup of '%s' computes a name that may be '%s': rename it by hand", at, from)
	}
	return nil
}

// renaming returns the edits that rename m to the new name, and the resulting texts of the changed files.
func (c *cursor) renaming(m *mention.Mention, to string) (*protocol.WorkspaceEdit, map[string]*buffer.Text, error) {
	edits, texts := map[uri.URI][]protocol.TextEdit{}, map[string]*buffer.Text{}
	var wrong error
	type place struct{ from, to int }
	found := map[string][]place{}
	files := map[string]analysis.File{}
	err := c.mentionsOf(m, func(f analysis.File, other mention.Mention) {
		if other.Role == mention.Parameter {
			wrong = refused("'%s' is a class parameter in %s: rename it there by hand", m.Name, f.Path)
			return
		}
		end := other.From + len(m.Name)
		if end > len(f.Text.Src) || f.Text.Src[other.From:end] != m.Name {
			wrong = refused("'%s' is spelled differently in %s: rename it by hand", m.Name, f.Path)
			return
		}
		found[f.Path], files[f.Path] = append(found[f.Path], place{other.From, end}), f
	})
	if err = errors.Join(wrong, err); err != nil {
		return nil, nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		text := files[path].Text
		list := slices.Compact(found[path])
		for i := len(list) - 1; i >= 0; i-- {
			edits[uri.File(path)] = append(edits[uri.File(path)], protocol.TextEdit{NewText: to,
				Range: c.rangeOf(files[path].Text, list[i].from, list[i].to)})
			text = text.Replace(list[i].from, list[i].to, to)
		}
		texts[path] = text
	}
	return &protocol.WorkspaceEdit{Changes: edits}, texts, nil
}

// tryRename returns an error if the site with the changed texts does not compile, or if answers change. before is the
// site without the changes.
func (p *project) tryRename(ctx context.Context, before *analysis.Site, texts map[string]*buffer.Text,
	from, to string) error {
	if before.Snapshot() == nil {
		return refused("the site has errors, so it is unknown whether the rename changes other answers: fix them first")
	}
	open := p.server.texts().buffers()
	maps.Copy(open, texts)
	p.reading.Lock()
	after, _ := p.reader.Read(ctx, p.dir, open)
	p.reading.Unlock()
	if after == nil {
		return ctx.Err()
	}
	if after.Snapshot() == nil {
		return refused("after the rename, the site would have errors")
	}
	other, err := before.DiffersIn(after, texts, from, to)
	if err == nil && other != "" {
		err = refused("the rename would change the answers of '%s'", other)
	}
	return err
}
