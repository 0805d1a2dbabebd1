package bindingsfile

import (
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/yaml"
)

// Messages hide the lines that are marked with '# secret', or all lines, and show all others.
var hidden = []struct{ name, file, text string }{
	{"no sensitive binding", "s.yaml", "bind:\n- {name: a, to: 1}\n- {name: b, to: 1, sensitive: false}\n"},
	{"binding on one line", "s.yaml",
		"bind:\n- {name: a, to: 1}\n- {name: b, to: 1, sensitive: true} # secret\n- {name: c, to: 1}\n"},
	{"binding on several lines", "s.yaml",
		"bind:\n- name: a # secret\n  sensitive: true # secret\n  to: # secret\n  - 1 # secret\n- name: b\n  to: 1\n"},
	{"two bindings on one line, and a third below", "s.yaml",
		"bind: [{name: a, to: 1, sensitive: true}, {name: b}, # secret\n  {name: c}]\n"},
	{"first line of a file", "s.yaml",
		"bind: [{name: a, sensitive: true}] # secret\nbindings_version: 1\nname: s\n"},
	{"sensitive and plain binding on one line", "s.yaml",
		"bind: [{name: a, sensitive: true, to: [1, # secret\n  2]}, {name: b, # secret\n  to: 1}]\n"},
	{"list on several lines", "s.yaml",
		"bind: [{name: a, to: 1, sensitive: true}, # secret\n  {name: b},\n  {name: c}]\n"},
	{"misspelt flag", "s.yaml", "bind:\n- {name: a, to: 1, sensitve: true} # secret\n- {name: c, size: 1}\n"},
	{"flag that is cut off or capitalized", "s.yaml",
		"bind:\n- {name: a, to: 1, sens: true} # secret\n- {name: b, to: 1, Sensitive: true} # secret\n- {name: c}\n"},
	{"another attribute is not the flag", "s.yaml", "bind:\n- {name: a, to: {insensitive: true, '': 1}}\n"},
	{"flag with an invalid value", "s.yaml", "bind:\n- {name: a, to: 1, sensitive: 'no'} # secret\n- {name: c}\n"},
	{"binding in a wrong place", "s.yaml",
		"other:\n  x: {name: a, to: 1, sensitive: true} # secret\nbind:\n- {name: c}\n"},
	{"last binding of a file", "s.yaml", "bind:\n- {name: c}\n- {name: a, to: 1, sensitive: true} # secret\n"},
	{"target of an alias as value", "s.yaml", "other: &x # secret\n  - 1 # secret\nbind: # secret\n" +
		"- {name: b} # secret\n- {name: a, to: *x, sensitive: true} # secret\n"},
	{"target of an alias inside a value", "s.yaml", "other: &x # secret\n  - 1 # secret\nbind: # secret\n" +
		"- {name: b} # secret\n- {name: a, to: {y: [*x]}, sensitive: true} # secret\n"},
	{"text before an alias to earlier lines", "s.yaml",
		"bind:\n- &x {name: c}\n- {name: a, sensitive: true, to: 'one # secret\n  two'} # secret\n" +
			"- *x # secret\n- {name: d} # secret\n"},
	{"text before an alias to part of its own binding", "s.yaml",
		"bind:\n- {name: a, sensitive: true, to: [1, # secret\n  &x [k, 1], # secret\n  2]} # secret\n- *x # secret\n"},
	{"binding before an alias to a part of it", "s.yaml",
		"bind:\n- when: {node: n}\n  bind:\n  - &x {name: c}\n  - {name: a, sensitive: true, to: 'one # secret\n" +
			"    two'} # secret\n- *x # secret\n"},
	{"alias to a sensitive binding hides all lines after it", "s.yaml",
		"bind:\n- &x {name: a, sensitive: true, to: 1} # secret\n- {name: b} # secret\n- *x # secret\n- {name: c}\n"},
	{"alias to a sensitive binding from another binding", "s.yaml",
		"bind:\n- &x {name: a, sensitive: true, to: [1, # secret\n  2]} # secret\n- when: {node: n} # secret\n" +
			"  bind: [*x] # secret\n- {name: c} # secret\n- {name: d} # secret\n"},
	{"contributions to a sensitive multibinding", "s.yaml",
		"bind:\n- {name: a, multibind_id: m, sensitive: true} # secret\n- {to: 1, in: m} # secret\n" +
			"- {to: 1, in: n}\n- {name: b, multibind_id: n}\n"},
	{"second multibinding with the same id", "s.yaml",
		"bind:\n- {name: a, multibind_id: m, sensitive: true} # secret\n- {name: b, multibind_id: m}\n"},
	{"contributions in a condition", "s.yaml", "bind:\n- {to: 1, in: m} # secret\n- when: {node: n}\n" +
		"  bind:\n  - {name: a, multibind_id: m, sensitive: true} # secret\n"},

	{"no sensitive binding", "s.pp", "bind 'a' to 1\nbind override 'b' to 1\n"},
	{"Puppet binding on one line", "s.pp", "bind 'a' to 1\nbind sensitive 'b' to 1 # secret\nbind 'c' to 1\n"},
	{"Puppet binding on several lines", "s.pp",
		"bind override sensitive # secret\n 'b' to [1, # secret\n 2] # secret\n# and what stands before the next, secret or not: # secret\nbind 'c' to 1\n"},
	{"two Puppet bindings on one line", "s.pp", "bind sensitive 'a' to 1 bind 'b' to 1 # secret\nbind 'c' to 1\n"},
	{"binding that ends in the line of the next one",
		"s.pp", "bind sensitive 'a' to [1, # secret\n2] bind 'b' to 1 # secret\n"},
	{"binding that ends before a closing brace",
		"s.pp", "when node n { bind sensitive 'a' to 1 } # secret\nbind 'c' to 1\n"},
	{"only the sensitive binding in a condition",
		"s.pp", "when node n {\n bind sensitive 'a' to 1 # secret\n}\nbind 'c' to 1\n"},
	{"parameters and variables", "s.pp", "bind sensitive parameters ntp to { a => 1 } # secret\nbind 'c' to 1\n" +
		"bind sensitive variables to { a => 1 } # secret\nbind alias 'c' as sensitive 'd' # secret\n"},
	{"contributions to a sensitive multibinding", "s.pp", "bind to 1 in 'm' # secret\nbind to 1 in 'n'\n" +
		"multibind sensitive 'a' as 'm' # secret\nmultibind 'b' as 'n'\n"},
	{"second multibinding with the same id", "s.pp",
		"multibind sensitive 'a' as 'm' # secret\nwhen node n {\n multibind 'b' as 'm'\n}\n"},
	{"multibinding whose id is its key", "s.pp", "bind to 1 in 'm' # secret\nbind to 1 in 'n'\nwhen node n {\n" +
		" multibind sensitive 'm' # secret\n}\n"},
	{"syntax error hides all lines", "s.pp",
		"bind 'a' to\nbind 'b' to 1\nbind sensitive 'c' to 1 # everything\n"},
	{"misspelt option hides all lines", "s.pp", "bind sesnitive 'a' to 1\nbind 'b' to 1 # everything\n"},
	{"misspelt flag in braces", "s.pp", "bind 'a' to 1 { sensitive => true } # secret\nbind 'b' to 1\n" +
		"bind 'c' to 1 { sensitiv => true } # secret\n"},
	{"error without a syntax error hides only its lines",
		"s.pp", "bind 'a' to { x => 1, x => 2 }\nbind sensitive 'b' to 1 # secret\n"},
	{"syntax error after a binding", "s.pp", "bind 'a' to\nbind 'b' to 1\n"},
}

func TestHidesLinesOfSensitiveBindings(t *testing.T) {
	for _, c := range hidden {
		text := c.text
		if !strings.Contains(text, "bindings_version") {
			text = "bindings_version: 1\n" + text
		}
		if c.file == "s.pp" {
			text = "bindings s {\n" + c.text + "}\n"
		}
		var want []int
		for i, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "# secret") || strings.Contains(text, "# everything") && line != "" {
				want = append(want, i+1)
			}
		}
		if got := hiddenOf(c.file, text); !slices.Equal(got, want) {
			t.Errorf("%s: %s: the lines %v are hidden, expected %v", c.file, c.name, got, want)
		}
	}
}

// hiddenOf returns the numbers of the lines that messages hide.
func hiddenOf(file, text string) []int {
	var diags diag.List
	secrets := map[string]bool{}
	var source Source
	if file == "s.yaml" {
		doc, _ := yaml.Parse(file, []byte(text), yaml.Options{}, &diags)
		source = YAML{Document: doc}
	} else {
		source = ParsePuppet(file, []byte(text), &diags)
	}
	source.Secrets(secrets)
	source.Read(secrets, &diags)
	for i := range strings.Count(text, "\n") {
		diags.Add(diag.Diagnostic{Pos: diag.Pos{File: file, Line: i + 1, Col: 1}, Code: "probe"})
	}
	var out []int
	for _, d := range diags.Sorted() {
		if d.Code == "probe" && d.Secret {
			out = append(out, d.Pos.Line)
		}
	}
	return out
}
