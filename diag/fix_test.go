package diag

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// In each source, the diagnostic is at the first «. The edit must replace the text between the last « and ».
func TestLocateFindsTextToReplace(t *testing.T) {
	name := func(word, other string) Fix { return MeantAs(word, other) }
	for _, c := range []struct {
		what, source string
		fix          Fix
		want         string // "" if there is no edit
	}{
		{"word at the position", "a: «osfamly", name("osfamly", "osfamily"), "a: osfamily"},
		{"word after a quote", "a: «'osfamly'", name("osfamly", "osfamily"), "a: 'osfamily'"},
		{"word after Hiera's brace", "a: «%{osfamly}", name("osfamly", "osfamily"), "a: %{osfamily}"},
		{"word in the value of the key", "«a: x %{lookup('b::c')}", name("b::c", "b::d"), "a: x %{lookup('b::d')}"},
		{"word on a later line of the value", "«a:\n  - b\n  - c\nc: 1", name("c", "d"), "a:\n  - b\n  - d\nc: 1"},
		{"word in a list in the column of its key", "«a:\n- b\nc: 1", name("b", "d"), "a:\n- d\nc: 1"},
		{"word in another attribute of the binding", "- name: «a\n  to: prot\n- prot", name("prot", "port"), "- name: a\n  to: port\n- prot"},
		{"word on an earlier line of the binding", "- prot: 1\n  to: «a", name("prot", "port"), "- port: 1\n  to: a"},
		{"part of a name is not replaced", "«a: b::c", name("c", "d"), ""},
		{"start of a word is not replaced", "«a: bc", name("b", "d"), ""},
		{"key with subkeys", "«a: \"%{lookup('b.c')}\"", name("b", "d"), "a: \"%{lookup('d.c')}\""},
		{"word that occurs twice is not replaced", "«a: [b, b]", name("b", "d"), ""},
		{"word outside of the value is not replaced", "«a: 1\nb: 2", name("b", "d"), ""},
		{"a name that needs quotes", "a: «b", name("b", "no"), ""},
		{"a name that needs quotes, in quotes", "a: «'b'", name("b", "no"), "a: 'no'"},
		{"a name with a quote", "a: «'b'", name("b", "d'"), ""},
		{"after an umlaut", "ä: «bb", name("bb", "d"), "ä: d"},
		{"before a CRLF", "a: «b\r\nc: 1\r\n", name("b", "d"), "a: d\r\nc: 1\r\n"},
		{"after a byte order mark", "\ufeffa: «b", name("b", "d"), "\ufeffa: d"},
		{"in another case", "a: «Debain", Fix{Old: "debain", New: "debian", Fold: true}, "a: debian"},
		{"syntax", "a «=> 1", Fix{Old: "=>", New: "to", Syntax: true}, "a to 1"},
		{"syntax with quotes in quotes", "a: '«%{b}'", Fix{Old: "%{b}", New: "${b['c']}", Syntax: true}, "a: '${b[''c'']}'"},
		{"syntax with quotes in Puppet syntax", "a '«%{b}'", Fix{Old: "%{b}", New: "${b['c']}", Syntax: true}, ""},
		{"value in quotes", "«a::b: \"80\" # 80", Fix{Old: "80", New: "80", Value: true}, "a::b: 80 # 80"},
		{"value of a quoted key", "«'a': '80'", Fix{Old: "80", New: "80", Value: true}, "'a': 80"},
		{"value in a list", "- [«a, '80', 1]", Fix{Old: "80", New: "80", Value: true}, "- [a, 80, 1]"},
		{"value in a hash", "x: {«a: 80, b: 80}", Fix{Old: "80", New: "'80'", Value: true}, "x: {a: '80', b: 80}"},
		{"another value", "«a: 0x50", Fix{Old: "80", New: "'80'", Value: true}, ""},
		{"string in place of one in single quotes", "«a: 'b'", Fix{Old: "b", New: "'bc'", Value: true}, "a: 'bc'"},
		{"string in place of one without quotes", "«a: b", Fix{Old: "b", New: "'bc'", Value: true}, "a: bc"},
		{"string in place of one in double quotes", "«a: \"b\"", Fix{Old: "b", New: "'bc'", Value: true}, "a: \"bc\""},
		{"string that needs quotes", "«a: b", Fix{Old: "b", New: "'off'", Value: true}, "a: 'off'"},
		{"string with a blank", "«a: b", Fix{Old: "b", New: "'b: c'", Value: true}, "a: 'b: c'"},
		{"value on the next line", "«a:\n  80", Fix{Old: "80", New: "'80'", Value: true}, ""},
		{"anchored value", "«a: &x 80", Fix{Old: "80", New: "'80'", Value: true}, ""},
		{"syntax in the other quotes", "a: \"«%{b}\"", Fix{Old: "%{b}", New: "${b['c']}", Syntax: true}, "a: \"${b['c']}\""},
	} {
		before, after, _ := strings.Cut(c.source, "«")
		line := strings.Count(before, "\n") + 1
		col := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
		file := "f.yaml"
		if strings.HasSuffix(c.what, "Puppet syntax") {
			file = "f.pp"
		}
		list := []Diagnostic{{Pos: Pos{file, line, col}, Fix: c.fix}}
		Locate(list, func(string) ([]byte, error) { return []byte(before + after), nil })
		got := ""
		for _, e := range list[0].Edits {
			got = replaced(t, before+after, e)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// replaced returns src after an edit. The positions must be in src.
func replaced(t *testing.T, src string, e Edit) string {
	t.Helper()
	s := newSource(src)
	from, ok := s.offset(e.Pos)
	to, okEnd := s.offset(e.End)
	if !ok || !okEnd || from > to {
		t.Fatalf("the edit from %v to %v is not in the file", e.Pos, e.End)
	}
	return src[:from] + e.Text + src[to:]
}

func TestLocateSetsEndOfToken(t *testing.T) {
	for _, c := range []struct {
		source string
		col    int
		want   int
	}{
		{"a::b: 1", 1, 5}, {"a: 'b c' # d", 4, 9}, {`a: "b\"c"`, 4, 10}, {"a: 'b", 4, 6}, {"a: ${b}", 4, 7},
		{"a: [b]", 4, 5}, {"a: ä-b, c", 4, 7}, {"a:", 3, 3}, {"a: confdir:/x", 4, 14},
	} {
		list := []Diagnostic{{Pos: Pos{"f", 1, c.col}}, {Pos: Pos{"f", 1, c.col}, Secret: true}}
		Locate(list, func(string) ([]byte, error) { return []byte(c.source), nil })
		if list[0].End != (Pos{"f", 1, c.want}) {
			t.Errorf("%q from column %d: ends at %v, want %d", c.source, c.col, list[0].End, c.want)
		}
		if list[1].End != (Pos{}) {
			t.Errorf("%q: the length of a sensitive text is shown", c.source)
		}
	}
}

func TestLocateLeavesUnreadableFiles(t *testing.T) {
	for _, text := range []string{"", "a: \xff"} {
		list := []Diagnostic{{Pos: Pos{"f", 1, 1}, Fix: MeantAs("a", "b")}}
		Locate(list, func(string) ([]byte, error) {
			if text == "" {
				return nil, errors.New("it is gone")
			}
			return []byte(text), nil
		})
		if list[0].Edits != nil || list[0].End != (Pos{}) {
			t.Errorf("%q: %v", text, list[0])
		}
	}
}

// Edits and ends are always in the file, between two characters.
func FuzzLocate(f *testing.F) {
	f.Add("a: 'b'\n- c: ${d}\r\n", 1, 1, "b", "c", false)
	f.Add("ä:\n  - \"x", 2, 3, "x", "'", true)
	f.Add("\n- \n -  - a", 3, 5, "a", "b", true)
	f.Fuzz(func(t *testing.T, src string, line, col int, old, now string, syntax bool) {
		at := Pos{"f", line, col}
		list := []Diagnostic{{Pos: at, Fix: Fix{Old: old, New: now, Syntax: syntax, Fold: syntax, Notes: true},
			Notes: []Note{{Pos: Pos{"f", col, line}}}}}
		Locate(list, func(string) ([]byte, error) { return []byte(src), nil })
		d := list[0]
		if d.End != (Pos{}) {
			replaced(t, src, Edit{d.Pos, d.End, ""})
		}
		for _, e := range d.Edits {
			got := replaced(t, src, e)
			if len(got)-len(src) != len(now)-len(old) || utf8.ValidString(now) && !utf8.ValidString(got) {
				t.Fatalf("%q becomes %q", src, got)
			}
		}
	})
}
