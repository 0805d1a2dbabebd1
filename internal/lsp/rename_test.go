package lsp

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

// rename renames the key at a position and returns the files that it would change, or the error.
func (e *editor) rename(name string, line, col int, to string) (files map[string]string, failure string) {
	e.t.Helper()
	edit, err := e.server.Rename(e.t.Context(),
		&protocol.RenameParams{TextDocumentPositionParams: e.at(name, line, col), NewName: to})
	if err != nil {
		return nil, err.Error()
	}
	files = map[string]string{}
	for u, edits := range edit.Changes {
		src, err := os.ReadFile(u.FsPath())
		if err != nil {
			e.t.Fatal(err)
		}
		lines := strings.Split(string(src), "\n")
		for _, x := range edits { // from the last to the first
			line := lines[x.Range.Start.Line]
			lines[x.Range.Start.Line] = line[:x.Range.Start.Character] + x.NewText + line[x.Range.End.Character:]
		}
		rel, _ := filepath.Rel(e.dir, u.FsPath())
		files[rel] = strings.Join(lines, "\n")
	}
	return files, ""
}

func TestRenameInDataLookupsAndOptions(t *testing.T) {
	files := strings.Replace(control, "class app (\n", "class other (\n", 1)
	e := start(t, site(t, files), withLints())
	e.open("data/common.yaml", "")
	got, failure := e.rename("data/common.yaml", 2, 3, "app::title")
	if failure != "" {
		t.Fatal(failure)
	}
	if want := []string{"data/common.yaml", "modules/app/manifests/init.pp"}; !slices.Equal(want,
		slices.Sorted(maps.Keys(got))) {
		t.Fatalf("the rename changes %q, expected %q", slices.Sorted(maps.Keys(got)), want)
	}
	for _, text := range []string{"\"%{lookup('app::title')}.example.org\"", "\napp::title: web\n"} {
		if !strings.Contains(got["data/common.yaml"], text) {
			t.Errorf("the data is\n%s\nexpected %q", got["data/common.yaml"], text)
		}
	}
	if got, _ := e.rename("data/common.yaml", 3, 3, "app::key"); !strings.Contains(got["data/common.yaml"],
		"  app::key: {convert_to") {
		t.Errorf("lookup_options keep the old name:\n%s", got["data/common.yaml"])
	}
}

func TestRenameIsRefused(t *testing.T) {
	e := start(t, site(t, control+"-- data/nodes/web2.yaml --\nfoo_a: 1\nfoo_b: \"%{lookup('foo_%{x}')}\"\nbar_x: 2\n"+
		"lookup_options:\n  ^bar_: {convert_to: Integer}\n"), withLints())
	e.open("data/common.yaml", "")
	e.open("data/nodes/web2.yaml", "")
	for _, test := range []struct {
		name, file string
		line       int
		to, want   string
	}{
		{"other key", "data/common.yaml", 2, "app::port", "'app::port' is bound already"},
		{"no key", "data/common.yaml", 2, "a b", "cannot be a key"},
		{"class parameter", "data/common.yaml", 0, "app::number", "class parameter"},
		{"computed lookup", "data/nodes/web2.yaml", 0, "bar", "computes a name that may be 'foo_a'"},
		{"options of a pattern", "data/nodes/web2.yaml", 2, "other", "would change the answers of 'bar_x'"},
		{"lookup_options", "data/common.yaml", 5, "options", "is not bound"},
	} {
		if _, failure := e.rename(test.file, test.line, 2, test.to); !strings.Contains(failure, test.want) {
			t.Errorf("%s: the error is %q, expected %q", test.name, failure, test.want)
		}
	}
}
