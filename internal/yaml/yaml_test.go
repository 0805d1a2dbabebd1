package yaml

import (
	"fmt"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/value"
)

// summary formats diagnostics, one per line: code, position, message, and the positions of the notes.
func summary(diags *diag.List) string {
	var b strings.Builder
	for _, d := range diags.Sorted() {
		fmt.Fprintf(&b, "%s %s %d:%d %s", d.Severity, d.Code, d.Pos.Line, d.Pos.Col, d.Message)
		for _, n := range d.Notes {
			fmt.Fprintf(&b, " (%d:%d %s)", n.Pos.Line, n.Pos.Col, n.Message)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// check parses src and compares its value with text, in the format of show, and the diagnostics.
func check(t *testing.T, src string, opts Options, want, found string) {
	t.Helper()
	checkAs(t, Parse, src, opts, want, found)
}

type parser func(file string, src []byte, opts Options, diags *diag.List) (*Document, bool)

func checkAs(t *testing.T, parse parser, src string, opts Options, want, found string) {
	t.Helper()
	var diags diag.List
	d, ok := parse("f", []byte(src), opts, &diags)
	if ok == diags.Failed() {
		t.Errorf("%.100q: ok is %v, with errors: %v", src, ok, diags.Failed())
	}
	got := ""
	if ok {
		got = show(d.Root)
	}
	if got != want {
		t.Errorf("%.100q:\n got %s\nwant %s", src, got, want)
	}
	if got := strings.TrimSuffix(summary(&diags), "\n"); got != found {
		t.Errorf("%.100q:\nfound  %s\nexpected %s", src, got, found)
	}
}

// show formats a tree: strings in quotes, floats with a point.
func show(n *Node) string {
	if n == nil {
		return "empty"
	}
	var parts []string
	switch n.Kind {
	case Sequence:
		for i := range n.Kids {
			parts = append(parts, show(&n.Kids[i]))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Mapping:
		for k, v := range n.Pairs() {
			parts = append(parts, show(k)+": "+show(v))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	switch v := n.Value; v.Kind() {
	case value.Undef:
		return "null"
	case value.String:
		return "'" + v.Text() + "'"
	default:
		return string(value.AppendText(nil, v))
	}
}

func TestParsesValues(t *testing.T) {
	for src, want := range map[string]string{
		"":                                   "empty",
		"---\n":                              "empty",
		"# nothing\n":                        "empty",
		"--- # nothing\n...\n":               "empty",
		"~":                                  "null",
		"\ufeffa: b\n":                       "{'a': 'b'}",
		"a: b\r\nc:\r\n- d\r\n":              "{'a': 'b', 'c': ['d']}",
		"a: yes\nb: 'yes'\nc: \"no\"\nd: no": "{'a': true, 'b': 'yes', 'c': 'no', 'd': false}",
		"1: a\n1.0: b\n'1': c\n~: d\n":       "{1: 'a', 1.0: 'b', '1': 'c', null: 'd'}",
		"a: :undef\nb: :\"x y\"\n":           "{'a': ':undef', 'b': ':\"x y\"'}",
		"? [a, b]\n: c\n":                    "{['a', 'b']: 'c'}",
		"a: |\n  0644\nb: >-\n  x\n  y\n":    "{'a': '0644\n', 'b': 'x y'}",
		"a: 'x'# no space\nb: [#c\n c]#d\n":  "{'a': 'x', 'b': ['c']}",
		"%YAML 1.2\n---\na: 0o17\n":          "{'a': '0o17'}",
		"a: &x 1\nb: *x\nc: &x 2\nd: *x\n":   "{'a': 1, 'b': 1, 'c': 2, 'd': 2}",
		"&k a: 1\nb: *k\n":                   "{'a': 1, 'b': 'a'}",

		"a: &x \ufeffb\nc: !!str \ufeffd\n": "{'a': '\ufeffb', 'c': '\ufeffd'}",
		"a: |\n  x\n   ":                    "{'a': 'x\n '}", // the file ends in a line of blanks that are text
		"a: >+\n  x\n\n   ":                 "{'a': 'x\n\n '}",
		"a: |+\n  x\n  ":                    "{'a': 'x\n'}", // in a line of blanks that are indentation
		"a: |\n  x\n   \n  ":                "{'a': 'x\n \n'}",
		"a:\n - |+\n ":                      "{'a': ['']}",
		"a: |1+\n\n\n \r   ":                "{'a': '\n\n\n  '}",
		"? |+\r\r ":                         "{'\n': null}",
		"- |+\n x\n-\n  ":                   "['x\n', null]",

		"- !!str 1\n- !!str\n- ! 1\n- ! '1'\n- !<tag:yaml.org,2002:str> 1": "['1', '', 1, 1, '1']",
		"- !!int '3'\n- !!float 1\n- !!bool yes\n- !!null ~\n- !!null ''":  "[3, 1.0, true, null, null]",
		"- !!seq [a]\n- !!map {a: b}\n- ! [a]\n":                           "[['a'], {'a': 'b'}, ['a']]",
		"%TAG !y! tag:yaml.org,2002:\n---\n!y!str 1\n":                     "'1'",
	} {
		check(t, src, Options{}, want, "")
	}
}

func TestReportsSyntaxErrors(t *testing.T) {
	for src, found := range map[string]string{
		"é: \xff":              "error yaml_utf8 1:4 expected text in UTF-8, found the byte 0xff",
		"\xff\xfea\x00":        "error yaml_utf8 1:1 expected text in UTF-8, found UTF-16",
		"\x00GITCRYPT\x00\x8c": `error yaml_syntax 1:1 this file is encrypted by git-crypt`,
		"a: \x00b":             `error yaml_syntax 1:4 the control character '\x00' is not allowed in a file`,
		"a:\n  b: \u0080b":     `error yaml_syntax 2:6 the control character '\u0080' is not allowed in a file`,

		"é: b: c": "error yaml_syntax 1:5 the value of this key contains ': ', " +
			"which separates a key from its value",
		"a: 1\n b: 2":          "error yaml_syntax 2:2 expected this line to start in column 1, not in column 2 (1:1 this key starts there)",
		"a: b\n- c\n":          "error yaml_syntax 2:1 expected a key of the hash above, found an element of a list (1:1 the hash starts here)",
		"a: [b, c\n":           "error yaml_syntax 1:4 the list that starts here is not closed",
		"a: 'b\nc\n":           "error yaml_syntax 1:4 the quoted text that starts here is not closed",
		"a:\n\tb: c\n":         "error yaml_syntax 2:1 expected spaces as indentation, found a tab",
		"é: @b\n":              "error yaml_syntax 1:4 expected a value, found '@', which cannot start a value",
		`a: "\z"`:              "error yaml_syntax 1:5 expected a valid YAML escape after the backslash (1:4 in a quoted text that starts here)",
		"  a: 1\n b: 2":        "error yaml_syntax 2:2 expected this line to start in column 3, not in column 2 (1:3 this key starts there)",
		"a: {b: c, ?d: e}\n":   "error yaml_syntax 1:11 in brackets and braces, a '?' before text marks a key",
		"[a, ?]\n":             "error yaml_syntax 1:5 in brackets and braces, a '?' before text marks a key",
		"{a: :b}\n":            "error yaml_syntax 1:5 in brackets and braces, text cannot begin with ':'",
		"{? :\"e\"}\n":         "error yaml_syntax 1:4 in brackets and braces, text cannot begin with ':'",
		"\ufeffa: b\nc\n":      "error yaml_syntax 2:1 expected ': ' after the key, on the same line",
		"[&x\n\ufeffa]\n":      "error yaml_syntax 2:1 this line begins with a byte order mark (U+FEFF), which is invisible",
		"- [!\n\ufeffa]\n":     "error yaml_syntax 2:1 this line begins with a byte order mark (U+FEFF), which is invisible",
		"a: b\n\ufeff# c\nd\n": "error yaml_syntax 2:1 this line begins with a byte order mark (U+FEFF), which is invisible",
		"a: b\n\ufeffc: d\n":   "error yaml_syntax 2:1 this line begins with a byte order mark (U+FEFF), which is invisible",
		"a: &x.y 1\n":          "error yaml_syntax 1:4 expected an anchor of letters, digits, '_' and '-', found &x.y",

		"- 2013-05-23\n- 2001-12-14t21:59:43.10-05:00": "error yaml_date 1:3 the date or time 2013-05-23 must be quoted: data has no dates or times\n" +
			"error yaml_date 2:3 the date or time 2001-12-14t21:59:43.10-05:00 must be quoted: data has no dates or times",
		"2013-05-23: x": "error yaml_date 1:1 the date or time 2013-05-23 must be quoted: data has no dates or times",
		"a: 9223372036854775808\nb: -9223372036854775808": "error yaml_integer 1:4 the integer 9223372036854775808 does not fit in 64 bits",

		"a: !x!y b": "error yaml_tag 1:4 expected a valid YAML tag, or none",

		"a: *b":                  "error yaml_alias 1:4 expected an alias to an earlier anchor, found *b",
		"a: &a [*a]":             "error yaml_alias 1:8 the alias *a is inside the value that it refers to",
		"- &a {b: c}\n- {<<: 3}": "error yaml_merge 2:4 expected a hash or a list of hashes as value of the merge key '<<', found the integer 3",
		"- <<: [{a: b}, c]\n":    "error yaml_merge 1:3 expected a hash or a list of hashes as value of the merge key '<<', found a list",
	} {
		check(t, src, Options{}, "", found)
	}
}

func TestDuplicateKeysAreErrorsUnlessAllowed(t *testing.T) {
	src := "a: 1\nb: 2\n'a': 3\n"
	note := " (1:1 it is first given here)"
	check(t, src, Options{}, "", "error yaml_duplicate_key 3:1 the key 'a' is given twice in one hash"+note)
	check(t, src, Options{LastKeyWins: true}, "{'a': 3, 'b': 2}",
		"warning yaml_duplicate_key 3:1 the key 'a' is given twice in one hash; this last value is used"+note)
	check(t, "[a]: 1\n[a]: 2\n", Options{}, "",
		"error yaml_duplicate_key 2:1 the key a list is given twice in one hash"+note)

	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "k%d: %d\n%d: x\n", i, i, i)
	}
	check(t, many.String()+"k7: x\n", Options{}, "",
		"error yaml_duplicate_key 201:1 the key 'k7' is given twice in one hash (15:1 it is first given here)")
	check(t, many.String()+"0x10: x\n", Options{}, "",
		"error yaml_duplicate_key 201:1 the key the integer 16 is given twice in one hash (34:1 it is first given here)")
}

func TestMergeKeysAddEntries(t *testing.T) {
	for src, want := range map[string]string{
		"- &a {x: 1, y: 2}\n- {<<: *a, y: 3, z: 4}\n":               "[{'x': 1, 'y': 2}, {'x': 1, 'y': 3, 'z': 4}]",
		"<<: [{x: 1, y: 1}, {y: 2, z: 2}]\n":                        "{'y': 1, 'z': 2, 'x': 1}",
		"<<: {x: 1}\n<<: {x: 2, y: 2}\n":                            "{'x': 2, 'y': 2}",
		"'<<': {x: 1}\n":                                            "{'x': 1}",
		"!!str <<: {x: 1}\n":                                        "{'<<': {'x': 1}}",
		"- &a {x: 1}\n- &b {<<: *a, y: 2}\n- {<<: *b, z: 3}\n":      "[{'x': 1}, {'x': 1, 'y': 2}, {'x': 1, 'y': 2, 'z': 3}]",
		"- &l [{x: 1}, {x: 2, y: 2}]\n- <<: *l\n":                   "[[{'x': 1}, {'x': 2, 'y': 2}], {'x': 1, 'y': 2}]",
		"x: 1\n<<: {x: 1, y: 2}\n":                                  "{'x': 1, 'y': 2}",
		"<<: {}\n":                                                  "{}",
		"- &a {a: 1, b: 2, c: 3}\n- {<<: *a, b: 1, b: 2}\n- [*a]\n": "",
	} {
		if want == "" {
			check(t, src, Options{}, "",
				"error yaml_duplicate_key 2:18 the key 'b' is given twice in one hash "+
					"(2:12 it is first given here)")
			continue
		}
		check(t, src, Options{}, want, "")
	}
	check(t, "x: 1\n<<: {x: 2}\n", Options{}, "{'x': 2}",
		"warning yaml_merge 1:1 the key 'x' loses this value to a merge key that comes after it, "+
			"as in Ruby's YAML (2:1 the merge key) (2:9 the merged value)")
}

func TestWarnsAboutSecondDocument(t *testing.T) {
	const found = "warning yaml_document %s this second YAML document is ignored: only the first one in a file is used"
	check(t, "a: 1\n---\nb: 2\n", Options{}, "{'a': 1}", fmt.Sprintf(found, "2:1"))
	check(t, "---\n---\nb: 2\n", Options{}, "empty", fmt.Sprintf(found, "2:1"))
	check(t, "a: 1\n---\nb: 1\nc: [\n", Options{}, "{'a': 1}", fmt.Sprintf(found, "5:1"))
	check(t, "a: 1\n---\n...\n---\n", Options{}, "{'a': 1}", "")
	check(t, "a: 1\n...\n# end\n", Options{}, "{'a': 1}", "")
}

func TestTooDeepNestingIsAnError(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	var diags diag.List
	if _, ok := Parse("f", []byte(nested(maxDepth)), Options{}, &diags); !ok {
		t.Error(summary(&diags))
	}
	check(t, nested(maxDepth+1), Options{}, "", "error yaml_depth 1:513 "+tooDeep)
	check(t, "a: "+nested(maxDepth), Options{}, "", "error yaml_depth 1:515 "+tooDeep)
	check(t, strings.Repeat("- ", maxDepth+1)+"x", Options{}, "", "error yaml_depth 1:1025 "+tooDeep)
	check(t, "- &a "+nested(300)+"\n- "+strings.Repeat("[", 300)+"*a"+strings.Repeat("]", 300), Options{}, "",
		"error yaml_depth 2:303 "+tooDeep)
	check(t, strings.Repeat("[", 100_000), Options{}, "", "error yaml_depth 1:513 "+tooDeep)
}

func TestTooManyNodesFromAliasesAreAnError(t *testing.T) {
	var b strings.Builder
	b.WriteString("- &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 20 {
		fmt.Fprintf(&b, "- &a%d [%s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	check(t, b.String(), Options{}, "",
		"error yaml_alias 6:43 the aliases up to here expand to more than 1000000 values or 64000000 bytes of text")
}

func TestTooManyRepairsAreAnError(t *testing.T) {
	src := strings.Repeat("- 'x'#c\n", maxRepairs)
	check(t, src, Options{}, "["+strings.TrimSuffix(strings.Repeat("'x', ", maxRepairs), ", ")+"]", "")
	check(t, src+"- 'x'#c\n", Options{}, "", "error yaml_syntax 101:6 expected a space before '#'")

	long := "- " + strings.Repeat("x", maxRepaired/2) + "\n- 'x'#c\n- 'x'#c\n"
	check(t, long+"- 'x'#c\n", Options{}, "", "error yaml_syntax 4:6 expected a space before '#'")
}

func TestNodeDescribesAndConvertsItself(t *testing.T) {
	var diags diag.List
	d, _ := Parse("f", []byte("a: [1, x]\n1: {}\nb: ~\n"), Options{}, &diags)
	key, val, ok := d.Root.Lookup("a")
	if !ok || key.Value.Text() != "a" || val.Describe() != "a list" {
		t.Errorf("Lookup: %v %v %v", key, val, ok)
	}
	if _, _, ok := d.Root.Lookup("1"); ok {
		t.Error("Lookup finds the integer 1 as '1'")
	}
	for k, v := range val.Pairs() {
		t.Errorf("a list has a pair %v %v", k, v)
	}
	lit := d.Root.Literal()
	if e, ok := lit.Get(value.FromInt(1)); !ok || e.Kind() != value.Hash || lit.Len() != 3 {
		t.Errorf("Literal is %v", lit)
	}
	for text, want := range map[string]string{
		"~": "null", "yes": "the boolean true", "1": "the integer 1", "1.": "the float 1.0", "x": "the string 'x'",
		"{}":         "an empty hash",
		"'a\n\n  b'": "the string 'a…'", "é" + strings.Repeat("x", 50): "the string 'é" + strings.Repeat("x", 39) +
			"…'",
	} {
		d, _ := Parse("f", []byte(text), Options{}, &diags)
		if got := d.Root.Describe(); got != want {
			t.Errorf("%q is described as %s, want %s", text, got, want)
		}
	}
}
