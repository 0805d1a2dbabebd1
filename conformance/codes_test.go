package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/diag"
	"bindc/internal/testmode"
)

// withoutExample lists codes without an example: reserved codes, a code that only programs in Go can get because bindc
// rejects such a command line earlier, and codes for clients of bindq serve.
var withoutExample = []diag.Code{"busy", "connection", "encrypted", "environment", "modulepath", "not_found",
	"protocol", "replaced", "session", "snapshot_missing", "too_large"}

var reportedCode = regexp.MustCompile(`(?m) \[([a-z0-9_]+)\]$`)

// The last command of each example in the catalogue reports the example's code and no other. The short form runs some
// of them.
func TestExampleReportsItsCodeOnly(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	for i, r := range diag.Catalogue() {
		example := txtar.Parse([]byte(r.Example()))
		without := slices.Contains(withoutExample, r.Code)
		switch has := len(example.Comment) > 0; {
		case has && without:
			t.Errorf("%s has an example: remove it from withoutExample", r.Code)
		case !has && !without:
			t.Errorf("%s has no example: write diag/examples/%s.txtar, with a command and a site", r.Code, r.Code)
		}
		if without || len(example.Comment) == 0 || !testmode.Chosen(t, i, 4) {
			continue
		}
		dir := t.TempDir()
		if err := writeFiles(dir, example); err != nil {
			t.Fatal(err)
		}
		var out []byte
		for line := range strings.Lines(string(example.Comment)) {
			cmd := exec.Command("sh", "-c", line)
			cmd.Dir = dir
			var err error
			var exit *exec.ExitError
			if out, err = cmd.CombinedOutput(); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
		}
		found := map[string]bool{}
		for _, m := range reportedCode.FindAllSubmatch(out, -1) {
			found[string(m[1])] = true
		}
		if len(found) != 1 || !found[string(r.Code)] {
			t.Errorf("%s: the example reports %v\n%s", r.Code, slices.Collect(maps.Keys(found)), out)
		}
	}
}

func writeFiles(dir string, a *txtar.Archive) error {
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// The catalogue has exactly the codes in the source.
func TestCatalogueHasExactlyTheCodesOfTheSource(t *testing.T) {
	t.Parallel()
	testmode.SkipUnderRace(t)
	inSource := codesInSource(t)
	addCodesOfClient(t, inSource)
	for _, r := range diag.Catalogue() {
		if !inSource[string(r.Code)] {
			t.Errorf("%s is in the catalogue, and nothing reports it", r.Code)
		}
		delete(inSource, string(r.Code))
	}
	for _, code := range slices.Sorted(maps.Keys(inSource)) {
		t.Errorf("%s is reported and has no row in diag/catalogue.go; CONTRIBUTING.md, \"Add a diagnostic code\", has the steps", code)
	}
	if sorted := slices.IsSortedFunc(diag.Catalogue(), byCode); !sorted {
		t.Error("the catalogue is not sorted")
	}
}

// codeInPython matches the code of an error, which is the last argument in a line of the Python client.
var codeInPython = regexp.MustCompile(`(?m), "([a-z_]+)"\)(?: from \w+)?$`)

// addCodesOfClient adds the codes that only the Python client reports. The Ansible collection prints them.
func addCodesOfClient(t *testing.T, found map[string]bool) {
	t.Helper()
	files, err := filepath.Glob("../clients/python/bindq/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the Python client: %v", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range codeInPython.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
	}
}

func byCode(a, b diag.Rule) int { return strings.Compare(string(a.Code), string(b.Code)) }

// listedPackage is a package as `go list` describes it.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// codesInSource returns the constants whose type is a type of codes, according to the compiler, outside the catalogue.
func codesInSource(t *testing.T) map[string]bool {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the go command cannot list packages here: %v", err)
	}
	exports, ours := map[string]string{}, []listedPackage{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, "bindc/") {
			ours = append(ours, p)
		}
	}
	found, files := map[string]bool{}, token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, p := range ours {
		addCodes(t, found, files, imports, p)
	}
	return found
}

func addCodes(t *testing.T, found map[string]bool, files *token.FileSet, imports types.Importer, p listedPackage) {
	t.Helper()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, files, parsed, &info); err != nil {
		t.Fatal(err)
	}
	for e, tv := range info.Types {
		name := ""
		if tv.Value != nil && tv.Value.Kind() == constant.String {
			name = types.Unalias(tv.Type).String()
		}
		ours := name == "bindc/diag.Code" || name == "bindc/internal/lookup.Code"
		catalogue := filepath.Base(files.Position(e.Pos()).Filename) == "catalogue.go"
		if ours && !catalogue && constant.StringVal(tv.Value) != "" { // "" means no code, as for an error of the system
			found[constant.StringVal(tv.Value)] = true
		}
	}
}

// docs/codes.md is the catalogue as a document; -update writes it.
func TestCodesDocumentMatchesCatalogue(t *testing.T) {
	t.Parallel()
	const path = "../docs/codes.md"
	var want bytes.Buffer
	if err := diag.Document(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/codes.md differs from the catalogue: run go test ./conformance -run CodesDocument -update")
	}
}
