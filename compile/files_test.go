package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// In each package of the compiler, a file uses only files below it: no chain of uses returns to its beginning. So a
// reader of a file needs no file that builds on it.
func TestFilesUseOneAnotherOneWay(t *testing.T) {
	found := 0
	for _, dir := range []string{".", "internal/pass", "internal/place", "internal/rewrite", "internal/index",
		"internal/check"} {
		names, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		found += checkUses(t, slices.DeleteFunc(names, isTest))
	}
	if found < 50 {
		t.Errorf("only %d uses were found", found)
	}
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// checkUses reports circles among files, and returns how often a file uses another one.
func checkUses(t *testing.T, names []string) (found int) {
	t.Helper()
	uses := usesOfFiles(t, names)
	for _, used := range uses {
		found += len(used)
	}
	finished := map[string]bool{}
	for _, name := range names {
		if circle := findCircle(name, uses, nil, finished); circle != nil {
			t.Errorf("these files use one another in a circle: %s", strings.Join(circle, " -> "))
		}
	}
	return found
}

// usesOfFiles returns, for each file, the files of the package whose declarations it uses.
func usesOfFiles(t *testing.T, names []string) map[string]map[string]bool {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: emptyPackages{}, Error: func(error) {}} // names of other packages are unknown
	pkg, _ := config.Check("compile", fset, files, &info)
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

// emptyPackages imports every package without its declarations.
type emptyPackages struct{}

func (emptyPackages) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// findCircle returns a chain of uses from name back to a file of the chain, or nil.
func findCircle(name string, uses map[string]map[string]bool, chain []string, finished map[string]bool) []string {
	if i := slices.Index(chain, name); i >= 0 {
		return append(slices.Clone(chain[i:]), name)
	}
	if finished[name] {
		return nil
	}
	chain = append(chain, name)
	for _, other := range slices.Sorted(maps.Keys(uses[name])) {
		if circle := findCircle(other, uses, chain, finished); circle != nil {
			return circle
		}
	}
	finished[name] = true
	return nil
}
