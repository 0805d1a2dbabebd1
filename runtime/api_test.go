package runtime_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// maxExported limits the types, functions and variables of the package, because users have to know
// them all. Methods and constants do not count.
const maxExported = 25

func TestAPIIsSmallAndDocumented(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	pkg, err := doc.NewFromFiles(fset, files, "bindc/runtime")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	exported := func(name, comment string, counts bool) {
		if counts {
			names = append(names, name)
		}
		if comment == "" {
			t.Errorf("%s is not documented", name)
		}
	}
	functions := func(fs []*doc.Func, of string, count bool) {
		for _, f := range fs {
			exported(of+f.Name, f.Doc, count)
		}
	}
	values := func(vs []*doc.Value, count bool) {
		for _, v := range vs {
			for _, name := range v.Names {
				exported(name, v.Doc, count)
			}
		}
	}
	functions(pkg.Funcs, "", true)
	values(pkg.Vars, true)
	values(pkg.Consts, false)
	for _, typ := range pkg.Types {
		exported(typ.Name, typ.Doc, true)
		functions(typ.Funcs, "", true)
		functions(typ.Methods, typ.Name+".", false)
		values(typ.Vars, true)
		values(typ.Consts, false)
	}
	if len(names) > maxExported {
		t.Errorf("%d exported types, functions and variables, expected at most %d: %s", len(names), maxExported,
			strings.Join(names, " "))
	}
	t.Log(len(names), names)
}
