package fix

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"bindc/diag"
)

// Apply returns src with the edits applied. edits must be sorted and must not overlap.
func Apply(src []byte, edits []diag.Edit) []byte {
	lines := bytes.SplitAfter(src, []byte("\n"))
	var out []byte
	line, col := 0, 0 // position up to which src is copied to out; both count from 0, col in bytes
	upTo := func(p diag.Pos) []byte {
		var passed []byte
		for ; line < p.Line-1; line++ {
			passed = append(passed, lines[line][col:]...)
			col = 0
		}
		at := offset(lines[line], p.Col)
		passed = append(passed, lines[line][col:at]...)
		col = at
		return passed
	}
	for _, e := range edits {
		out = append(out, upTo(e.Pos)...)
		upTo(e.End)
		out = append(out, e.Text...)
	}
	for ; line < len(lines); line++ {
		out = append(out, lines[line][col:]...)
		col = 0
	}
	return out
}

// offset converts a column, which counts characters from 1, to a byte offset in line.
func offset(line []byte, col int) int {
	at := 0
	for ; col > 1; col-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}

// Diff writes the changed lines in the style of a patch, without context. It hides lines that may be sensitive.
func (c Change) Diff(w io.Writer, name string) error {
	old, now := bytes.Split(c.Old, []byte("\n")), bytes.Split(c.New, []byte("\n"))
	if _, err := fmt.Fprintf(w, "--- %s\n+++ %s\n", name, name); err != nil {
		return err
	}
	for i := range old {
		if bytes.Equal(old[i], now[i]) {
			continue
		}
		before, after := diag.Visible(string(old[i])), diag.Visible(string(now[i]))
		if c.Secret[i+1] || bytes.Contains(old[i], []byte("ENC[")) {
			before, after = hidden, hidden
		}
		if _, err := fmt.Fprintf(w, "@@ -%d +%d @@\n-%s\n+%s\n", i+1, i+1, before, after); err != nil {
			return err
		}
	}
	return nil
}

const hidden = "(this line may be sensitive and is not shown)"
