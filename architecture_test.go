// Package bindc tests the house rules of the project. Its code is in the folders below.
package bindc

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testmode"
)

// mayImport lists the imports that each package of the project may have. Adding one is a decision
// about the architecture, not a formality.
var mayImport = map[string][]string{
	"cmd/bindc": {
		"compile", "diag", "facts", "internal/adopt", "internal/bindingsfile", "internal/cli",
		"internal/datafile", "internal/enc", "internal/envfile", "internal/examples", "internal/explore",
		"internal/fix", "internal/fsx", "internal/hieraconfig", "internal/identity", "internal/layout",
		"internal/lint", "internal/lookup", "internal/lsp", "internal/lsp/analysis", "internal/manifest",
		"internal/migrate", "internal/migrate/proof", "internal/proof", "internal/proof/params", "internal/proof/policy",
		"internal/proof/record", "internal/puppetdb", "internal/report", "internal/report/affected",
		"internal/report/decision", "internal/report/slice", "internal/revision",
		"internal/secret/eyaml", "internal/secret/seal", "internal/snapfile", "internal/subprocess",
		"internal/syntax", "loader", "origin", "runtime", "ship", "ship/oci", "snapshot",
	},
	"cmd/bindq": {
		"diag", "facts", "internal/cli", "internal/expr", "internal/hieraconfig", "internal/identity",
		"internal/lookup", "internal/manifest", "internal/proof/record", "internal/query", "internal/recipe",
		"internal/report", "internal/report/affected", "internal/report/decision", "internal/secret/eyaml",
		"internal/secret/seal", "internal/snapfile", "internal/syntax", "internal/value", "origin",
		"runtime", "serve", "snapshot",
	},
	"cmd/bindsync": {
		"diag", "facts", "internal/cli", "internal/fsx", "internal/gate", "internal/lookup",
		"internal/report", "internal/snapfile", "internal/value", "internal/yaml", "origin", "runtime",
		"ship", "ship/oci", "snapshot",
	},
	"compile": {
		"compile/internal/check", "compile/internal/index", "compile/internal/pass",
		"compile/internal/place", "compile/internal/rewrite", "diag", "internal/expr",
		"internal/expr/stdlib", "internal/lookupkey", "internal/recipe", "internal/secret/seal", "loader",
		"snapshot",
	},
	"compile/internal/check": {
		"compile/internal/index", "compile/internal/pass", "compile/internal/place",
		"compile/internal/rewrite", "diag", "internal/expr", "internal/expr/stdlib", "internal/lookupkey", "internal/merge",
		"internal/recipe", "internal/relation", "internal/syntax", "internal/types", "internal/value",
		"loader",
	},
	"compile/internal/index": {
		"compile/internal/pass", "compile/internal/place", "compile/internal/rewrite", "diag",
		"internal/recipe", "loader", "snapshot",
	},
	"compile/internal/pass": {"diag", "internal/relation", "loader"},
	"compile/internal/place": {
		"diag", "internal/bindingsfile", "internal/recipe", "internal/value", "loader",
	},
	"compile/internal/rewrite": {
		"compile/internal/pass", "compile/internal/place", "diag", "internal/bindingsfile", "internal/expr",
		"internal/lookupkey", "internal/merge", "internal/recipe", "internal/types", "internal/value",
		"loader", "snapshot",
	},
	"conformance":             {},
	"conformance/classes":     {"conformance/oracle"},
	"conformance/hiera5":      {"conformance/oracle"},
	"conformance/hiera5/site": {"conformance/hiera5"},
	"conformance/oracle":      {},
	"diag":                    {"internal/fsx"},
	"facts":                   {"diag", "internal/lookup", "internal/value", "internal/yaml", "runtime"},
	"faults":                  {},
	"internal/adopt":          {"facts", "internal/fsx", "internal/hieraconfig", "internal/subprocess"},
	"internal/bindingsfile": {
		"diag", "internal/expr", "internal/expr/stdlib", "internal/layout", "internal/literal", "internal/pattern",
		"internal/recipe", "internal/syntax", "internal/types", "internal/value", "internal/yaml",
	},
	"internal/cli": {"diag"},
	"internal/datafile": {
		"diag", "internal/fsx", "internal/literal", "internal/lookupkey", "internal/pattern",
		"internal/recipe", "internal/value", "internal/yaml",
	},
	"internal/enc": {"diag", "internal/datafile", "internal/fsx", "internal/pattern", "internal/subprocess"},
	"internal/envfile": {
		"internal/expr", "internal/expr/stdlib", "internal/types", "internal/value", "snapshot",
	},
	"internal/examples": {
		"diag", "facts", "internal/fsx", "internal/lookup", "internal/proof/policy", "internal/report",
		"internal/value", "internal/yaml", "runtime",
	},
	"internal/explore": {
		"diag", "facts", "internal/cli", "internal/lookup", "internal/pattern", "internal/report",
		"internal/report/affected", "internal/report/decision", "runtime", "snapshot",
	},
	"internal/expr": {
		"internal/expr/ruby", "internal/lookupkey", "internal/pattern", "internal/types",
		"internal/types/onigmo", "internal/value",
	},
	"internal/expr/exprtest": {
		"internal/expr", "internal/expr/stdlib", "internal/syntax", "internal/types", "internal/value",
	},
	"internal/expr/ruby": {"internal/pattern", "internal/value"},
	"internal/expr/stdlib": {
		"internal/expr", "internal/expr/ruby", "internal/pattern", "internal/types", "internal/value",
	},
	"internal/fix": {"diag", "internal/fsx"},
	"internal/fsx": {},
	"internal/gate": {
		"diag", "facts", "internal/lookup", "internal/proof/record", "internal/query",
		"internal/report/decision", "runtime", "ship", "snapshot",
	},
	"internal/hieraconfig": {"diag", "internal/layout", "internal/value", "internal/yaml"},
	"internal/identity":    {"internal/secret/seal"},
	"internal/layout": {
		"diag", "internal/pattern", "internal/syntax", "internal/value", "internal/yaml",
	},
	"internal/legacy": {},
	"internal/lint": {
		"diag", "internal/bindingsfile", "internal/expr", "internal/fsx", "internal/legacy", "internal/pattern",
		"internal/recipe", "internal/syntax", "internal/types", "internal/value", "internal/yaml", "loader", "snapshot",
	},
	"internal/literal": {
		"diag", "internal/expr", "internal/expr/stdlib", "internal/pattern", "internal/recipe", "internal/syntax",
		"internal/value", "internal/yaml",
	},
	"internal/lookup": {
		"diag", "internal/expr", "internal/expr/stdlib", "internal/legacy", "internal/lookupkey",
		"internal/merge", "internal/recipe", "internal/secret/seal", "internal/types", "internal/value",
		"snapshot",
	},
	"internal/lookupkey": {"internal/pattern", "internal/value"},
	"internal/lsp": {
		"diag", "internal/bindingsfile", "internal/lint", "internal/lookup", "internal/lsp/analysis",
		"internal/lsp/buffer", "internal/lsp/mention", "internal/lsp/outline", "internal/pattern", "internal/report",
		"internal/secret/eyaml", "internal/syntax", "internal/yaml", "loader",
	},
	"internal/lsp/analysis": {
		"compile", "diag", "facts", "internal/bindingsfile", "internal/datafile", "internal/fsx", "internal/lint",
		"internal/lookup", "internal/lsp/buffer", "internal/lsp/mention", "internal/lsp/outline", "internal/pattern",
		"internal/proof", "internal/proof/params", "internal/proof/policy", "internal/recipe", "internal/relation",
		"internal/report/decision", "internal/value", "internal/yaml", "loader", "runtime", "snapshot",
	},
	"internal/lsp/buffer": {"diag"},
	"internal/lsp/mention": {
		"diag", "internal/expr", "internal/lookupkey", "internal/lsp/buffer", "internal/lsp/outline",
		"internal/manifest", "internal/pattern", "internal/syntax", "internal/value", "internal/yaml",
	},
	"internal/lsp/outline": {"diag", "internal/pattern", "internal/yaml"},
	"internal/manifest":    {"diag", "internal/lookupkey", "internal/pattern", "internal/value"},
	"internal/merge": {
		"internal/expr", "internal/expr/ruby", "internal/expr/stdlib", "internal/merge/rich",
		"internal/pattern", "internal/types", "internal/types/onigmo", "internal/value",
	},
	"internal/merge/rich": {"internal/pattern", "internal/value"},
	"internal/migrate": {
		"compile", "diag", "internal/expr", "internal/fsx", "internal/lookupkey", "internal/merge", "internal/pattern",
		"internal/recipe", "internal/syntax", "internal/value", "internal/yaml", "loader",
	},
	"internal/migrate/proof": {
		"compile", "diag", "facts", "internal/fsx", "internal/lookup", "internal/manifest",
		"internal/migrate", "internal/report/decision", "internal/value", "loader", "runtime", "snapshot",
	},
	"internal/pattern": {},
	"internal/proof": {
		"diag", "internal/examples", "internal/fsx", "internal/proof/params", "internal/proof/policy",
		"loader", "snapshot",
	},
	"internal/proof/params": {
		"diag", "internal/expr", "internal/fsx", "internal/lint", "internal/lookup", "internal/manifest",
		"internal/merge", "internal/recipe", "internal/report/decision", "internal/types", "internal/value",
		"loader", "runtime", "snapshot",
	},
	"internal/proof/policy": {
		"diag", "internal/expr", "internal/expr/stdlib", "internal/fsx", "internal/legacy",
		"internal/lookup", "internal/recipe", "internal/report/decision", "internal/syntax",
		"internal/types", "internal/value", "internal/yaml", "runtime", "snapshot",
	},
	"internal/proof/record": {"internal/recipe", "internal/value", "snapshot"},
	"internal/puppetdb":     {"diag", "facts"},
	"internal/query":        {"diag", "facts", "internal/lookup", "internal/value", "runtime"},
	"internal/recipe":       {"internal/expr", "internal/secret/seal", "internal/types", "internal/value"},
	"internal/relation": {
		"internal/expr", "internal/expr/stdlib", "internal/syntax", "internal/value",
	},
	"internal/report": {
		"diag", "internal/cli", "internal/lookup", "internal/recipe", "internal/report/decision",
		"internal/value", "internal/yaml", "origin", "runtime", "snapshot",
	},
	"internal/report/affected": {
		"facts", "internal/lookup", "internal/report", "internal/report/decision", "internal/snapfile",
		"runtime",
	},
	"internal/report/decision": {
		"internal/expr", "internal/lookup", "internal/lookupkey", "internal/merge", "internal/recipe",
		"internal/relation", "internal/secret/seal", "internal/syntax", "internal/value", "runtime",
		"snapshot",
	},
	"internal/report/slice": {
		"diag", "internal/expr", "internal/recipe", "internal/relation", "snapshot",
	},
	"internal/revision":     {"internal/subprocess"},
	"internal/secret/eyaml": {"internal/pattern"},
	"internal/secret/seal":  {},
	"internal/snapfile":     {"internal/expr", "internal/recipe", "origin", "runtime", "snapshot"},
	"internal/subprocess":   {},
	"internal/syntax": {
		"diag", "internal/expr", "internal/expr/stdlib", "internal/pattern", "internal/types",
		"internal/value",
	},
	"internal/testmode": {"internal/fsx"},
	"internal/testprograms": {
		"internal/adopt", "internal/enc", "internal/explore", "internal/fix", "internal/gate", "internal/identity",
		"internal/lsp", "internal/migrate/proof", "internal/puppetdb", "internal/query", "internal/report/affected",
		"internal/report/slice", "internal/revision", "serve", "ship/oci",
	},
	"internal/testsite":     {"compile", "diag", "internal/report/slice", "loader", "snapshot"},
	"internal/types":        {"diag", "internal/pattern", "internal/types/onigmo", "internal/value"},
	"internal/types/onigmo": {"internal/pattern"},
	"internal/value":        {},
	"internal/yaml":         {"diag", "internal/pattern", "internal/value"},
	"loader": {
		"diag", "internal/bindingsfile", "internal/datafile", "internal/envfile", "internal/expr",
		"internal/expr/stdlib", "internal/fsx", "internal/literal", "internal/pattern", "internal/recipe",
		"internal/relation", "internal/subprocess", "internal/syntax", "internal/types", "internal/value",
		"internal/yaml", "loader/internal/hiera5", "loader/internal/site",
	},
	"loader/internal/hiera5": {
		"diag", "internal/datafile", "internal/expr", "internal/recipe", "internal/syntax", "internal/value",
		"internal/yaml", "loader/internal/site",
	},
	"loader/internal/site": {
		"diag", "internal/bindingsfile", "internal/datafile", "internal/expr", "internal/fsx", "internal/literal",
		"internal/pattern", "internal/recipe", "internal/relation", "internal/syntax", "internal/value", "internal/yaml",
	},
	"origin": {"internal/fsx"},
	"runtime": {
		"diag", "internal/envfile", "internal/lookup", "internal/types", "internal/value", "snapshot",
	},
	"serve": {
		"diag", "internal/envfile", "internal/lookup", "internal/lookupkey",
		"internal/value", "runtime",
	},
	"serve/client":      {},
	"ship":              {"diag", "internal/fsx", "origin"},
	"ship/oci":          {"origin", "ship"},
	"snapshot":          {"internal/fsx", "internal/value"},
	"tools/flagslots":   {},
	"tools/importgraph": {},
}

func TestPackagesImportOnlyAllowedPackages(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatalf("the go command cannot list packages here: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], "bindc/")
		for _, imp := range fields[1:] {
			imp, ours := strings.CutPrefix(imp, "bindc/")
			if ours && !slices.Contains(mayImport[name], imp) {
				t.Errorf("%s imports %s, which mayImport in architecture_test.go does not allow", name, imp)
			}
			if imp == "github.com/goccy/go-yaml" || strings.HasPrefix(imp, "go.yaml.in/") {
				if name != "internal/yaml" {
					t.Errorf("%s imports %s; only internal/yaml may", name, imp)
				}
			}
		}
	}
}

// Tests that run the programs build them while go test compiles other packages. Packages that internal/testprograms
// does not import would be compiled twice.
func TestProgramsAreCompiledBeforeTestsBuildThem(t *testing.T) {
	compiled := dependencies(t, "./internal/testprograms")
	for _, dep := range dependencies(t, "./cmd/...") {
		library := strings.HasPrefix(dep, "bindc/") && !strings.HasPrefix(dep, "bindc/cmd/")
		if library && !slices.Contains(compiled, dep) {
			t.Errorf("internal/testprograms/imports.go does not import %s", dep)
		}
	}
}

// The runtime runs on compile masters. It must not link a YAML parser, an expression parser, the
// loader or a command line.
func TestRuntimeLinksNoParsers(t *testing.T) {
	for _, dep := range dependencies(t, "./runtime") {
		for _, banned := range []string{"bindc/internal/yaml", "bindc/internal/syntax", "bindc/loader",
			"bindc/compile", "bindc/ship", "bindc/origin", "net/http", "oras.land/", "filippo.io/", "go.yaml.in/",
			"github.com/spf13/", "github.com/goccy/"} {
			if dep == banned || strings.HasSuffix(banned, "/") && strings.HasPrefix(dep, banned) {
				t.Errorf("package runtime depends on %s", dep)
			}
		}
	}
}

// bindq handles secrets and runs inside Puppet. It has no access to the network except the socket
// of serve.
func TestBindqLinksNoNetwork(t *testing.T) {
	for _, dep := range dependencies(t, "./cmd/bindq") {
		for _, banned := range []string{"net/http", "crypto/tls", "oras.land/", "bindc/ship", "bindc/compile", "bindc/loader",
			"golang.org/x/text", "golang.org/x/tools", "html/template", "go/parser", "database/sql"} {
			if dep == banned || strings.HasPrefix(dep, strings.TrimSuffix(banned, "/")+"/") {
				t.Errorf("bindq depends on %s", dep)
			}
		}
	}
}

// dependencies returns the packages that a package depends on.
func dependencies(t *testing.T, name string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", name).Output()
	if err != nil {
		t.Fatalf("the go command cannot list packages here: %v", err)
	}
	return strings.Fields(string(out))
}

// A bindq process makes a single lookup, and a run of bindc or bindsync is short as well. They must not compile regular
// expressions during initialization that they may not need.
func TestProgramsCompileNoPatternsAtStart(t *testing.T) {
	testmode.SkipUnderRace(t)
	out, err := exec.Command("go", "list", "-deps", "-f", `{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}} {{end}}`,
		"./cmd/...").Output()
	if err != nil {
		t.Fatalf("the go command cannot list packages here: %v", err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for _, file := range strings.Fields(string(out)) {
		if name, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(name) {
			ours++
			if eager.MatchString(read(t, name)) {
				t.Errorf("%s compiles a regular expression when a program starts: use pattern.Lazy", name)
			}
		}
	}
	if ours < 20 {
		t.Errorf("the programs consist of %d files of this module, expected more", ours)
	}
}

// eager matches a package variable that is a compiled regular expression.
var eager = regexp.MustCompile(`(?m)^(?:var |\t)\w+ *= regexp\.MustCompile`)
