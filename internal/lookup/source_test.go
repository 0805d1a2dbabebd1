package lookup

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/yaml"
)

// parseJSON returns the value of a JSON text.
func parseJSON(text []byte) (Value, error) {
	var wrong diag.List
	doc, ok := yaml.ParseJSON("test", text, yaml.Options{}, &wrong)
	if !ok {
		return Value{}, errors.New(wrong.Sorted()[0].Message)
	}
	return FromValue(doc.Root.Literal()), nil
}

// factsOf returns the facts in a JSON text.
func factsOf(text []byte, opts FactsOptions) (*Facts, error) {
	v, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	return NewFacts(v, opts)
}

// TestOnlyBoundsCreatesLookups checks that only bounds.go creates lookups, where they get their bounds, and that every
// evaluation counts towards them.
func TestOnlyBoundsCreatesLookups(t *testing.T) {
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	evaluations := 0
	for _, entry := range names {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				id, ok := n.Type.(*ast.Ident)
				if ok && (id.Name == "lookup" || id.Name == "bounds") && name != "bounds.go" {
					t.Errorf("%s creates a %s: use Request.start or lookup.aside", fset.Position(n.Pos()), id.Name)
				}
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "lookups" && name != "bounds.go" {
					t.Errorf("%s takes a lookup from the pool: use Request.start", fset.Position(n.Pos()))
				}
			case *ast.CallExpr:
				fun, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || fun.Sel.Name != "Eval" && fun.Sel.Name != "CallLambda" {
					return true
				}
				evaluations++
				_, bounded := n.Args[2].(*ast.CallExpr) // the call of options
				if categories := name == "dimension.go"; bounded == categories {
					t.Errorf("%s: pass the options of the lookup, or of the category, to an evaluation",
						fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
	if evaluations < 4 {
		t.Errorf("there are %d evaluations, expected more", evaluations)
	}
}
