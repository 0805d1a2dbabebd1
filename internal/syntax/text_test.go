package syntax

import (
	"fmt"
	"testing"

	"bindc/diag"
)

// Lines and columns are counted from 1, and columns in characters. A line break belongs to the line that it ends.
func TestPosCountsLinesAndCharactersFromOne(t *testing.T) {
	text := NewText("s.pp", "é b\n\nc")
	for off, want := range map[int]string{0: "1:1", 2: "1:2", 3: "1:3", 4: "1:4", 5: "2:1", 6: "3:1", 7: "3:2"} {
		at := text.Pos(off)
		if got := fmt.Sprintf("%d:%d", at.Line, at.Col); got != want || at.File != "s.pp" || text.Line(off) != at.Line {
			t.Errorf("offset %d is at %s, expected %s", off, got, want)
		}
	}
}

// An error without a code gets the given code.
func TestReportsErrorsWithTheirCode(t *testing.T) {
	var diags diag.List
	errs := []SyntaxError{{Off: 0, Message: "one"}, {Off: 2, Message: "two", Code: "catalog"}}
	NewText("s.pp", "a\nb").Report(errs, &diags)
	found := diags.Sorted()
	if len(found) != 2 || found[0].Code != "syntax" || found[1].Code != "catalog" || found[1].Pos.Line != 2 {
		t.Errorf("reported is %v", found)
	}
}
