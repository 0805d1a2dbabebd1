package bindingsfile

import (
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/yaml"
)

// The lines of sensitive bindings, marked with # secret, are hidden from messages, and no other lines; or all of them.
var hidden = []struct{ name, file, text string }{
	{"nothing", "s.yaml", "bind:\n- {name: a, to: 1}\n- {name: b, to: 1, sensitive: false}\n"},
	{"a binding on a line", "s.yaml",
		"bind:\n- {name: a, to: 1}\n- {name: b, to: 1, sensitive: true} # secret\n- {name: c, to: 1}\n"},
	{"a binding of several lines", "s.yaml",
		"bind:\n- name: a # secret\n  sensitive: true # secret\n  to: # secret\n  - 1 # secret\n- name: b\n  to: 1\n"},
	{"two bindings of one line, and a third below", "s.yaml",
		"bind: [{name: a, to: 1, sensitive: true}, {name: b}, # secret\n  {name: c}]\n"},
	{"the first line of a file", "s.yaml",
		"bind: [{name: a, sensitive: true}] # secret\nbindings_version: 1\nname: s\n"},
	{"two bindings of one line", "s.yaml",
		"bind: [{name: a, sensitive: true, to: [1, # secret\n  2]}, {name: b, # secret\n  to: 1}]\n"},
	{"a list on several lines", "s.yaml",
		"bind: [{name: a, to: 1, sensitive: true}, # secret\n  {name: b},\n  {name: c}]\n"},
	{"a flag that is misspelt", "s.yaml", "bind:\n- {name: a, to: 1, sensitve: true} # secret\n- {name: c, size: 1}\n"},
	{"a flag that is cut short, or has a capital letter", "s.yaml",
		"bind:\n- {name: a, to: 1, sens: true} # secret\n- {name: b, to: 1, Sensitive: true} # secret\n- {name: c}\n"},
	{"another word", "s.yaml", "bind:\n- {name: a, to: {insensitive: true, '': 1}}\n"},
	{"an invalid flag", "s.yaml", "bind:\n- {name: a, to: 1, sensitive: 'no'} # secret\n- {name: c}\n"},
	{"a binding where none is expected", "s.yaml",
		"other:\n  x: {name: a, to: 1, sensitive: true} # secret\nbind:\n- {name: c}\n"},
	{"the last one", "s.yaml", "bind:\n- {name: c}\n- {name: a, to: 1, sensitive: true} # secret\n"},
	{"the value of an alias", "s.yaml", "other: &x # secret\n  - 1 # secret\nbind: # secret\n" +
		"- {name: b} # secret\n- {name: a, to: *x, sensitive: true} # secret\n"},
	{"an alias within the value", "s.yaml", "other: &x # secret\n  - 1 # secret\nbind: # secret\n" +
		"- {name: b} # secret\n- {name: a, to: {y: [*x]}, sensitive: true} # secret\n"},
	{"what stands before an alias of what is above, of which the end is not known", "s.yaml",
		"bind:\n- &x {name: c}\n- {name: a, sensitive: true, to: 'one # secret\n  two'} # secret\n" +
			"- *x # secret\n- {name: d} # secret\n"},
	{"what stands before an alias of a part of it", "s.yaml",
		"bind:\n- {name: a, sensitive: true, to: [1, # secret\n  &x [k, 1], # secret\n  2]} # secret\n- *x # secret\n"},
	{"what is in one that stands before an alias of a part of it", "s.yaml",
		"bind:\n- when: {node: n}\n  bind:\n  - &x {name: c}\n  - {name: a, sensitive: true, to: 'one # secret\n" +
			"    two'} # secret\n- *x # secret\n"},
	{"an alias of what is sensitive, of which the end is not known", "s.yaml",
		"bind:\n- &x {name: a, sensitive: true, to: 1} # secret\n- {name: b} # secret\n- *x # secret\n- {name: c}\n"},
	{"an alias elsewhere of what is sensitive, of which the end is not known", "s.yaml",
		"bind:\n- &x {name: a, sensitive: true, to: [1, # secret\n  2]} # secret\n- when: {node: n} # secret\n" +
			"  bind: [*x] # secret\n- {name: c} # secret\n- {name: d} # secret\n"},
	{"contributions to what is sensitive", "s.yaml",
		"bind:\n- {name: a, multibind_id: m, sensitive: true} # secret\n- {to: 1, in: m} # secret\n" +
			"- {to: 1, in: n}\n- {name: b, multibind_id: n}\n"},
	{"another multibinding of the same id", "s.yaml",
		"bind:\n- {name: a, multibind_id: m, sensitive: true} # secret\n- {name: b, multibind_id: m}\n"},
	{"contributions to what is so below a condition", "s.yaml", "bind:\n- {to: 1, in: m} # secret\n- when: {node: n}\n" +
		"  bind:\n  - {name: a, multibind_id: m, sensitive: true} # secret\n"},

	{"nothing", "s.pp", "bind 'a' to 1\nbind override 'b' to 1\n"},
	{"a binding on a line", "s.pp", "bind 'a' to 1\nbind sensitive 'b' to 1 # secret\nbind 'c' to 1\n"},
	{"a binding of several lines", "s.pp",
		"bind override sensitive # secret\n 'b' to [1, # secret\n 2] # secret\n# and what stands before the next, secret or not: # secret\nbind 'c' to 1\n"},
	{"two bindings of one line", "s.pp", "bind sensitive 'a' to 1 bind 'b' to 1 # secret\nbind 'c' to 1\n"},
	{"what ends where the next one begins", "s.pp", "bind sensitive 'a' to [1, # secret\n2] bind 'b' to 1 # secret\n"},
	{"what ends before a brace", "s.pp", "when node n { bind sensitive 'a' to 1 } # secret\nbind 'c' to 1\n"},
	{"all of a condition is not", "s.pp", "when node n {\n bind sensitive 'a' to 1 # secret\n}\nbind 'c' to 1\n"},
	{"other statements", "s.pp", "bind sensitive parameters ntp to { a => 1 } # secret\nbind 'c' to 1\n" +
		"bind sensitive variables to { a => 1 } # secret\nbind alias 'c' as sensitive 'd' # secret\n"},
	{"contributions to what is sensitive", "s.pp", "bind to 1 in 'm' # secret\nbind to 1 in 'n'\n" +
		"multibind sensitive 'a' as 'm' # secret\nmultibind 'b' as 'n'\n"},
	{"another multibinding of the same id", "s.pp",
		"multibind sensitive 'a' as 'm' # secret\nwhen node n {\n multibind 'b' as 'm'\n}\n"},
	{"what is called as its key", "s.pp", "bind to 1 in 'm' # secret\nbind to 1 in 'n'\nwhen node n {\n" +
		" multibind sensitive 'm' # secret\n}\n"},
	{"what cannot be parsed may be anywhere", "s.pp",
		"bind 'a' to\nbind 'b' to 1\nbind sensitive 'c' to 1 # everything\n"},
	{"what is misspelt cannot be parsed", "s.pp", "bind sesnitive 'a' to 1\nbind 'b' to 1 # everything\n"},
	{"an option that is meant for the flag", "s.pp", "bind 'a' to 1 { sensitive => true } # secret\nbind 'b' to 1\n" +
		"bind 'c' to 1 { sensitiv => true } # secret\n"},
	{"what is wrong and can be parsed", "s.pp", "bind 'a' to { x => 1, x => 2 }\nbind sensitive 'b' to 1 # secret\n"},
	{"what cannot be parsed", "s.pp", "bind 'a' to\nbind 'b' to 1\n"},
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

// hiddenOf returns the numbers of the hidden lines of a file.
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
