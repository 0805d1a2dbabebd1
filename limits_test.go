package bindc

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

// docs/limits.md lists exactly the constants that are limits, with their names and values.
func TestLimitsAreDocumented(t *testing.T) {
	testmode.SkipUnderRace(t)
	limits := constantsOf(t)
	stated := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9/]+\\.[A-Za-z]+)` \\| ([0-9]+) \\| ")
	for _, m := range row.FindAllStringSubmatch(read(t, "docs/limits.md"), -1) {
		name, value := m[1], m[2]
		stated[name] = true
		switch is, ok := limits[name]; {
		case !ok:
			t.Errorf("docs/limits.md states %s: there is no such constant", name)
		case is != value:
			t.Errorf("docs/limits.md states %s as %s, it is %s", name, value, is)
		}
	}
	isLimit := regexp.MustCompile(`\.(max|Max|Default)[A-Z]`)
	for name := range limits {
		if isLimit.MatchString(name) && !stated[name] {
			t.Errorf("docs/limits.md does not state %s: add a row to the table that fits", name)
		}
	}
}

// constantsOf returns the values of all constants in shipped code, by folder and name.
func constantsOf(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for dir, names := range goFiles(t) {
		if top, _, _ := strings.Cut(dir, "/"); top == "bench" || top == "conformance" || top == "tools" {
			continue
		}
		fset := token.NewFileSet()
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
		conf := types.Config{Importer: few{}, Error: func(error) {}} // constants can be evaluated without the rest
		pkg, _ := conf.Check(dir, fset, files, nil)
		for _, name := range pkg.Scope().Names() {
			if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() == constant.Int {
				out[dir+"."+name] = c.Val().ExactString()
			}
		}
	}
	return out
}

// few imports the constants of other packages that limits use. A duration is in seconds.
type few struct{}

func (few) Import(name string) (*types.Package, error) {
	pkg := types.NewPackage(name, path.Base(name))
	add := func(name string, value int64) {
		untyped := types.Typ[types.UntypedInt]
		pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, name, untyped, constant.MakeInt64(value)))
	}
	switch name {
	case "time":
		add("Second", 1)
	case "math":
		add("MaxUint32", 1<<32-1)
	}
	pkg.MarkComplete()
	return pkg, nil
}
