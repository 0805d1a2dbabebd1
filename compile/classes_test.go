package compile

import (
	"path/filepath"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

// classReports lists sites with classes and other collected keys, in the form of reports.
var classReports = []struct{ name, site, module, want string }{
	{"class included twice and excluded", "{include: a}\n{include: a}\n{exclude: a}", ``, `1 error conflict: 3`},
	{"class included and excluded on each of two nodes",
		"{when: {node: [n, m]}, bind: [{include: a}, {exclude: a}]}", ``, `1 error conflict: 1`},
	{"class next to a contribution of wrong type", "{include: a}\n" +
		"{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: x}", ``, `3 error type_mismatch: 2`},
}

func TestReportsConflictsOfClasses(t *testing.T) { checkReports(t, classReports) }

// The total counts only bindings that are in a file, not those that result from including a class.
func TestCollectedClassesDoNotCountAsBindings(t *testing.T) {
	dir := t.TempDir()
	writeBindings(t, filepath.Join(dir, "bindings"), "default",
		"[a, 1]\n{include: b}\n{dependency: ['File[a]', 'File[b]']}")
	var diags diag.List
	if c := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags); diags.Failed() || c.Bindings != 3 {
		t.Errorf("%d bindings, %v", c.Bindings, diags.Sorted())
	}
}
