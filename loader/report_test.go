package loader_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/testmode"
	"bindc/loader"
)

// Contents of bindings/default.yaml after its first line, with the expected diagnostics (line, severity, code) and the
// bindings that remain, with their conditions.
var bindingsFiles = []struct{ name, text, want, bound string }{
	{"short form", "bind: [[a, 1]]", "", "a"},
	{"bind is a hash", "bind: {a: 1}", "2 error bindings", ""},
	{"no statements", "{}", "", ""},
	{"unknown attribute of the file", "binds: []\nbind: [[a, 1]]", "2 error bindings", "a"},
	{"short form with three elements", "bind:\n- [a, 1, 2]\n- [b, 1]", "3 error bindings", "b"},
	{"short form with one element", "bind:\n- [a]", "3 error bindings", ""},
	{"binding that is a string", "bind:\n- a", "3 error bindings", ""},
	{"key that is a number", "bind:\n- [1, a]", "3 error key", ""},
	{"when without bind", "bind:\n- when: {node: n}", "3 error bindings", ""},
	{"bind without when", "bind:\n- bind: [[a, 1]]", "3 error bindings", ""},
	{"extra attribute next to when",
		"bind:\n- when: {node: n}\n  bind: [[a, 1]]\n  to: 1", "5 error bindings", "a{node=n}"},
	{"bind in a condition is a number", "bind:\n- when: {node: n}\n  bind: 1", "4 error bindings", ""},

	{"one value", "bind: [{when: {node: N}, bind: [[a, 1]]}]", "", "a{node=n}"},
	{"values", "bind: [{when: {node: [m, N, n]}, bind: [[a, 1]]}]", "", "a{node=m}{node=n}"},
	{"two categories", "bind: [{when: {osfamily: x, node: n}, bind: [[a, 1]]}]", "", "a{node=n osfamily=x}"},
	{"alternatives", "bind: [{when: [{node: n}, {osfamily: x}], bind: [[a, 1]]}]", "", "a{node=n}{osfamily=x}"},
	{"alternatives that differ only in case are one",
		"bind: [{when: [{node: n}, {node: N}], bind: [[a, 1]]}]", "", "a{node=n}"},
	{"equal alternatives need not be adjacent",
		"bind: [{when: [{node: n}, {osfamily: x}, {node: N}], bind: [[a, 1]]}]", "", "a{node=n}{osfamily=x}"},
	{"escape in a value", "bind: [{when: {node: \"n\\x31\"}, bind: [[a, 1]]}]", "", "a{node=n1}"},
	{"yes is read as true", "bind: [{when: {node: yes}, bind: [[a, 1]]}]", "", "a{node=true}"},
	{"nested conditions are combined",
		"bind: [{when: {node: n}, bind: [{when: {osfamily: x}, bind: [[a, 1]]}, [b, 1]]}]", "",
		"a{node=n osfamily=x} b{node=n}"},
	{"nested condition that the outer one contains",
		"bind: [{when: {node: [m, n]}, bind: [{when: {node: N}, bind: [[a, 1]]}]}]", "",
		"a{node=n}"},
	{"contradictory nested conditions", "bind:\n- when: {node: m}\n  bind:\n  - when: {node: n}\n    bind: [[a, 1]]",
		"5 error when", ""},
	{"common is left out", "bind: [{when: {common: 'true', node: n}, bind: [[a, 1]]}]", "", "a{node=n}"},
	{"numbers keep their spelling", "bind: [{when: {node: [6.10, 0755, true]}, bind: [[a, 1]]}]", "",
		"a{node=0755}{node=6.10}{node=true}"},
	{"missing value", "bind:\n- {when: {node: }, bind: [[a, 1]]}", "3 error when", ""},
	{"empty value", "bind:\n- {when: {node: ''}, bind: [[a, 1]]}", "3 error when", ""},
	{"empty list of values", "bind:\n- {when: {node: []}, bind: [[a, 1]]}", "3 error when", ""},
	{"nested list of values", "bind:\n- {when: {node: [[n]]}, bind: [[a, 1]]}", "3 error when", ""},
	{"value that is a hash", "bind:\n- {when: {node: {a: n}}, bind: [[a, 1]]}", "3 error when", ""},
	{"unknown category", "bind:\n- {when: {nod: n}, bind: [[a, 1]]}", "3 error category", ""},
	{"condition that is a string", "bind:\n- {when: node, bind: [[a, 1]]}", "3 error when", ""},
	{"empty list of alternatives", "bind:\n- {when: [], bind: [[a, 1]]}", "3 error when", ""},
	{"alternative that is a string", "bind:\n- {when: [node], bind: [[a, 1]]}", "3 error when", ""},

	{"reserved key", "bind:\n- [/classes, 1]", "3 error reserved", "/classes"},
	{"reserved key in the long form", "bind:\n- {name: /map/A/B, to: 1}", "3 error reserved", "/map/A/B"},
	{"only the first key that starts with a slash is warned about",
		"bind:\n- [/a, 1]\n- {name: /b, to: 1}\n- [/c, 1]", "3 warning reserved",
		"/a /b /c"},
	{"warning about a slash in the long form", "bind:\n- {name: /a, to: 1}\n- [/b, 1]",
		"3 warning reserved", "/a /b"},
	{"names of contributions may start with a slash",
		"bind:\n- {in: m, name: /a, to: 1}\n- {name: m, multibind_id: m}", "",
		"/a m"},

	{"unknown attribute", "bind:\n- {name: a, to: 1, typ: Integer}", "3 error attribute", "a"},
	{"flag that is a string", "bind:\n- {name: a, to: 1, sensitive: 'yes'}", "3 error attribute", "a"},
	{"expression that is a list", "bind:\n- {name: a, to_expression: [1]}", "3 error attribute", "a"},
	{"expression that is a number is accepted", "bind:\n- {name: a, to_expression: 42}", "", "a"},
	{"syntax error in an expression", "bind:\n- {name: a, to_expression: '1 +'}", "3 error expression", "a"},
	{"lambda that is a number", "bind:\n- {name: a, to: 1, transformer: 1}", "3 error attribute", "a"},
	{"syntax error in a lambda", "bind:\n- {name: a, to: 1, transformer: 'x'}", "3 error expression", "a"},
	{"unknown function in a lambda", "bind:\n- {name: a, to: 1, transformer: '|$v| { upcse($v) }'}",
		"3 error name", "a"},
	{"unknown function in an expression", "bind:\n- {name: a, to_expression: \"upcse('a')\"}", "3 error name", "a"},
}

func TestInvalidStatementsAreReported(t *testing.T) {
	for _, c := range bindingsFiles {
		t.Run(c.name, func(t *testing.T) {
			text := "{bindings_version: 1, name: default}"
			if c.text != "{}" {
				text = "bindings_version: 1\n" + c.text + "\nname: default\n"
			}
			site, got := loaded(t, map[string]string{"bindings/default.yaml": text})
			if got != c.want {
				t.Errorf("reported is %q, expected %q", got, c.want)
			}
			if bound := boundIn(site); bound != c.bound {
				t.Errorf("bound is %s, expected %s", bound, c.bound)
			}
		})
	}
}

// boundIn lists the keys that bindings files bind, each with its conditions.
func boundIn(site *loader.Site) string {
	var out []string
	for _, layer := range site.Layers {
		for _, set := range layer.Contributions {
			for _, b := range set.Bindings {
				var when []string
				for _, n := range b.When {
					var terms []string
					for _, term := range site.Conditions[n] {
						terms = append(terms, site.Dimensions[term.Dimension].Name+"="+term.Value)
					}
					if len(terms) > 0 {
						when = append(when, "{"+strings.Join(terms, " ")+"}")
					}
				}
				slices.Sort(when)
				out = append(out, b.Key+strings.Join(when, ""))
			}
		}
	}
	return strings.Join(out, " ")
}

// Contents of hiera.yaml, with the expected diagnostics.
var hiera2Files = []struct{ name, text, want string }{
	{"default hierarchy without data", "version: 2", "1 warning data_directory"},
	{"file that is a list", "[version, 2]", "1 error hiera"},
	{"empty file", "", "1 error hiera"},
	{"no version", ":backends: [yaml]", "1 warning hiera_version"},
	{"another version", "version: 3", "1 warning hiera_version"},
	{"version that is a string", "version: two", "1 error version"},
	{"unknown key", "version: 2\nhierachy: []", "1 warning data_directory, 2 error hiera"},
	{"hash as hierarchy, without a version", "hierarchy: {common: [data]}", "1 warning hiera_version"},
	{"backends that are a hash", "version: 2\nbackends: {yaml: json}", "2 error backend"},
	{"entry that is a hash", "version: 2\nhierarchy:\n- {common: 'true', a: b}", "3 error hierarchy"},
	{"hierarchy that is a hash", "version: 2\nhierarchy: {common: data}", "2 error hierarchy"},
	{"entry with two elements", "version: 2\nhierarchy:\n- [common, 'true']", "3 error hierarchy"},
	{"entry that is a string", "version: 2\nhierarchy:\n- common", "3 error hierarchy"},
	{"path that is a number", "version: 2\nhierarchy:\n- [common, 'true', 1]", "3 error hierarchy"},
	{"unknown category", "version: 2\nhierarchy:\n- [nodes, '${fqdn}', 'nodes/${fqdn}']", "3 error category"},
	{"duplicate category", "version: 2\nhierarchy:\n- [node, '${fqdn}', 'a/${fqdn}']\n- [node, '${fqdn}', 'b/${fqdn}']",
		"4 error hierarchy"},
	{"common twice", "version: 2\nhierarchy:\n- [common, 'true', a]\n- [common, 'true', b]", "4 error hierarchy"},
	{"categories in another order than the site",
		"version: 2\nhierarchy:\n- [osfamily, '${osfamily}', 'o/${osfamily}']\n- [node, '${fqdn}', 'n/${fqdn}']",
		"4 error hierarchy"},
	{"entry after common", "version: 2\nhierarchy:\n- [common, 'true', c]\n- [node, '${fqdn}', 'n/${fqdn}']",
		"4 error hierarchy"},
	{"categories in the order of the site",
		"version: 2\nhierarchy:\n- [node, '${fqdn}', 'n/${fqdn}']\n- [common, 'true', c]",
		"3 warning data_directory"},
	{"path that leaves the directory", "version: 2\nhierarchy:\n- [common, 'true', 'a/../../b']", "3 error data_path"},
	{"absolute path", "version: 2\nhierarchy:\n- [common, 'true', '/b']", "3 error data_path"},
	{"empty path", "version: 2\nhierarchy:\n- [common, 'true', '']", "3 error data_path"},
	{"path that ends in a slash", "version: 2\nhierarchy:\n- [common, 'true', 'a/']", "3 error data_path"},
	{"path that ends in a dot", "version: 2\nhierarchy:\n- [common, 'true', 'a/.']", "3 error data_path"},
	{"value with a syntax error", "version: 2\nhierarchy:\n- [node, '${fqdn', a]", "3 error interpolation"},
	{"backends that are a string", "version: 2\nbackends: yaml", "2 error backend"},
	{"unknown backend", "version: 2\nbackends: [yml]", "2 error backend"},
	{"backend that is a number", "version: 2\nbackends:\n- yaml\n- 1", "4 error backend"},
}

func TestInvalidHiera2ConfigurationIsReported(t *testing.T) {
	for _, c := range hiera2Files {
		t.Run(c.name, func(t *testing.T) {
			if _, got := loaded(t, map[string]string{"hiera.yaml": c.text}); got != c.want {
				t.Errorf("reported is %q, expected %q", got, c.want)
			}
		})
	}
}

// Messages about an invalid hiera.yaml say what was expected and what was found.
func TestMessagesAboutHierarchiesSayExpectedAndFound(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"version: 2\nhierarchy: [[nobody, x, y]]",
			"the site has no category 'nobody'; it has 'node', 'osfamily', 'environment' and 'common'"},
		{"version: 2\nhierarchy: [A]",
			"expected an entry as [category, value, path], three strings, found the string 'A'"},
		{"version: 5\nhierarchy: A", "expected a list of entries for 'hierarchy', found the string 'A'"},
		{"version: 4\nhierarchy: A", "expected a list of entries for 'hierarchy', found the string 'A'"},
		{"version: 5\nhierarchy: [A]", "expected an entry, a hash with 'name' and 'path', found the string 'A'"},
		{"version: 4\nhierarchy: [A]", "expected an entry, a hash with 'name' and 'backend', found the string 'A'"},
		{"version: 4\nhierarchy: [{name: A, path: a.yaml}]",
			"expected 'backend' in an entry of a version 4 hiera.yaml: Puppet has no default"},
		{"version: 4\nhierarchy: [{name: A, backend: yaml, paths: a}]",
			"expected a list of strings for 'paths', found the string 'a'"},
		{"version: 4\nhierarchy: [{name: A, backend: yaml, pathes: [a]}]", "unknown key of an entry: 'pathes'"},
		{"version: 4\nhierarchy: [{backend: yaml, path: a}]", "expected the name of the entry for 'name'"},
		{"version: 4\nhierarchy: [{name: A, backend: yaml}, {name: A, backend: json}]",
			"two entries are named 'A', which Puppet refuses"},
		{"version: 4\nhierarchi: []", "unknown key of a version 4 configuration: 'hierarchi'"},
		{"version: 5\nhierarchy: [{name: A, path: a.yaml, options: x}]",
			"expected a hash for 'options', found the string 'x'"},
		{"version: 5\nhierarchy: [{name: A, path: [a.yaml]}]", "expected a string for 'path', found a list"},
		{"version: 5\nhierarchy: [{name: A, glob: 1}]", "expected a string for 'glob', found the integer 1"},
		{"version: 5\nhierarchy: [{name: A, paths: a.yaml}]",
			"expected a list of strings for 'paths', found the string 'a.yaml'"},
		{"version: 5\nhierarchy: [{name: A, mapped_paths: x}]",
			"expected [variable, name, path], three strings, for 'mapped_paths', found the string 'x'"},
	} {
		var diags diag.List
		loader.Load(writeSite(t, map[string]string{"hiera.yaml": c.text}), loader.Options{}, &diags)
		if found := diags.Sorted(); len(found) != 1 || found[0].Message != c.want {
			t.Errorf("%s: found %v, expected %s", c.text, found, c.want)
		}
	}
}

func TestFirstBackendWinsPerKey(t *testing.T) {
	site, got := loaded(t, map[string]string{
		"hiera.yaml":       "{version: 2, backends: [json, json, yaml, json]}",
		"data/common.yaml": "{a: 1, b: 2, d: 4}",
		"data/common.json": `{"b": 3, "c": 4}`,
	})
	entries := map[string]int{}
	for _, layer := range site.Layers {
		for _, c := range layer.Contributions {
			for _, f := range c.Files {
				name := filepath.Base(f.Path)
				if f.Hidden {
					name = "hidden: " + name
				}
				entries[name] += len(f.Entries)
			}
		}
	}
	want := map[string]int{"common.json": 2, "common.yaml": 2, "hidden: common.yaml": 1}
	if got != "" || !maps.Equal(entries, want) {
		t.Errorf("%v, %s; expected %v", entries, got, want)
	}
}

// loaded loads a site of these files and returns it with the diagnostics as "line severity code".
func loaded(t *testing.T, files map[string]string) (*loader.Site, string) {
	t.Helper()
	dir := t.TempDir()
	testmode.WriteFiles(t, dir, files)
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	var out []string
	for _, d := range diags.Sorted() {
		out = append(out, fmt.Sprintf("%d %v %s", d.Pos.Line, d.Severity, d.Code))
	}
	return site, strings.Join(out, ", ")
}
