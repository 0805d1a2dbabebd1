package bindingsfile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"bindc/diag"
)

// Pairs of equivalent files in both syntaxes. Comments stay with their statements.
func TestConvertsFilesWithTheirComments(t *testing.T) {
	text, err := os.ReadFile("testdata/files.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		name, files, _ := strings.Cut(c, "\n")
		t.Run(name, func(t *testing.T) {
			a := txtar.Parse([]byte(files))
			if len(a.Files) != 2 {
				t.Fatalf("expected two files, found %d", len(a.Files))
			}
			from, to := a.Files[0], a.Files[1]
			converts(t, from.Name, string(from.Data), string(to.Data))
			if !strings.HasPrefix(to.Name, "only ") {
				converts(t, to.Name, string(to.Data), string(from.Data))
			}
		})
	}
}

func converts(t *testing.T, name, text, want string) {
	t.Helper()
	var diags diag.List
	got, ok := Convert(name, []byte(strings.TrimSpace(text)+"\n"), nil, &diags)
	if !ok || strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
		t.Errorf("%s comes to\n%s\nexpected\n%s\n%v", name, got, want, diags.Sorted())
	}
}

// A file that has errors, or that the other syntax cannot express, gives one error and no text.
func TestRejectsFilesThatCannotBeConverted(t *testing.T) {
	in := func(bind string) string { return "bindings_version: 1\nname: s\nbind:\n" + bind + "\n" }
	for _, c := range []struct{ name, file, text, code, message string }{
		{"syntax error in YAML", "s.yaml", "[", "yaml_syntax", ""},
		{"YAML that is not a bindings file", "s.yaml", "[]", "bindings", ""},
		{"Puppet syntax without bindings", "s.pp", "site { }", "syntax", ""},
		{"invalid UTF-8", "s.pp", "bindings s { # \xff\n}", "syntax", ""},
		{"YAML in a file of JSON", "s.json", in("- [a, 1]"), "json_syntax", ""},
		{"bindings without a name", "s.yaml", "{bindings_version: 1, bind: []}", "bindings", "expected 'name'"},
		{"name that is a number", "s.yaml", "{bindings_version: 1, name: 1, bind: []}", "bindings", "expected 'name'"},
		{"invalid name", "s.yaml", "{bindings_version: 1, name: 'a b', bind: []}", "convert", "cannot be expressed"},
		{"error in a binding", "s.yaml", in("- {name: a, to: 1, typ: Integer}"), "attribute", ""},
		{"infinite number", "s.yaml", in("- [a, .inf]"), "convert", ""},
		{"invalid target", "s.yaml", in("- {parameters: '[', to: {a: 1}}\n- [b, 1]"), "convert",
			"the string '[' cannot be expressed in Puppet syntax"},
		{"target without a name", "s.yaml", in("- {parameters: '', to: {a: 1}}"), "convert",
			"an empty string cannot be expressed in Puppet syntax"},
		{"invalid type", "s.yaml", in("- {name: a, type: 'Array[', to: 1}"), "convert",
			"the string 'Array[' cannot be expressed in Puppet syntax"},
		{"computed dependency", "s.pp", "bindings s { bind dependency $x -> File['a'] }", "convert",
			"this cannot be expressed in the other syntax"},
		{"map without a value", "s.yaml", in("- {map: [Web, Sql]}"), "convert", "cannot be expressed"},
		{"empty list of classes", "s.yaml", in("- {include: []}"), "convert", "cannot be expressed"},
		{"category that is not a word",
			"s.yaml", in("- {when: {a b: a}, bind: [[a, 1]]}"), "convert", "cannot be expressed"},
	} {
		var diags diag.List
		out, ok := Convert(c.file, []byte(c.text), nil, &diags)
		found := diags.Sorted()
		if ok || out != nil || len(found) != 1 || string(found[0].Code) != c.code || found[0].Pos.File != c.file ||
			!strings.Contains(found[0].Message, c.message) {
			t.Errorf("%s: %v, %s, found %v; expected %s", c.name, ok, out, found, c.code)
		}
	}
}

// Convert reports each statement that the other syntax cannot express at its position, and no other statements.
func TestReportsEachInexpressibleStatement(t *testing.T) {
	src := "bindings_version: 1\nname: s\nbind:\n  - [a, .inf]\n  - [b, 1]\n  - when: {node: x}\n" +
		"    bind:\n      - [c, 1]\n      - [d, [.nan]]\n  - [e, .inf]\n  - when: {a b: x}\n    bind: []\n"
	var diags diag.List
	if _, ok := Convert("s.yaml", []byte(src), nil, &diags); ok {
		t.Error("it was converted")
	}
	var at []string
	for _, d := range diags.Sorted() {
		at = append(at, fmt.Sprintf("%s:%d:%d", d.Code, d.Pos.Line, d.Pos.Col))
	}
	if got := strings.Join(at, " "); got != "convert:4:6 convert:9:10 convert:10:6 convert:11:11" {
		t.Error(got)
	}
}

// A file in Puppet syntax keeps its short name.
func TestConvertKeepsNameInPuppet(t *testing.T) {
	var diags diag.List
	out, ok := Convert("default.yaml", []byte("bindings_version: 1\nname: default\nbind: []\n"),
		[]string{"ntp::default", "default"}, &diags)
	if want := "bindings default {}\n"; !ok || string(out) != want {
		t.Errorf("it comes to %s, expected %s", out, want)
	}
}

// In YAML, a file of a module has its full name.
func TestConvertWritesFullNameInYAML(t *testing.T) {
	names := []string{"ntp::default", "default"}
	for src, want := range map[string]string{
		"bindings default { }":      "name: ntp::default",
		"bindings ntp::default { }": "name: ntp::default",
		"bindings other { }":        "name: other",
	} {
		var diags diag.List
		out, ok := Convert("default.pp", []byte(src), names, &diags)
		if !ok || !strings.Contains(string(out), want+"\n") {
			t.Errorf("%s comes to %s, expected %s", src, out, want)
		}
	}
}
