package compile

import (
	"path/filepath"
	"testing"

	"bindc/diag"
	"bindc/loader"
)

// classReports lists sites with classes and other keys that many statements bind together, in the
// form of reports.
var classReports = []struct{ name, site, module, want string }{
	{"a class included twice, and excluded", "{include: a}\n{include: a}\n{exclude: a}", ``, `1 error conflict: 3`},
	{"a class included and excluded for each of two nodes",
		"{when: {node: [n, m]}, bind: [{include: a}, {exclude: a}]}", ``, `1 error conflict: 1`},
	{"a class and a contribution that is not a String", "{include: a}\n" +
		"{name: l, multibind_id: l, type: 'Array[Integer]'}\n{in: l, to: x}", ``, `3 error type_mismatch: 2`},
}

func TestReportsOfClasses(t *testing.T) { checkReports(t, classReports) }

// A binding that results from including a class is not written anywhere, so the total does not
// count it.
func TestCollectedClassesDoNotCountAsBindings(t *testing.T) {
	dir := t.TempDir()
	writeBindings(t, filepath.Join(dir, "bindings"), "default",
		"[a, 1]\n{include: b}\n{dependency: ['File[a]', 'File[b]']}")
	var diags diag.List
	if c := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags); diags.Failed() || c.Bindings != 3 {
		t.Errorf("%d bindings, %v", c.Bindings, diags.Sorted())
	}
}
