package lsp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"bindc/diag"
	"bindc/internal/lint"
	"bindc/internal/lsp/analysis"
	"bindc/internal/lsp/mention"
	"bindc/internal/lsp/outline"
	"bindc/internal/secret/eyaml"
	"bindc/internal/yaml"
)

// CodeAction offers fixes for the diagnostics in a range: make the suggested edits, remove a binding without effect, or
// silence a lint with a comment. On a value, it offers to encrypt the value.
func (s *Server) CodeAction(ctx context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	at := protocol.TextDocumentPositionParams{TextDocument: p.TextDocument, Position: p.Range.Start}
	c, err := s.at(ctx, at)
	if err != nil {
		return nil, err
	}
	from, to := c.off, s.offset(c.doc.text, p.Range.End)
	out := []protocol.CommandOrCodeAction{}
	for _, f := range c.findings(c.site, c.doc) {
		onLine := func(off, end int) bool { return c.lineStart(off) <= to && from <= max(end, c.lineEnd(off)) }
		if onLine(f.From, f.To) || onLine(f.At, f.At) {
			out = append(out, c.fixes(f)...)
		}
	}
	if a := c.encryption(); a != nil {
		out = append(out, a)
	}
	return out, c.check()
}

func (c *cursor) lineStart(off int) int {
	start, _ := c.doc.text.Line(c.doc.text.LineOf(off))
	return start
}

func (c *cursor) lineEnd(off int) int {
	_, end := c.doc.text.Line(c.doc.text.LineOf(off))
	return end
}

type change struct {
	from, to int
	text     string
}

// action returns a code action that makes edits in the document of c. f is the finding that it fixes, or nil.
func (c *cursor) action(title string, kind protocol.CodeActionKind, f *analysis.Finding,
	edits ...change) *protocol.CodeAction {
	list := make([]protocol.TextEdit, len(edits))
	for i, e := range edits {
		list[i] = protocol.TextEdit{Range: c.rangeOf(c.doc.text, e.from, e.to), NewText: e.text}
	}
	a := &protocol.CodeAction{Title: title, Kind: &kind,
		Edit: &protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{uri.File(c.doc.path): list}}}
	if f != nil {
		a.Diagnostics = []protocol.Diagnostic{c.diagnostic(c.site, c.doc.text, *f)}
	}
	return a
}

func (c *cursor) fixes(f analysis.Finding) (out []protocol.CommandOrCodeAction) {
	if a := c.correction(f); a != nil {
		out = append(out, a)
	}
	if slices.Contains(removable, f.Code) {
		if from, to, ok := c.wholeEntry(f.At); ok {
			remove := change{from, to, ""}
			out = append(out, c.action("Remove this binding", protocol.CodeActionKindQuickFix, &f, remove))
		}
	}
	if f.Severity == diag.Lint && slices.Contains(lint.Codes(), f.Code) && analysis.IsYAML(c.doc.path) {
		start := c.lineStart(f.At)
		rest := c.doc.text.Src[start:]
		indent := rest[:len(rest)-len(strings.TrimLeft(rest, " "))]
		out = append(out, c.action("Ignore '"+string(f.Code)+"' here", protocol.CodeActionKindQuickFix, &f,
			change{start, start, indent + "# bindc: ignore " + string(f.Code) + "\n"}))
	}
	return out
}

// removable lists the codes of bindings that can simply be removed: those without effect, and a second binding of the
// same key.
var removable = []diag.Code{"never_wins", "same_value", "unused_key", "yaml_duplicate_key"}

// correction returns the action that makes the edits suggested by f, or nil if f suggests none.
func (c *cursor) correction(f analysis.Finding) *protocol.CodeAction {
	if len(f.Edits) == 0 {
		return nil
	}
	changes := map[uri.URI][]protocol.TextEdit{}
	for _, e := range f.Edits {
		file := e.Pos.File
		text := c.doc.text
		if file != c.doc.path {
			if text = c.site.Text(file); text == nil {
				return nil
			}
			if now := c.texts()[file]; now != nil && now.text.Src != text.Src {
				return nil // the site is being read again
			}
		}
		yaml := analysis.HasYAMLLines(file)
		changes[uri.File(file)] = append(changes[uri.File(file)], protocol.TextEdit{NewText: e.Text,
			Range: c.rangeOf(text, text.At(e.Pos, yaml), text.At(e.End, yaml))})
	}
	title := "Replace by '" + f.Edits[0].Text + "'"
	switch text := f.Edits[0].Text; {
	case text == "":
		title = "Remove '" + f.Fix.Old + "'"
	case strings.TrimSpace(text) == "":
		title = "Indent with spaces"
	case strings.HasSuffix(strings.TrimRight(text, " "), ":") && len(strings.TrimSpace(text)) > 1:
		title = "Write '" + strings.TrimSpace(text) + "'"
	}
	a := c.action(title, protocol.CodeActionKindQuickFix, &f)
	yes := true
	a.IsPreferred, a.Edit = &yes, &protocol.WorkspaceEdit{Changes: changes}
	return a
}

// wholeEntry returns the range of whole lines that the entry at off occupies. ok is false if another entry shares these
// lines.
func (c *cursor) wholeEntry(off int) (from, to int, ok bool) {
	f := c.doc.outline()
	if f == nil {
		return 0, 0, false
	}
	e := entryAt(f, off)
	if e == nil || e.Value == nil || e.To <= e.From || e.Key == "bind" || e.Key == "" && !e.InBind {
		return 0, 0, false
	}
	if shared := slices.ContainsFunc(f.Entries, func(o outline.Entry) bool {
		return o.Pos != e.Pos && o.From == e.From && !(o.Key == "bind" && e.InBind)
	}); shared || strings.TrimLeft(c.doc.text.Src[e.From:off], " -[{\"'") != "" {
		return 0, 0, false // another entry shares a line, or off is inside a nested entry
	}
	to = e.From + len(strings.TrimRight(c.doc.text.Src[e.From:e.To], " \t\r\n"))
	if rest := c.doc.text.Src[to:]; strings.HasPrefix(rest, "\r\n") {
		to += 2
	} else if rest != "" {
		to++
	}
	return e.From, min(to, len(c.doc.text.Src)), true
}

// encryption returns the action that encrypts the value at the cursor with the site's public key. It returns nil if the
// cursor is not on a value or there is no key.
func (c *cursor) encryption() *protocol.CodeAction {
	f := c.doc.outline()
	if f == nil || kindOf(c.doc.path, c.doc.text.Src) != mention.Data || !c.site.Reads(c.doc.path) {
		return nil
	}
	e := entryAt(f, c.off)
	if e == nil || e.Value == nil || e.Value.Kind != yaml.Scalar || e.Key == "" {
		return nil
	}
	plain, ok := e.Value.Text()
	at := c.doc.text.At(diag.Pos{Line: int(e.Value.Line), Col: int(e.Value.Col)}, true)
	to := c.doc.text.TokenEnd(at)
	raw := c.doc.text.Src[at:to]
	if !ok || strings.Contains(plain, "ENC[") || strings.Trim(raw, `"'`) != plain || to != c.lineEnd(at) {
		return nil
	}
	key := c.publicKey()
	if key == nil {
		return nil
	}
	encrypted, err := key.Encrypt(plain)
	if err != nil {
		return nil
	}
	return c.action("Encrypt with the public key", protocol.CodeActionKindRefactorRewrite, nil,
		change{at, to, encrypted})
}

// publicKey returns the hiera-eyaml public key from $BINDC_EYAML_PUBLIC_KEY or from the site. It returns nil if there
// is none.
func (c *cursor) publicKey() *eyaml.PublicKey {
	var src []byte
	var err error
	if file := os.Getenv("BINDC_EYAML_PUBLIC_KEY"); file != "" {
		src, err = os.ReadFile(file)
	} else {
		src, err = c.site.ReadFile(filepath.Join(c.site.Dir, keyInSite))
	}
	if err != nil {
		return nil
	}
	key, err := eyaml.ParsePublicKey(src)
	if err != nil {
		return nil
	}
	return key
}

// keyInSite is the path where 'eyaml createkeys' puts the public key, relative to the site.
const keyInSite = "keys/public_key.pkcs7.pem"
