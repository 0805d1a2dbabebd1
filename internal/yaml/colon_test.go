package yaml

import (
	"testing"

	"bindc/diag"
	"bindc/internal/fix"
)

// corrected applies the corrections of all diagnostics to src.
func corrected(src string, diags *diag.List) string {
	list := diags.Sorted()
	diag.Locate(list, func(string) ([]byte, error) { return []byte(src), nil })
	var edits []diag.Edit
	for _, d := range list {
		edits = append(edits, d.Edits...)
	}
	return string(fix.Apply([]byte(src), edits))
}

func TestMissingColonIsCorrected(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"value below a word", "a: b\n  port 80\nc: 1\n", "a: b\nport: 80\nc: 1\n"},
		{"value below a number", "h:\n  a: 80\n    b x\n", "h:\n  a: 80\n  b: x\n"},
		{"value below a boolean in a list", "h:\n  - a: true\n      b 2\n", "h:\n  - a: true\n    b: 2\n"},
		{"name of a parameter", "a::b: ntpsec\n  web:::user www-data\n", "a::b: ntpsec\nweb:::user: www-data\n"},
		{"name of a parameter without a blank", "a: b\n  web::port:80\n", "a: b\nweb::port: 80\n"},
		{"value in quotes", "a: /srv\n  b \"x y\" # c\n", "a: /srv\nb: \"x y\" # c\n"},
		{"two lines, one with an arrow", "a: b\n  c 1\n  d => [2, 3]\n", "a: b\nc: 1\nd: [2, 3]\n"},
		{"entry in braces", "h: {a: 1, b 2}\n", "h: {a: 1, b: 2}\n"},
		{"line of a hash", "a: 1\nb 2\nc: 3\n", "a: 1\nb: 2\nc: 3\n"},
		{"key in quotes with a blank", "a: 1\n\"b c\" 2\nd: 3\n", "a: 1\n\"b c\": 2\nd: 3\n"},
		{"equals sign", "a: 1\nb = 2\nc: 3\n", "a: 1\nb: 2\nc: 3\n"},
		{"key above a list", "a: 1\nb::c\n  - 1\nd: 3\n", "a: 1\nb::c:\n  - 1\nd: 3\n"},
		{"key above a hash", "h:\n  a: 1\n  b\n    c: 2\n", "h:\n  a: 1\n  b:\n    c: 2\n"},
		{"first key of the file above a list", "a::b\n  - 1\n  - 2\nc: 3\n", "a::b:\n  - 1\n  - 2\nc: 3\n"},
		{"first key of the file above a hash", "h\n  a: 1\n", "h:\n  a: 1\n"},
	} {
		var diags diag.List
		Parse("f", []byte(c.src), Options{LastKeyWins: true}, &diags)
		if got := corrected(c.src, &diags); got != c.want {
			t.Errorf("%s: %q is corrected to %q, expected %q\n%s", c.name, c.src, got, c.want, summary(&diags))
		}
	}
}

func TestTextOfSeveralLinesIsNotAMissingColon(t *testing.T) {
	for _, src := range []string{
		"a: some text\n  more text\n",
		"a: word\n  and then more text\n",
		"a: word\n  more text\n  with a line of four\n",
		"a:\n  word\n  more text\n",
		"a: 'word\n  more text'\n",
		"a: >\n  word\n  more text\n",
		"a: quiet\n  console=tty0\n",
		"a: host:80\n  other:81\n",
		"- word\n- word\n  more text\n",
		"a: [word,\n  more text]\n",
		"h: {a b: }\n",
		"h: {'a b'}\n",
	} {
		var diags diag.List
		if _, ok := Parse("f", []byte(src), Options{LastKeyWins: true}, &diags); !ok || !diags.Empty() {
			t.Errorf("%q: expected no diagnostics, got\n%s", src, summary(&diags))
		}
	}
}
