package yaml

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// Values with tags have the values that were recorded from Psych (testdata/tags.rb).
func TestTagsResolveAsInPsych(t *testing.T) {
	src, err := os.ReadFile("testdata/tags.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Values []string
		Tags   [][2]json.RawMessage
		Others [][2]string
	}
	if err := json.Unmarshal(src, &table); err != nil {
		t.Fatal(err)
	}
	cases := table.Others
	for _, row := range table.Tags {
		var tag string
		var answers []string
		if json.Unmarshal(row[0], &tag) != nil || json.Unmarshal(row[1], &answers) != nil {
			t.Fatal("not a tag and its answers")
		}
		for i, answer := range answers {
			cases = append(cases, [2]string{tag + " " + table.Values[i], answer})
		}
	}
	for _, c := range cases {
		if got := parsed("f", []byte(c[0])); got != c[1] && !refusedOnPurpose(c[0], c[1], got) {
			t.Errorf("%q is %q, Psych says %q", c[0], got, c[1])
		}
	}
}

// refusedOnPurpose reports whether this language rejects a value that Psych accepts: an integer of more than 64 bits,
// or an object with more than its data.
func refusedOnPurpose(yaml, psych, got string) bool {
	if got != "error" {
		return false
	}
	for _, start := range []string{"!!str {", "!str {", "!str: {", "!ruby/string {", "!ruby/hash-with-ivars {",
		"!ruby/class '", "!ruby/module '"} {
		if strings.HasPrefix(yaml, start) {
			return true
		}
	}
	return strings.Contains(psych, "i99999999999999999999;") || slices.Contains([]string{
		"!!omap [{a: 1, b: 2}]", "!!omap [[a, 1], [b]]", "!!omap [[a, b, c]]", // Psych loses the text between them
		"!!float 0x1p3", "!!float 0xffffffffffffffffffff", // syntax of Ruby
	}, yaml)
}

func TestTagsAreAppliedIgnoredOrRejected(t *testing.T) {
	const overlooked = " is ignored, as in Puppet"
	const unsupported = " is not supported here"
	for _, test := range []struct{ src, want, found string }{
		{"a: !foo {x: !bar '1'}", "{'a': {'x': 1}}",
			"warning yaml_tag 1:4 the tag !foo" + overlooked + "\nwarning yaml_tag 1:13 the tag !bar" + overlooked},
		{"- !!int x\n- !int 3", "['x', 3]", "warning yaml_tag 1:3 the tag !!int" + overlooked},
		{"a: !!map [b]", "{'a': ['b']}", "warning yaml_tag 1:4 the tag !!map" + overlooked},
		{"! 12", "12", ""},
		{"- !!binary aGk=\n- !!omap [b: c, d: e]\n- !!float 1e3", "['hi', {'b': 'c', 'd': 'e'}, 1000.0]", ""},
		{"a: !!binary /w==", "",
			"error yaml_tag 1:4 expected text in UTF-8 after the tag !!binary, found other bytes"},
		{"a: !!float x", "", "error yaml_tag 1:4 expected a number, as the tag !!float says, found the string 'x'"},
		{"- !!omap\n  - a: 1\n  - b", "",
			"error yaml_tag 3:5 expected a list of single-entry hashes after the tag !!omap"},
		{"!!omap [a: 1, a: 2]", "", "error yaml_duplicate_key 1:15 the key 'a' is given twice in one hash " +
			"(1:9 it is first given here)"},
		{"a: !ruby/regexp /x/", "", "error yaml_tag 1:4 the tag !ruby/regexp" + unsupported},
		{"a: !ruby/hash:X {b: c}", "", "error yaml_tag 1:4 the tag !ruby/hash:X" + unsupported},
		{"a: !!set {b, c}", "", "error yaml_tag 1:4 the tag !!set" + unsupported},
		{"a: !seq:X [b]", "", "error yaml_tag 1:4 the tag !seq:X" + unsupported},
	} {
		check(t, test.src, Options{}, test.want, test.found)
	}
}
