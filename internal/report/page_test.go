package report

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"bindc/internal/lookup"
)

// A candidate takes at most 80 columns with and without colour, and colour only adds escape sequences.
func TestCandidateFits80ColumnsWithAndWithoutColour(t *testing.T) {
	shape := Explanation{Key: "k", Outcome: Outcome{Value: []byte(`1`)},
		Categories: Terms{{Name: "node", Value: "a"}}, Candidates: []Candidate{
			{Layer: "site", When: Terms{{Name: "node", Value: "a"}}, At: "a.yaml:1:2",
				Outcome: Outcome{Value: []byte(`1`)}, State: lookup.Wins},
			{Layer: "site", At: "b.yaml:1:2", Outcome: Outcome{Value: []byte(`"` + strings.Repeat("é", 90) + `"`)},
				State: lookup.Hidden, Why: "hidden by a.yaml:1:2"}}}
	draw := func(color bool) string {
		var b strings.Builder
		p := &Page{Writer: bufio.NewWriter(&b), Screen: Screen{color, 80}}
		p.Explanation(&shape)
		p.Flush()
		return b.String()
	}
	plain, painted := draw(false), draw(true)
	want := "\x1b[1mk\x1b[0m = 1\n\n\x1b[2mFor node = a\x1b[0m\n\n\x1b[1mBindings, highest first\x1b[0m\n" +
		"  \x1b[32mwins         \x1b[0m  \x1b[36ma.yaml:1:2\x1b[0m  \x1b[2m(site)\x1b[0m\n" +
		"                 when node = a\n                 = 1\n" +
		"  \x1b[33mhidden       \x1b[0m  \x1b[36mb.yaml:1:2\x1b[0m  \x1b[2m(site)\x1b[0m\n" +
		"                 always\n                 = \"" + strings.Repeat("é", 59) + "…\n" +
		"                 \x1b[33mhidden by a.yaml:1:2\x1b[0m\n"
	if painted != want {
		t.Errorf("found\n%q\nwant\n%q", painted, want)
	}
	for _, style := range []string{bold, dim, green, yellow, cyan, "0"} {
		painted = strings.ReplaceAll(painted, "\x1b["+style+"m", "")
	}
	if painted != plain {
		t.Errorf("without colour\n%s\nwith\n%s", plain, painted)
	}
	for line := range strings.Lines(plain) {
		if n := columns(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// A string is cut where the terminal has no more room, but never within a grapheme.
func TestFittedCutsBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"plain", 5, "plain"},
		{"plainer", 5, "plai…"},
		{"two\n lines", 9, "two lines"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"cafe\u0301", 4, "cafe\u0301"},
		{"cafe\u0301s", 4, "caf…"},
		{"👩🏽\u200d💻!", 3, "👩🏽\u200d💻!"},
		{"👩🏽\u200d💻 at work", 3, "👩🏽\u200d💻…"},
		{"a\x1bb", 6, "a\x1bb"}, // shown as \x1b, which takes four columns
		{"a\x1bb", 5, "a…"},
	} {
		if got := fitted(c.text, c.most); got != c.want {
			t.Errorf("%q in %d columns: found %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// Omitted lookups are counted, and a request without categories is described as such.
func TestExplanationCountsOmittedLookupsAndMentionsMissingCategories(t *testing.T) {
	shape := Explanation{Key: "k", Outcome: Outcome{Value: []byte(`1`)},
		Lookups: []Explanation{{Key: "inner", Outcome: notFound()}}, Unexplained: 3}
	var b strings.Builder
	p := &Page{Writer: bufio.NewWriter(&b), Screen: Screen{Width: 80}}
	p.Explanation(&shape)
	p.Flush()
	const want = `k = 1

No category has a value for this request.

Nothing binds this key.

Lookups made for the value
  inner = not found

    Nothing binds this key.
  and 3 more that are not shown
`
	if b.String() != want {
		t.Errorf("found\n%s\nwant\n%s", b.String(), want)
	}
}

// A wrapped line is not too wide, even if its first word nearly fills it.
func TestWrappedLinesFitThePage(t *testing.T) {
	for _, c := range []struct{ indent, first, second, lines int }{{0, 1, 78, 1}, {0, 1, 79, 2}, {2, 1, 77, 2},
		{2, 1, 76, 1}, {0, 40, 39, 1}, {0, 40, 40, 2}, {0, 90, 1, 2}} {
		var b strings.Builder
		p := &Page{Writer: bufio.NewWriter(&b), Screen: Screen{Width: 80}}
		p.wrapped(c.indent, "", []string{strings.Repeat("a", c.first), strings.Repeat("b", c.second)})
		p.Flush()
		if n := strings.Count(b.String(), "\n"); n != c.lines {
			t.Errorf("%+v: %d lines:\n%s", c, n, b.String())
		}
	}
}

// A value in a table of Markdown has at most 200 columns.
func TestMarkdownCellHasAtMost200Columns(t *testing.T) {
	var out bytes.Buffer
	long := Outcome{Value: []byte(`"` + strings.Repeat("x", 300) + `"`)}
	draw := func(p *Page) { p.markdownRow([]Change{{Old: long, New: notFound()}}) }
	if err := Print(&out, Screen{}, draw); err != nil {
		t.Fatal(err)
	}
	cells := strings.Split(out.String(), " | ")
	if n := utf8.RuneCountInString(strings.Trim(cells[1], "`")); len(cells) != 3 || n != 200 {
		t.Errorf("%d cells, the value has %d columns:\n%s", len(cells), n, out.String())
	}
}

// Control characters are escaped with and without colour.
func TestPageEscapesControlCharacters(t *testing.T) {
	for _, color := range []bool{false, true} {
		p := &Page{Writer: bufio.NewWriter(io.Discard), Screen: Screen{color, 80}}
		if got := p.paint("", "a\x1b[2Jb"); strings.Contains(got, "\x1b") {
			t.Errorf("colour %v: %q", color, got)
		}
	}
}

// Groups of nodes are separated even if no key changes.
func TestGroupsOfNodesAreSeparated(t *testing.T) {
	var out bytes.Buffer
	err := Print(&out, Screen{}, func(p *Page) {
		changed := Effect{{Key: "k"}}
		p.Diff(&Diff{Nodes: []Group{{Nodes: []string{"a"}, Changes: changed}, {Nodes: []string{"b"}}}})
	})
	if err != nil || !strings.Contains(out.String(), "\n\n1 node\n") || strings.HasPrefix(out.String(), "\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// Nodes with the same effect are grouped, and nodes without an effect are skipped.
func TestGroupsNodesWithTheSameEffect(t *testing.T) {
	a, b := Effect{{Key: "a"}}, Effect{{Key: "b"}}
	got := Grouped([]string{"n1", "n2", "n3", "n4"}, []Effect{a, nil, b, a})
	if len(got) != 2 || strings.Join(got[0].Nodes, " ") != "n1 n4" || strings.Join(got[1].Nodes, " ") != "n3" {
		t.Errorf("%+v", got)
	}
}
