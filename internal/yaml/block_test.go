package yaml

import (
	"os"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/value"
)

// reused is the memory that all calls of readersAgree share.
var reused Scratch

// readersAgree reads src with the blockReader and with the library. If the blockReader accepts src, both must give the
// same tree with the same positions, and no diagnostics. readersAgree reports whether the blockReader accepts src.
func readersAgree(t *testing.T, src []byte) bool {
	d, problem := newDocument("f", src, refusedInYAML)
	if problem >= 0 {
		return false
	}
	got, ok := readBlocks(d, &reused)
	if !ok {
		return false
	}
	var diags diag.List
	ok = convert(d, Options{}, &diags)
	if found := summary(&diags); !ok || found != "" {
		t.Fatalf("%q is accepted, but the library finds %s", src, found)
	}
	if (got == nil) != (d.Root == nil) || got != nil && !same(t, got, d.Root) {
		t.Fatalf("%q is\n%s, by the library\n%s", src, show(got), show(d.Root))
	}
	return true
}

func same(t *testing.T, a, b *Node) bool {
	if a.Kind != b.Kind || a.Line != b.Line || a.Col != b.Col || !value.Identical(a.Value, b.Value) ||
		len(a.Kids) != len(b.Kids) {
		t.Logf("%s at %d:%d, by the library %s at %d:%d", a.Describe(), a.Line, a.Col, b.Describe(), b.Line, b.Col)
		return false
	}
	for i := range a.Kids {
		if !same(t, &a.Kids[i], &b.Kids[i]) {
			return false
		}
	}
	return true
}

// blocks lists files that the blockReader accepts.
var blocks = []string{
	"", "# c\n\n", "---\n", "--- # c\na: b", "a: b # c\nc:  'd''e'\n\n# f\ng: \"h\\n\\\"\"  # i\n",
	"a:\n  - b\n  -  c: d\n     e:\n     - f\n",
	"- a\n-\n- - b\n  - c\n-   - d\n-\n  e: f\n", "a:\nb: ~\nc: [] # x\nd: {}\ne: [a, 'b, c' , 12]\n",
	"a: {b: c, 'd' : [e, {}, ] , f g: {12: ~ },}\nb: [[]]\nc:\n- {a: b} # c\n- []\n",
	"é: ü # ö\nüü:\n  - é: ß\n",
	"a: |\n  b\n   c\n\n  d \n\nb: |-\n    x\n    \n\nc:\n  - |+\n   y\n\n\n", "a b: c d\n'e f' : g\n\"h\": i\n",
	"a: http://x:80/#y\nb::c: d:e\n-x: -1\n",
	"a: 0644\nb: 1_0\nc: yes\nd: 1.5\n12: x\n1.5: y\n", "<: a\n=: b\n.x: c\n", "a:\n    b:\n        c: 1\n    d: 2\n",
	"a: b\n  # c\nd:  # e\n # f\n  g: h\n",
}

func TestBlockReaderAgreesWithLibrary(t *testing.T) {
	for _, src := range blocks {
		if !readersAgree(t, []byte(src)) {
			t.Errorf("%q is not accepted", src)
		}
	}
}

// The blockReader gives up on files with diagnostics, and on syntax with a special meaning.
func TestBlockReaderGivesUpOnOtherSyntax(t *testing.T) {
	for _, src := range []string{
		"a: 1\na: 2\n", "a: {b: 1, b: 2}\n", "<<: {a: 1}\n", "a: 2001-01-01\n", "a: 99999999999999999999\n",
		"a: &x b\n", "a: *x\n", "a: !x b\n", "? a\n: b\n", "%YAML 1.1\n---\na: b\n", "a: b\n---\nc: d\n", "a: b\n...\n",
		"a: b\n  c\n", "a: 'b\n  c'\n", "a: \"b\\\n  c\"\n", "a: [b,\n c]\n", "a: >\n b\n", "a: |2\n   b\n",
		"a: |\n\n  b\n",
		"~: a\n", "no: a\n",
		"a: b: c\n", "a: 'b' c\n", "a: 'b'#c\n", "a: @b\n", "a:\tb\n", "a: b\r\n", "\ufeffa: b\n", "a: b\u2028\n",
		"a: \"\\x41\"\n",
		"a:\n  b: c\n d: e\n", "  a: b\n c: d\n", "a: b\n- c\n", "- a\nb: c\n", "a\n", "'a'\n", "[a]: b\n",
		"a: [b: c]\n", "a: [b, , c]\n",
		strings.Repeat("k", 1100) + ": v\n", strings.Repeat("- ", 100) + "a\n",
	} {
		if readersAgree(t, []byte(src)) {
			t.Errorf("%q is accepted", src)
		}
	}
}

func FuzzBlocks(f *testing.F) {
	for _, s := range append(blocks, seeds...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) { readersAgree(t, src) })
}

// At least nine in ten files of real sites are plain block YAML, and both readers agree on them.
func TestBlockReaderAcceptsMostRealFiles(t *testing.T) {
	accepted, files := 0, corpora(t)
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if readersAgree(t, src) {
			accepted++
		}
	}
	if accepted < len(files)*9/10 {
		t.Errorf("%d of %d files are accepted", accepted, len(files))
	}
}
