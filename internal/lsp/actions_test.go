package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// act returns the text of a file after the code action whose title contains words, at the start of a line. It returns
// the titles of all actions if there is none.
func (e *editor) act(name string, line int, words string) (text string, titles []string) {
	e.t.Helper()
	e.settle()
	at := protocol.Position{Line: uint32(line), Character: 3}
	found, err := e.server.CodeAction(e.t.Context(), &protocol.CodeActionParams{TextDocument: e.id(name),
		Range: protocol.Range{Start: at, End: at}})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, x := range found {
		a := x.(*protocol.CodeAction)
		titles = append(titles, a.Title)
		if !strings.Contains(a.Title, words) {
			continue
		}
		edit := a.Edit.Changes[e.id(name).URI][0]
		doc := e.inside.texts()[filepath.Join(e.dir, name)].text
		s := e.inside
		return doc.Replace(s.offset(doc, edit.Range.Start), s.offset(doc, edit.Range.End), edit.NewText).Src, nil
	}
	return "", titles
}

// Each fix removes its diagnostic.
func TestFixRemovesItsDiagnostic(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		line             int
		words, want      string
	}{
		{"typo in a lookup", "data/common.yaml", "app::port: 80\napp::host: \"%{lookup('app::prot')}\"\n", 1,
			"Replace by 'app::port'", "lookup('app::port')"},
		{"dead binding", "data/os/Debian.yaml", "other: 1\napp::port: 80\nmore: 2\n", 1, "Remove", "other: 1\nmore: 2\n"},
		{"lint", "data/os/Debian.yaml", "other: 1\napp::port: 80\n", 1, "Ignore 'same_value'",
			"other: 1\n# bindc: ignore same_value\napp::port: 80\n"},
	} {
		files := strings.Replace(control, "-- data/nodes/web1.yaml --\napp::port: 8081\n", "", 1)
		e := start(t, site(t, files), withLints())
		e.open(test.file, test.text)
		e.settle()
		before := len(e.found(test.file))
		got, titles := e.act(test.file, test.line, test.words)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: the text is\n%s\nthe actions are %q, expected %q; diagnostics: %q", test.name, got, titles, test.want,
				e.found(test.file))
			continue
		}
		e.change(test.file, got)
		e.settle()
		if after := len(e.found(test.file)); after >= before {
			t.Errorf("%s: the file has %q after the fix, expected fewer diagnostics", test.name, e.found(test.file))
		}
	}
}

// A value is encrypted with the public key of the site, and its plain text is gone.
func TestActionEncryptsValue(t *testing.T) {
	key, err := os.ReadFile("../secret/eyaml/testdata/2048.cert.pem")
	if err != nil {
		t.Skip(err)
	}
	e := start(t, site(t, control+"-- keys/public_key.pkcs7.pem --\n"+string(key)), withLints())
	e.open("data/common.yaml", "")
	got, titles := e.act("data/common.yaml", 3, "Encrypt")
	if strings.Contains(got, "secret-of-common") || !strings.Contains(got, "app::password: ENC[PKCS7,") {
		t.Errorf("the text is\n%s\nthe actions are %q", got, titles)
	}
	if got, _ := e.act("data/common.yaml", 4, "Encrypt"); got != "" {
		t.Errorf("an encrypted value is encrypted again:\n%s", got)
	}
}
