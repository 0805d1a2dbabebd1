package yaml

import (
	"strings"
	"testing"

	"bindc/diag"
)

// A tab is replaced by the indentation that the lines around it imply. If they imply none, the tab stays.
func TestTabTakesIndentationOfSiblings(t *testing.T) {
	for _, c := range []struct{ what, source, want string }{
		{"first key, without siblings", "a:\n\tb: 1\n", "a:\n  b: 1\n"},
		{"first key, siblings below", "a:\n\tb: 1\n    c: 2\n", "a:\n    b: 1\n    c: 2\n"},
		{"between siblings", "a:\n  b:\n    c: 1\n\td: 2\n    e: 3\n", "a:\n  b:\n    c: 1\n    d: 2\n    e: 3\n"},
		{"last of the only siblings", "a:\n    b: 1\n\tc: 2\nd: 3\n", "a:\n    b: 1\n    c: 2\nd: 3\n"},
		{"one tab for each level", "a:\n    b:\n        c: 1\n\t\td: 2\n", "a:\n    b:\n        c: 1\n        d: 2\n"},
		{"either of two levels", "a:\n  b:\n    c: 1\n\td: 2\n", ""},
		{"hash above deeper keys", "a:\n  b:\n    c: 1\n\td:\n    e: 2\n", "a:\n  b:\n    c: 1\n  d:\n    e: 2\n"},
		{"first hash, with deeper keys", "a:\n\tb:\n    c: 1\n", "a:\n  b:\n    c: 1\n"},
		{"step of the file", "z:\n    y: 1\na:\n\tb: 1\n", "z:\n    y: 1\na:\n    b: 1\n"},
		{"attribute of a list item", "a:\n  - b: 1\n\tc: 2\n", "a:\n  - b: 1\n    c: 2\n"},
		{"list item", "a:\n    - 1\n\t- 2\n", "a:\n    - 1\n    - 2\n"},
		{"after a quoted key", "a:\n    'b': 1\n\t'c': 2 # d:\n", "a:\n    'b': 1\n    'c': 2 # d:\n"},
		{"after a text of several lines", "a: |\n  b\n\tc: 1\n", ""},
		{"below a top-level value", "a: 1\n\tb: 2\n", ""},
	} {
		var diags diag.List
		Parse("f.yaml", []byte(c.source), Options{}, &diags)
		list := diags.Sorted()
		diag.Locate(list, func(string) ([]byte, error) { return []byte(c.source), nil })
		got := ""
		for _, d := range list {
			for _, e := range d.Edits {
				lines := strings.SplitAfter(c.source, "\n")
				line := lines[e.Pos.Line-1]
				lines[e.Pos.Line-1] = line[:e.Pos.Col-1] + e.Text + line[e.End.Col-1:]
				got = strings.Join(lines, "")
			}
		}
		if got != c.want {
			t.Errorf("%s: %q becomes %q, expected %q; reported is %v", c.what, c.source, got, c.want, list)
		}
	}
}
