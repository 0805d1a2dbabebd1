package compile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/diag"
	"bindc/loader"
	bindings "bindc/runtime"
)

// siteOf compiles a site. It returns the open snapshot, and each diagnostic as position, severity and code.
func siteOf(t *testing.T, dir string) (*bindings.Snapshot, []string) {
	t.Helper()
	var diags diag.List
	content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	var out []string
	for _, d := range diags.Sorted() {
		file, err := filepath.Rel(dir, d.Pos.String())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s: %v %s", filepath.ToSlash(file), d.Severity, d.Code))
	}
	if diags.Failed() {
		t.Fatal(out)
	}
	return opened(t, dir, content), out
}

// The value is only known in a lookup, which checks it against the type of the abstract binding below.
func TestAbstractTypeChecksComputedValuesInLookups(t *testing.T) {
	a, err := txtar.ParseFile("testdata/abstract_types.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, files := t.TempDir(), map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
		writeFile(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
	snap, reported := siteOf(t, filepath.Join(dir, "site"))
	if want := strings.Fields(files["told.txt"]); strings.Join(reported, " ") != strings.Join(want, " ") {
		t.Errorf("reported is %q, expected %q", reported, want)
	}
	for line := range strings.Lines(files["answers.txt"]) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		end := strings.LastIndex(rest, "} ") + 1
		if key == "#" {
			continue
		}
		if got := answerTo(t, snap, key, rest[:end], ""); got != rest[end+1:] {
			t.Errorf("%s: the answer is %s", line, got)
		}
	}
	snap, reported = siteOf(t, filepath.Join(dir, "hiera5"))
	if got := answerTo(t, snap, "a", "{}", ""); got != `"words"` || len(reported) > 0 {
		t.Errorf("the interpolated value is %s; reported is %q", got, reported)
	}
}

// The build has checked the constant, so lookups need not check it again.
func TestAbstractTypeKeepsConstants(t *testing.T) {
	dir := t.TempDir()
	writeBindings(t, filepath.Join(dir, "bindings"), "default", `[a, 1]`)
	writeBindings(t, filepath.Join(dir, "modules", "db", "bindings"), "db::default",
		`{name: a, abstract: true, type: Integer}`)
	var diags diag.List
	content := Compile(loader.Load(dir, loader.Options{}, &diags), Options{}, &diags)
	if diags.Failed() || content.Values[content.Keys[0].Default].Computed {
		t.Errorf("%+v, %v", content.Values, diags.Sorted())
	}
}

func TestAbstractTypeIsCheckedForConstantsAtBuildTime(t *testing.T) {
	const integer = `{name: a, abstract: true, type: Integer}`
	const wrong = `1 error type_mismatch: m1`
	checkReports(t, []struct{ name, site, module, want string }{
		{"value of the required type", `[a, 1]`, integer, ``},
		{"value of wrong type", `[a, x]`, integer, wrong},
		{"undef has every type", `[a, null]`, integer, ``},
		{"interpolated text is not an Integer", `[a, "${x}"]`, integer, wrong},
		{"type of computed value is unknown", `{name: a, to_expression: '$x'}`, integer, ``},
		{"type of looked-up value is unknown", "{name: a, to_lookup_of: b}\n[b, x]", integer, ``},
		{"type of transformed value is unknown", `{name: a, to: x, transformer: '|$v| { 1 }'}`, integer, ``},
		{"type of transformed text is unknown", `{name: a, to: "${x}", transformer: '|$v| { 1 }'}`, integer, ``},
		{"optional binding declines", "{when: {node: n}, bind: [{name: a, to: null, optional: true}]}\n[a, 1]", integer, ``},
		{"binding of narrower type", `{name: a, type: 'Integer[1]', to_expression: '$x'}`, integer, ``},
		{"binding of wider type", `{name: a, type: Scalar, to_expression: '$x'}`, integer, ``},
		{"binding of the same type", `{name: a, type: Integer, to_expression: '$x'}`, integer, ``},
		{"binding of another type", `{name: a, type: String, to_expression: '$x'}`, integer, wrong},
		{"transformed binding of another type", `{name: a, type: String, to: 1, transformer: '|$v| { "x" }'}`,
			integer, wrong},
		{"wrong value in a binding of wider type", `{name: a, type: Scalar, to: x}`, integer, wrong},
		{"multibinding instead of Integer", `{name: a, multibind_id: a, type: Array}`, integer, wrong},
		{"list instead of Hash", `{name: a, multibind_id: a, type: Array}`, `{name: a, abstract: true, type: Hash}`, wrong},
		{"list of unknown elements", `{name: a, multibind_id: a, type: Array}`,
			`{name: a, abstract: true, type: 'Array[String]'}`, ``},
		{"hash instead of Array", `{name: a, multibind_id: a, type: Hash}`, `{name: a, abstract: true, type: Array}`, wrong},
		{"hash as required", `{name: a, multibind_id: a, type: Hash}`,
			`{name: a, abstract: true, type: Hash}`, ``},
		{"wrong value on another node", "{when: {node: n}, bind: [[a, x]]}\n" +
			"{when: {node: m}, bind: [[a, 1]]}", "{when: {node: m}, bind: [" + integer + "]}", ``},
		{"wrong value that is always hidden", `[a, 1]`, integer + "\n{when: {node: n}, bind: [[a, x]]}", ``},
		{"wrong value in the same layer is a warning", `{when: {node: m}, bind: [[a, 1]]}`,
			integer + "\n{when: {node: n}, bind: [[a, x]]}", "m1 warning abstract: 1\nm2 warning type_mismatch: m1"},
		{"abstract binding under two conditions", `[a, x]`, "{when: {node: [n, m]}, bind: [" + integer + "]}", wrong},
		{"second abstract binding has the type", `[a, x]`, "{when: {node: n}, bind: [{name: a, abstract: true}]}\n" + integer,
			`1 error type_mismatch: m2`},
		{"type of a concrete binding", `[a, x]`, `{name: a, type: Integer, to: 1}`, ``},
		{"type of a concrete binding next to an abstract one", `[a, x]`,
			"{when: {node: n}, bind: [{name: a, type: Integer, to: 1}]}\n{name: a, abstract: true}", ``},
		{"abstract binding of another key", "[a, x]\n[b, 1]", `{name: b, abstract: true, type: Integer}`, ``},
	})
	for _, c := range []struct{ site, module, want string }{
		{`[a, x]`, integer, "'a': expected Integer, found String"},
		{`{name: a, type: String, to_expression: '$x'}`, integer,
			"'a': expected Integer, found a binding that states the type String"},
		{`{name: a, multibind_id: a, type: Array}`, integer,
			"'a': expected Integer, found a multibinding that collects into another type"},
		{`[a, hunter]`, `{name: a, abstract: true, type: "Enum['b']"}`, "'a': expected Enum['b'], found 'hunter'"},
		{`{name: a, to: hunter, sensitive: true}`, `{name: a, abstract: true, type: "Enum['b']"}`,
			"'a': expected Enum['b'], found a sensitive value of a different type"},
		{"[a, hunter]\n{when: {node: n}, bind: [{name: a, to: b, sensitive: true}]}",
			`{name: a, abstract: true, type: "Enum['b']"}`,
			"'a': expected Enum['b'], found a sensitive value of a different type"},
	} {
		found := reported(t, c.site, c.module)
		if len(found) != 1 || found[0].Message != c.want || found[0].Secret != strings.Contains(c.site, "sensitive") ||
			!slices.ContainsFunc(found[0].Notes, func(n diag.Note) bool {
				return strings.HasPrefix(n.Message, "the abstract binding requires ")
			}) {
			t.Errorf("%s: reported is %v, expected %s", c.site, found, c.want)
		}
	}
}
