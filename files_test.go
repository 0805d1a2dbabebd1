package bindc

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

// layered lists the packages whose files depend on each other in one direction only, so that a file
// can be read without the files that depend on it.
var layered = []string{
	"compile", "compile/internal/check", "compile/internal/index", "compile/internal/pass", "compile/internal/place",
	"compile/internal/rewrite", "internal/lookup", "internal/recipe", "loader/internal/site",
}

// In a layered package, the files can be ordered so that each uses only later ones: no file uses itself through
// others.
func TestFilesOfLayeredPackagesHaveNoCycles(t *testing.T) {
	testmode.SkipUnderRace(t)
	compiled := compiledPackages(t)
	found := 0
	for _, dir := range layered {
		uses := usesOfFiles(t, dir, compiled)
		finished := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(uses)) {
			found += len(uses[name])
			if cycle := findCycle(name, uses, nil, finished); cycle != nil {
				t.Errorf("%s: these files use one another in a cycle: %s", dir, strings.Join(cycle, " -> "))
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d uses were found", found)
	}
}

// compiledPackages returns the export data files of the packages that layered packages import.
func compiledPackages(t *testing.T) map[string]string {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, dir := range layered {
		args = append(args, "./"+dir)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("the go command cannot list packages here: %v", err)
	}
	compiled := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		compiled[name] = file
	}
	return compiled
}

// usesOfFiles returns, for each file of a package, the other files whose declarations it uses.
func usesOfFiles(t *testing.T, dir string, compiled map[string]string) map[string]map[string]bool {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	open := func(name string) (io.ReadCloser, error) { return os.Open(compiled[name]) }
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", open)}
	pkg, err := config.Check(dir, fset, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string]map[string]bool{}
	for ident, object := range info.Uses {
		from, to := fset.Position(ident.Pos()).Filename, fset.Position(object.Pos()).Filename
		if object.Pkg() != pkg || from == to {
			continue
		}
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		uses[from][to] = true
	}
	return uses
}

// findCycle returns a cycle of uses that is reachable from a file, or nil.
func findCycle(name string, uses map[string]map[string]bool, chain []string, finished map[string]bool) []string {
	if i := slices.Index(chain, name); i >= 0 {
		return append(slices.Clone(chain[i:]), name)
	}
	if finished[name] {
		return nil
	}
	chain = append(chain, name)
	for _, other := range slices.Sorted(maps.Keys(uses[name])) {
		if cycle := findCycle(other, uses, chain, finished); cycle != nil {
			return cycle
		}
	}
	finished[name] = true
	return nil
}
