package buffer

import (
	"testing"

	"bindc/diag"
)

const mixed = "\ufeffa: '🙂名'\r\nb: x\rc: e\u0301\n"

// Places in UTF-16 and in UTF-8 convert to offsets and back, whatever the line breaks.
func TestPlacesConvertToOffsetsAndBack(t *testing.T) {
	text := New(mixed)
	if n := text.Lines(); n != 4 {
		t.Fatalf("there are %d lines, expected 4", n)
	}
	for _, units := range []Units{UTF16, UTF8} {
		for off := range mixed + "." {
			if off > 0 && off < len(mixed) && mixed[off-1] == '\r' && mixed[off] == '\n' {
				continue // inside a line break
			}
			if got := text.Offset(text.Place(off, units), units); got != off {
				t.Errorf("units %d: offset %d is at %v, which is offset %d", units, off, text.Place(off, units), got)
			}
		}
	}
	emoji := len("\ufeffa: '🙂")
	if got, want := text.Place(emoji, UTF16), (Place{0, 7}); got != want {
		t.Errorf("after the emoji the place is %v, expected %v", got, want)
	}
	if got, want := text.Place(emoji, UTF8), (Place{0, 11}); got != want {
		t.Errorf("in UTF-8, the place after the emoji is %v, expected %v", got, want)
	}
}

// A place inside a character or outside the text is moved to the nearest offset before it.
func TestInvalidPlacesMoveToOffsetBefore(t *testing.T) {
	text := New("a🙂\nb")
	for p, want := range map[Place]int{{0, 2}: 1, {0, 99}: 5, {1, 99}: 7, {9, 0}: 7, {0, 1 << 31}: 5} {
		if got := text.Offset(p, UTF16); got != want {
			t.Errorf("%v is offset %d, expected %d", p, got, want)
		}
	}
	if got := text.Offset(Place{0, 3}, UTF8); got != 1 {
		t.Errorf("a place inside a character is offset %d, expected 1", got)
	}
}

// Columns of diagnostics count characters; a byte order mark does not count.
func TestAtCountsColumnsInCharacters(t *testing.T) {
	text := New(mixed)
	for _, test := range []struct {
		line, col int
		want      string
	}{{1, 1, "a: "}, {1, 4, "'🙂"}, {1, 6, "名'"}, {2, 4, "x\r"}, {3, 4, "e\u0301"}, {4, 1, ""}, {9, 1, ""}} {
		off := text.At(diag.Pos{Line: test.line, Col: test.col}, true)
		if got := mixed[off:]; len(got) < len(test.want) || got[:len(test.want)] != test.want {
			t.Errorf("%d:%d is before %q, expected %q", test.line, test.col, got, test.want)
		}
	}
	if off := New("a\u2028b\nc").At(diag.Pos{Line: 2, Col: 1}, true); off != 4 {
		t.Errorf("the line after a line separator of YAML begins at %d, expected 4", off)
	}
	if off := New("a\u2028b\nc").At(diag.Pos{Line: 2, Col: 1}, false); off != 6 {
		t.Errorf("in a manifest, the second line begins at %d, expected 6", off)
	}
}

func TestTokensEndInTheirLine(t *testing.T) {
	for text, want := range map[string]string{"a::b: 1": "a::b", "'it''s' x": "'it'", `"a\"b" c`: `"a\"b"`,
		"%{lookup('x')} y": "%{lookup('x')}", "${x} y": "${x}", "'open": "'", "[a, b]": "[", "word\nnext": "word",
		"role => x": "role", "名前: x": "名前", "": "", "\nx": ""} {
		if got := text[:New(text).TokenEnd(0)]; got != want {
			t.Errorf("the token of %q is %q, expected %q", text, got, want)
		}
	}
}

func TestWordAtFindsWholeKey(t *testing.T) {
	for _, test := range []struct {
		text string
		off  int
		want string
	}{{"app::port: 1", 0, "app::port"}, {"app::port: 1", 9, "app::port"}, {"%{lookup('a::b')}", 11, "a::b"},
		{"x  y", 2, ""}, {"a:", 2, "a"}, {"- 名前", 5, "名前"}} {
		text := New(test.text)
		from, to := text.WordAt(test.off)
		if got := test.text[from:to]; got != test.want {
			t.Errorf("the word at %d of %q is %q, expected %q", test.off, test.text, got, test.want)
		}
	}
}

// Offsets before and after a change can be followed; those in the changed part cannot.
func TestOffsetsFollowChanges(t *testing.T) {
	old := New("one two three")
	now := old.Replace(4, 7, "2222")
	for off, want := range map[int]int{0: 0, 4: 4, 7: 8, 8: 9, 13: 14} {
		if got, ok := now.Follow(old, off); !ok || got != want {
			t.Errorf("offset %d is now at %d (%v), expected %d", off, got, ok, want)
		}
	}
	if got, ok := New("x: 1\na: 1\n").Follow(New("a: 1\n"), 0); !ok || got != 5 {
		t.Errorf("after an insertion before it, the offset 0 is %d, %v; expected 5", got, ok)
	}
	if got, ok := now.Follow(old, 5); ok {
		t.Errorf("an offset in the changed part is still found, at %d", got)
	}
}
