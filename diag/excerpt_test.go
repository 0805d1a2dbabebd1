package diag

import (
	"strings"
	"testing"
)

// The caret is directly below its character, also after wide or combining characters. A line with its number fits in
// 80 columns.
func TestCaretIsBelowItsCharacter(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	for _, c := range []struct {
		name, line string
		col        int
		text       string
		before     int
	}{
		{"plain", "a: 1", 4, "a: 1", 3},
		{"no column", "a: 1", 0, "a: 1", 0},
		{"column after the end", "a: 1", 9, "a: 1", 4},
		{"empty", "", 1, "", 0},
		{"wide characters before the caret", "名前: x", 5, "名前: x", 6},
		{"caret below a wide character", "a名b", 2, "a名b", 1},
		{"half-width", "ﾅﾏｴ: x", 6, "ﾅﾏｴ: x", 5},
		{"combining character", "e\u0301: x", 5, "e\u0301: x", 3},
		{"column inside a grapheme", "xe\u0301: y", 3, "xe\u0301: y", 1},
		{"emoji", "🙂: x", 4, "🙂: x", 4},
		{"family emoji is one grapheme", "👩\u200d👩\u200d👧: x", 8, "👩\u200d👩\u200d👧: x", 4},
		{"flag emoji is one grapheme", "🇩🇪: x", 5, "🇩🇪: x", 4},
		{"tabs", "\ta:\tx", 5, "    a:    x", 10},
		{"control characters are escaped", "a\x1b[2J: x", 8, `a\x1b[2J: x`, 10},
		{"text from right to left", "שלום: x", 7, "שלום: x", 6},
		{"start of a long line", long, 10, long[:69] + "…", 9},
		{"middle of a long line", long, 101, "…" + long[54:123] + "…", 47},
		{"end of a long line", long, 200, "…" + long[131:200], 69},
		{"start of a very long line", strings.Repeat(long, 100), 10, long[:69] + "…", 9},
		{"middle of a very long line", strings.Repeat(long, 100), 10101, "…" + long[54:123] + "…", 47},
		{"end of a very long line", strings.Repeat(long, 100), 20000, "…" + long[131:200], 69},
		{"column after the end of a very long line", strings.Repeat(long, 100), 20010, "…" + long[131:200], 70},
		{"middle of a very long line of wide characters", strings.Repeat("名", 10000), 5050,
			"…" + strings.Repeat("名", 34) + "…", 47},
		{"middle of a long line of wide characters",
			strings.Repeat("名", 100), 50, "…" + strings.Repeat("名", 34) + "…", 47},
	} {
		text, before := excerpt(c.line, c.col)
		if text != c.text || before != c.before {
			t.Errorf("%s: shown is %q, the caret behind %d columns, expected %q and %d", c.name, text, before, c.text,
				c.before)
		}
	}
}
