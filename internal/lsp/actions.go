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
			continue
		}
		for _, first := range f.Notes {
			off := c.doc.text.At(first.Pos, analysis.HasYAMLLines(c.doc.path))
			if f.Code == duplicateKey && first.Pos.File == c.doc.path && onLine(off, off) {
				out = append(out, c.removal(f, off)...)
			}
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
		out = append(out, c.removal(f, f.At)...)
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

// removable lists the codes of bindings that can be removed: those without an effect, and the second of two with a key.
var removable = []diag.Code{"never_wins", "same_value", "unused_key", duplicateKey}

const duplicateKey = "yaml_duplicate_key"

// removal returns the action that removes the entry at off, or none if its lines contain other text, too.
func (c *cursor) removal(f analysis.Finding, off int) []protocol.CommandOrCodeAction {
	title := "Remove this binding"
	from, to, ok := c.wholeEntry(off)
	if !ok && f.Code == duplicateKey {
		if from, to, ok = c.nestedEntry(off); off > from {
			title = "Remove this entry"
		}
	}
	if !ok {
		return nil
	}
	return []protocol.CommandOrCodeAction{
		c.action(title, protocol.CodeActionKindQuickFix, &f, change{from, to, ""})}
}

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
	title := "Replace by '" + withoutQuotes(f.Edits[0].Text) + "'"
	switch text := f.Edits[0].Text; {
	case strings.HasSuffix(text, "\n"):
		title = "Write '" + strings.TrimSpace(text) + "'"
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

// withoutQuotes returns text without the quotes around it.
func withoutQuotes(text string) string {
	for _, quote := range []string{"'", `"`} {
		inside := strings.Trim(text, quote)
		if quote+inside+quote == text {
			return inside
		}
	}
	return text
}

// wholeEntry returns the range of the lines of the entry at an offset. ok is false if these lines also contain another
// entry.
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

// nestedEntry returns the range of the lines of an entry that is inside a value and whose key is at off. ok is false if
// the file does not parse without these lines, or if they also contain other text.
func (c *cursor) nestedEntry(off int) (from, to int, ok bool) {
	src, from := c.doc.text.Src, c.lineStart(off)
	column := off - from
	if !analysis.IsYAML(c.doc.path) || strings.Trim(src[from:off], " ") != "" {
		return 0, 0, false
	}
	at := from
	for line := range strings.Lines(src[from:]) {
		text := strings.TrimLeft(line, " ")
		deeper := len(line)-len(text) > column || len(line)-len(text) == column && strings.HasPrefix(text, "- ")
		isEmpty := strings.TrimSpace(text) == ""
		if at > from && !isEmpty && !deeper {
			break
		}
		at += len(line)
		if !isEmpty {
			to = at
		}
	}
	_, ok = yaml.Parse(c.doc.path, []byte(src[:from]+src[to:]), yaml.Options{LastKeyWins: true}, &diag.List{})
	return from, to, ok
}

// encryption returns the action that encrypts the value at the cursor with the public key of the site. It returns nil
// if there is no such value or key.
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
