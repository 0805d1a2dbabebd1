package bindingsfile

import (
	"reflect"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// The result of a conversion is formatted. Each statement keeps the comments above it and at the end of its line.
func TestWritesComments(t *testing.T) {
	s, reported := read(t, "s.yaml", inYAML("\n- [a, 1]\n- name: b\n  type: String\n  to: \"one\\n\\ntwo\\n\"\n"+
		"- when: {node: n}\n  bind:\n  - [c, 2]\n  - when: {node: m}\n    bind: []"))
	if reported != "" {
		t.Fatal(reported)
	}
	first, second, third := s.Statements[0].Pos, s.Statements[1].Pos, s.Statements[2].Pos
	inner := s.Statements[2].Statements[0].Pos
	remarks := comments{head: []string{"# head", "", "# more"},
		above: map[diag.Pos][]string{second: {"", "# above b", "# twice"}, inner: {"# above c"}},
		inline: map[diag.Pos]string{first: "# beside a", second: "# beside b", third: "# beside it",
			inner: "# beside c"}}
	want := `# head

# more
bindings_version: 1
name: n::s
bind:
  - [a, 1]  # beside a

  # above b
  # twice
  - name: b  # beside b
    type: String
    to: |
      one

      two
  - when:  # beside it
      node: n
    bind:
      # above c
      - [c, 2]  # beside c
      - when:
          node: m
        bind:
          []
`
	if out, err := yamlText(s, "n::s", remarks); err != nil || string(out) != want {
		t.Errorf("%v; in YAML it is\n%s\nexpected\n%s", err, out, want)
	}
	want = `# head

# more
bindings n::s {
  bind 'a' to 1  # beside a

  # above b
  # twice
  bind String, 'b' to "one\n\ntwo\n"  # beside b
  when node n {  # beside it
    # above c
    bind 'c' to 2  # beside c
    when node m {
    }
  }
}
`
	b, err := puppetText(s, "n::s", remarks)
	if got := string(b); err != nil || got != want {
		t.Errorf("%v; in Puppet syntax it is\n%s\nexpected\n%s", err, got, want)
	}
	if out, err := yamlText(&File{}, "s", comments{}); err != nil ||
		string(out) != "bindings_version: 1\nname: s\nbind: []\n" {
		t.Errorf("a set of nothing is %s, %v", out, err)
	}
}

// The first statement that Puppet syntax cannot express is the error. The others are still written.
func TestPuppetTextReportsFirstInexpressibleStatement(t *testing.T) {
	for target, found := range map[string]string{"[": "the string '['", "{": "the string '{'", "": "an empty string"} {
		s, reported := read(t, "s.yaml", inYAML("\n- {parameters: '"+target+"', to: {a: 1}}\n- [b, 1]\n"+
			"- {name: c, type: 'Array[', to: 1}"))
		b, err := puppetText(s, "s", comments{})
		if want := found + " cannot be expressed in Puppet syntax"; reported != "" || err == nil ||
			err.Error() != want {
			t.Errorf("%s: %v, expected %s; %s", target, err, want, reported)
		}
		if got := string(b); !strings.Contains(got, "\n  bind 'b' to 1\n") {
			t.Errorf("%s: what can be said is %s", target, got)
		}
	}
}

// A damaged value is an error, wherever it is in the file.
func TestRejectsDamagedValues(t *testing.T) {
	intact := &Statement{Keyword: Bind, Key: "a", Value: recipe.AppendConstant(nil, value.FromInt(1))}
	for _, damaged := range []string{"c", "c\xff", "r", "r\xff"} {
		s := &File{Statements: []*Statement{intact, &Statement{Keyword: Bind, Key: "b", Value: []byte(damaged)}, intact,
			&Statement{Keyword: When, Alternatives: [][]Pair{nil}}}}
		if _, err := puppetText(s, "s", comments{}); err == nil {
			t.Errorf("%q was written in Puppet syntax", damaged)
		}
		if _, err := yamlText(s, "s", comments{}); err == nil {
			t.Errorf("%q was written in YAML", damaged)
		}
	}
}

// Writing a file does not change its statements.
func TestWritingDoesNotChangeStatements(t *testing.T) {
	text := inPuppet("\nbind Hash, 'a' to $x + { b => [1] }\n" +
		"bind Hash, 'b' to map($x) |$y, $z = ({ b => 1 })| { $y + { c => 1 } }")
	s, reported := read(t, "s.pp", text)
	before, _ := read(t, "s.pp", text)
	for range 2 {
		asYAML(t, s)
		asPuppet(t, s)
	}
	if !reflect.DeepEqual(s, before) || reported != "" {
		t.Errorf("the set is another one; %s", reported)
	}
}
