package yaml

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/testmode"
)

// The expected position is that of the X in the source. It is the X in the text of the value at key k.
func TestPosInFindsByteOfScalar(t *testing.T) {
	tests := []struct{ name, src string }{
		{"plain", "k: abX\n"},
		{"plain, wide characters", "ü: é\nk: aéX\n"},
		{"plain with comment", "k: a b X # c\n"},
		{"plain, several lines", "k: a b\n   c\n\n   d X e # c\n"},
		{"plain in flow", "k: a\nl: [m, n]\n"},
		{"plain after a byte order mark", "\ufeffk: abX\n"},
		{"plain, CRLF", "a: b\r\nk: c\r\n d X\r\n"},
		{"single quotes", "k: 'a''b''éX'\n"},
		{"single quotes, several lines", "k: 'a   \n\n\n  b''\n  c X'\n"},
		{"double quotes", `k: "a\"b\tc\\X"` + "\n"},
		{"double quotes, numbers", `k: "\x41\u00e9\U0001F600\_\N\L\P é X"` + "\n"},
		{"double quotes, several lines", "k: \"a  \n  b\n\n  c \\\n    d X\"\n"},
		{"double quotes, escaped blank", "k: \"a\\n  \\\n  \\  X\"\n"},
		{"literal", "k: |\n  a\n  éb X\n"},
		{"literal, deep", "a:\n  - k: |-\n      a\n\n\n        b X\n"},
		{"literal with indicator", "k: |2\n    a\n    b X\n"},
		{"literal with comment and blank lines", "k: |+ # X\n\n  a\n\n  X\n"},
		{"literal, CRLF", "k: |\r\n  a\r\n  b X\r\n"},
		{"folded", "k: >\n  a\n  b\n\n  c\n    d\n  e X\n"},
		{"anchor and tag", "k: &a !!str abX\n"},
		{"anchor and tag on other lines", "k: &a\n  # c\n  !!str\n  'a X'\n"},
		{"anchor before a block", "k: &a |\n  X\n"},
	}
	for _, test := range tests {
		line, col := lastX(test.src)
		if line == 0 {
			continue
		}
		var diags diag.List
		d, ok := Parse("f", []byte(test.src), Options{}, &diags)
		if !ok {
			t.Errorf("%s: %s", test.name, summary(&diags))
			continue
		}
		n := find(d.Root, "k")
		text, _ := n.Text()
		if got := d.PosIn(n, strings.LastIndex(text, "X")); got.Line != line || got.Col != col {
			t.Errorf("%s: X in %q is at %v, want %d:%d", test.name, text, got, line, col)
		}
	}
}

// lastX returns the line and column of the last X in src.
func lastX(src string) (line, col int) {
	src = strings.TrimPrefix(src, byteOrderMark)
	i := strings.LastIndex(src, "X")
	if i < 0 {
		return 0, 0
	}
	start := strings.LastIndex(src[:i], "\n") + 1
	return strings.Count(src[:i], "\n") + 1, len([]rune(src[start:i])) + 1
}

// find returns the value of the first key with that name, at any depth.
func find(n *Node, key string) *Node {
	if _, v, ok := n.Lookup(key); ok {
		return v
	}
	for i := range n.Kids {
		if v := find(&n.Kids[i], key); v != nil {
			return v
		}
	}
	return nil
}

func TestPosInWithoutMatchReturnsNode(t *testing.T) {
	var diags diag.List
	src := "a: 1\nb: &x xyz\nc: *x\nd: ''\n"
	d, _ := Parse("f", []byte(src), Options{}, &diags)
	for _, test := range []struct {
		key       string
		off       int
		line, col int
	}{
		{"a", 0, 1, 4}, {"a", 7, 1, 4}, // n is not a string
		{"b", 2, 2, 9}, {"b", 3, 2, 10}, {"b", 4, 2, 4}, {"b", -1, 2, 4}, // columns at and after the end of the line
		{"c", 2, 2, 9}, // through an alias; the position is in its definition
		{"d", 0, 4, 5},
	} {
		_, n, _ := d.Root.Lookup(test.key)
		if got := d.PosIn(n, test.off); got.Line != test.line || got.Col != test.col {
			t.Errorf("%s+%d is at %v, want %d:%d", test.key, test.off, got, test.line, test.col)
		}
	}
}

func TestNodesHavePositions(t *testing.T) {
	src := "é: [ü, {ß: x}]\nb:\n  - 'y'\n"
	var diags diag.List
	d, _ := Parse("f", []byte(src), Options{}, &diags)
	var got []string
	var walk func(n *Node)
	walk = func(n *Node) {
		got = append(got, fmt.Sprintf("%s %d:%d", n.Describe(), d.Pos(n).Line, d.Pos(n).Col))
		for i := range n.Kids {
			walk(&n.Kids[i])
		}
	}
	walk(d.Root)
	want := "a hash 1:1, the string 'é' 1:1, a list 1:4, the string 'ü' 1:5, a hash 1:8, the string 'ß' 1:9, the string 'x' 1:12, " +
		"the string 'b' 2:1, a list 3:3, the string 'y' 3:5"
	if strings.Join(got, ", ") != want {
		t.Errorf("positions are\n%s, want\n%s", strings.Join(got, ", "), want)
	}
}

// PosIn returns the same positions in any order of calls, for several scalars, and in lines with marks.
func TestPosInDoesNotDependOnOrderOfCalls(t *testing.T) {
	testmode.SkipUnderRace(t)
	long := strings.Repeat("é${x} ", 400)
	src := "a: \"" + strings.Repeat(`\u00e9 x  \t`, 300) + "\"\n" +
		"b: '" + strings.Repeat("it''s\n   \n  more  ", 200) + "'\n" +
		"c: |\n  " + strings.Repeat("line ${y}\n\n   x\n  ", 200) + "\n" +
		"d: >\n  " + long + "\n  " + long + "\n" +
		"e: " + long + "\n  " + long + "\nf: [" + strings.Repeat("xé, ", 500) + "'last one']\n"
	parsed := func() *Document {
		var diags diag.List
		d, ok := Parse("x.yaml", []byte(src), Options{}, &diags)
		if !ok {
			t.Fatal(diags.Sorted())
		}
		return d
	}
	d, r := parsed(), rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		i := r.IntN(6)
		n := &d.Root.Kids[2*i+1]
		if i == 5 {
			n = &n.Kids[len(n.Kids)-1]
		}
		text, _ := n.Text()
		off := r.IntN(len(text) + 1)
		got := d.PosIn(n, off)
		d.search, d.marks = search{}, map[int][]int{}
		for line := range d.lines {
			d.marks[line] = d.lines[line : line+1] // keep only the first mark
		}
		want := d.PosIn(n, off)
		if d.search, d.marks = (search{}), nil; r.IntN(2) == 0 {
			d.PosIn(n, off)
		}
		if got != want {
			t.Fatalf("byte %d of key %d is at %v, expected %v", off, i, got, want)
		}
	}
}
