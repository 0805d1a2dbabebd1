package yaml

import (
	"testing"

	"bindc/diag"
)

// seeds lists inputs that often break YAML parsers.
var seeds = []string{
	"a: b\n", "- - a\n  - b\n- c\n", "? a\n: b\n? |\n  c\n: d\n", "a: |2-\n    x\n   y\n",
	"a: >\n x\n y\n\n z\n   w\n v\n",
	"{a: b, c: [d,\n e]}\n", "a: &x 1\nb: &x {<<: *x}\nc: *x\n", "a: \"x\\\n  y\\u00e9\n\n  z\"\n", "a: 'x''\n  y'#c\n",
	"%YAML 1.2\n%TAG ! tag:e,2000:\n---\na: !x 1\n", "a: b\r\nc: d\r", "\ufeffa: 0x1F\n...\n---\n",
	"a: !!int '3' # c\n#d\n",
	"a: 12:30:45.5\nb: 2001-12-14t21:59:43.10-05:00\nc: 1_000,0.5e+3\n", "- &a [*a]\n", "a\u2028 b\u0085\n",
	"[?a, {?}, : b]\n",
	`{"a": [1, 1.0, "\uD83D\uDE00", null], "a": true}`, "<<: [{a: 1}, {a: 2}]\na: 3\n<<: {a: 4}\n",
}

var jsonSeeds = []string{
	`{"a": [1, -0, 1.0, 1e3, true, false, null, "x"], "b": {"c": "2001-01-01"}}`,
	`["a\"\\\/\b\n\u00e9\uD83D\uDE00é"]`, `["\u0000", "\ud83d"]`, "{\"a\" : \"b\\tc\" , \n\"a\":2}\n",
	"[9223372036854775807, -9223372036854775808, 9007199254740993, 1.5e-7, -0.0, 1E+2]\n",
}

// properties checks what must hold for all inputs: parsing again gives the same result, and each position in each
// string can be computed.
func properties(t *testing.T, parse func(string, []byte, Options, *diag.List) (*Document, bool), src []byte) {
	var first, second diag.List
	d, ok := parse("f", src, Options{LastKeyWins: true}, &first)
	again, okAgain := parse("f", src, Options{LastKeyWins: true}, &second)
	if ok != okAgain || summary(&first) != summary(&second) || ok == first.Failed() {
		t.Fatalf("%v with %s, then %v with %s", ok, summary(&first), okAgain, summary(&second))
	}
	for _, found := range first.Sorted() {
		if found.Pos.Line < 1 || found.Pos.Line > lineCount(src) || found.Pos.Col < 1 {
			t.Fatalf("%s is at %v", found.Message, found.Pos)
		}
	}
	if !ok || d.Root == nil {
		return
	}
	if show(d.Root) != show(again.Root) {
		t.Fatalf("%s, then %s", show(d.Root), show(again.Root))
	}
	walk(t, d, d.Root)
}

func lineCount(src []byte) int {
	d, _ := newDocument("f", src, refusedInYAML)
	return len(d.lines)
}

func walk(t *testing.T, d *Document, n *Node) {
	if n.Line < 1 || int(n.Line) > len(d.lines) || n.Col < 1 {
		t.Fatalf("%s is at %d:%d of %d lines", n.Describe(), n.Line, n.Col, len(d.lines))
	}
	text, _ := n.Text()
	for off := 0; off <= min(len(text), 100); off++ {
		if pos := d.PosIn(n, off); pos.Line < int(n.Line) || pos.Line > len(d.lines) || pos.Col < 1 {
			t.Fatalf("byte %d of %q is at %v", off, text, pos)
		}
	}
	for i := range n.Kids {
		walk(t, d, &n.Kids[i])
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) { properties(t, Parse, src) })
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) { properties(t, ParseJSON, src) })
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"0644", "12:30:45.5", "-0x_", "2001-12-14 21:59:43 +05:30", "1_0,0.5e+3", "+.inf",
		":a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, problem := resolve(s)
		if again, p := resolve(s); p != problem || describeResolved(v, problem) != describeResolved(again, p) {
			t.Fatalf("%q is %v, then %v", s, v, again)
		}
	})
}
