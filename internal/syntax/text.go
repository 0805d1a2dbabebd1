package syntax

import (
	"cmp"
	"sort"
	"unicode/utf8"

	"bindc/diag"
)

// Text converts offsets in a file to lines and columns.
type Text struct {
	file, src string
	lines     []int // offset of the start of each line
}

// NewText returns a Text for the file with the content src.
func NewText(file, src string) *Text {
	t := &Text{file: file, src: src, lines: []int{0}}
	for i := range len(src) {
		if src[i] == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// Line returns the line number of off, counted from 1.
func (t *Text) Line(off int) int { return sort.SearchInts(t.lines, off+1) }

// Pos returns the position of off. Its column counts characters.
func (t *Text) Pos(off int) diag.Pos {
	line := t.Line(off)
	return diag.Pos{File: t.file, Line: line, Col: utf8.RuneCountInString(t.src[t.lines[line-1]:off]) + 1}
}

// Report adds errs to diags. Errors without a code get the code "syntax".
func (t *Text) Report(errs []SyntaxError, diags *diag.List) {
	for _, e := range errs {
		diags.Add(diag.Diagnostic{Pos: t.Pos(e.Off), Code: cmp.Or(e.Code, "syntax"), Message: e.Message, Hint: e.Hint,
			Fix: e.Fix})
	}
}
