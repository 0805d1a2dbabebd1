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
		{"typo below the key", "data/common.yaml", "app::port: 80\napp::x:\n  a: 1\n  b: \"%{lookup('app::prot')}\"\n", 3,
			"Replace by 'app::port'", "lookup('app::port')"},
		{"typo below the key, with the cursor on the key", "data/common.yaml",
			"app::port: 80\napp::x:\n  b: \"%{lookup('app::prot')}\"\n", 1, "Replace by 'app::port'", "lookup('app::port')"},
		{"typo of an interpolation method", "data/common.yaml", "app::port: 80\napp::host: \"%{lokup('app::port')}\"\n", 1,
			"Replace by 'lookup'", "%{lookup('app::port')}"},
		{"typo of an option of a merge", "data/common.yaml", "app::map: {a: 1}\nlookup_options:\n  app::map:\n" +
			"    merge:\n      strategy: deep\n      knock_out_prefix: x\n", 5, "Replace by 'knockout_prefix'",
			"      knockout_prefix: x"},
		{"line without a colon", "data/common.yaml", "app::port: 80\napp::name web\n", 1, "Write 'app::name:'",
			"\napp::name: web\n"},
		{"line without a colon in a hash", "data/common.yaml", "app::port: 80\nother:\n  a: 1\n  b 2\n  c: 3\n", 3,
			"Write 'b:'", "\n  b: 2\n"},
		{"indented line without a colon", "data/common.yaml", "app::name: web\n  app::port 80\n", 1,
			"Write 'app::port:'", "\napp::port: 80\n"},
		{"key without a colon above a list", "data/common.yaml", "app::port: 80\nlist\n  - 1\n", 1,
			"Write 'list:'", "\nlist:\n"},
		{"file of one line without a colon", "data/common.yaml", "app::port 80\n", 0, "Write 'app::port:'",
			"app::port: 80\n"},
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

// The diagnostic of a misspelt key is at the misspelt text, also below the key of the entry.
func TestPlaceIsTextToCorrect(t *testing.T) {
	const name = "data/common.yaml"
	e := start(t, site(t, control), withLints())
	e.open(name, "app::port: 80\napp::host:\n  a:\n    - \"x %{lookup('app::prot')}\"\n")
	e.settle()
	found := false
	for _, d := range e.found(name) {
		found = found || strings.HasPrefix(d, "3:19-3:28 key_unbound: this looks up 'app::prot'")
	}
	if !found {
		t.Errorf("the diagnostics are %q, expected one at 3:19", e.found(name))
	}
}

// A value that cannot be merged is reported with the place of its lookup_options.
func TestWrongMergeIsRelatedToItsOptions(t *testing.T) {
	e := start(t, site(t, control), withLints())
	e.open("data/os/Debian.yaml", "app::list: [1]\n")
	e.open("data/common.yaml", "app::list: {a: 1}\nlookup_options:\n  app::list:\n    merge: hash\n")
	e.settle()
	path := filepath.Join(e.dir, "data/os/Debian.yaml")
	doc := e.inside.texts()[path]
	site := e.inside.projectOf(path).latest()
	for _, d := range e.inside.diagnostics(site, doc.text, e.inside.findings(site, doc)) {
		if d.Code == protocol.String("hiera_merge") {
			if len(d.RelatedInformation) != 1 || d.RelatedInformation[0].Location.Range.Start.Line != 2 {
				t.Errorf("the related places are %v, expected line 2 of common.yaml", d.RelatedInformation)
			}
			return
		}
	}
	t.Errorf("the diagnostics are %q, expected hiera_merge", e.found("data/os/Debian.yaml"))
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
