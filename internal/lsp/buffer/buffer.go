// Package buffer holds the text of a file. It converts between byte offsets, the positions that editors use, and the
// positions in diagnostics.
package buffer

import (
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"bindc/diag"
)

// Text is the text of a file. It is immutable.
type Text struct {
	Src    string
	starts []int // offset of each line, as editors count lines

	yamlOnce   sync.Once
	yamlStarts []int // offset of each line, as YAML counts lines
}

func New(src string) *Text {
	t := &Text{Src: src, starts: []int{0}}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' || src[i] == '\r' && !strings.HasPrefix(src[i+1:], "\n") {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// Place is a position in an editor. Line and Col count from 0.
type Place struct{ Line, Col uint32 }

// Units determines how an editor counts columns.
type Units uint8

// UTF16 is the default of the protocol. UTF8 counts bytes.
const (
	UTF16 Units = iota
	UTF8
)

// Offset returns the byte offset of p. If p is past the end of its line, it returns the end of the line.
func (t *Text) Offset(p Place, units Units) int {
	if int64(p.Line) >= int64(len(t.starts)) {
		return len(t.Src)
	}
	start, end := t.Line(int(p.Line))
	line := t.Src[start:end]
	if units == UTF8 {
		at := int(min(uint64(p.Col), uint64(len(line))))
		for at > 0 && at < len(line) && !utf8.RuneStart(line[at]) {
			at--
		}
		return start + at
	}
	left := uint64(p.Col)
	for i, r := range line {
		if left < width(r) {
			return start + i
		}
		left -= width(r)
	}
	return end
}

// Place returns the position of a byte offset.
func (t *Text) Place(off int, units Units) Place {
	off = max(0, min(off, len(t.Src)))
	n := sort.SearchInts(t.starts, off+1) - 1
	start, end := t.Line(n)
	before := t.Src[start:min(off, end)]
	if units == UTF8 {
		return Place{uint32(n), uint32(len(before))}
	}
	col := uint64(0)
	for _, r := range before {
		col += width(r)
	}
	return Place{uint32(n), uint32(col)}
}

// width returns the number of UTF-16 code units of r.
func width(r rune) uint64 {
	if r > 0xffff {
		return 2
	}
	return 1
}

// Line returns the range of line n without its line break. Lines count from 0.
func (t *Text) Line(n int) (start, end int) {
	start, end = t.starts[n], len(t.Src)
	if n+1 < len(t.starts) {
		end = t.starts[n+1]
	}
	return start, start + len(strings.TrimRight(t.Src[start:end], "\r\n"))
}

// LineOf returns the line that contains off. Lines count from 0.
func (t *Text) LineOf(off int) int { return sort.SearchInts(t.starts, off+1) - 1 }

func (t *Text) Lines() int { return len(t.starts) }

// yamlOnly contains the characters that end a line in YAML, but not in an editor.
const yamlOnly = "\u0085\u2028\u2029"

// At returns the byte offset of a position in a diagnostic. yaml says that the position counts lines as YAML does,
// where more characters end a line.
func (t *Text) At(p diag.Pos, yaml bool) int {
	if p.Line < 1 {
		return 0
	}
	starts := t.starts
	if yaml {
		starts = t.linesOfYAML()
	}
	if p.Line > len(starts) {
		return len(t.Src)
	}
	off := starts[p.Line-1]
	if off == 0 && strings.HasPrefix(t.Src, "\ufeff") {
		off = len("\ufeff")
	}
	for range p.Col - 1 {
		if off >= len(t.Src) || t.Src[off] == '\n' {
			break
		}
		_, size := utf8.DecodeRuneInString(t.Src[off:])
		off += size
	}
	return off
}

// linesOfYAML returns the offset of each line, as YAML counts lines.
func (t *Text) linesOfYAML() []int {
	t.yamlOnce.Do(func() {
		if t.yamlStarts = t.starts; strings.ContainsAny(t.Src, yamlOnly) {
			t.yamlStarts = yamlLines(t.Src)
		}
	})
	return t.yamlStarts
}

func yamlLines(src string) []int {
	starts := []int{0}
	for i, r := range src {
		if r == '\n' || strings.ContainsRune(yamlOnly, r) || r == '\r' && !strings.HasPrefix(src[i+1:], "\n") {
			starts = append(starts, i+utf8.RuneLen(r))
		}
	}
	return starts
}

// Replace returns a new Text with the range from from to to replaced by text.
func (t *Text) Replace(from, to int, text string) *Text {
	from, to = min(from, to), max(from, to)
	return New(t.Src[:from] + text + t.Src[to:])
}

// Follow converts an offset in the older text old to an offset in t. Text inserted at the offset comes before the
// result. ok is false if the text at the offset has changed.
func (t *Text) Follow(old *Text, off int) (now int, ok bool) {
	if t == old || t.Src == old.Src {
		return off, true
	}
	limit := min(len(t.Src), len(old.Src))
	same := 0
	for same < limit && t.Src[same] == old.Src[same] {
		same++
	}
	if off < same {
		return off, true
	}
	tail := 0
	for tail < limit-same && t.Src[len(t.Src)-1-tail] == old.Src[len(old.Src)-1-tail] {
		tail++
	}
	if off < len(old.Src)-tail {
		return off, off == same
	}
	return off + len(t.Src) - len(old.Src), true
}

// Pos returns the position of off for a diagnostic. It counts lines as editors do.
func (t *Text) Pos(file string, off int) diag.Pos {
	line := t.LineOf(off)
	return diag.Pos{File: file, Line: line + 1, Col: utf8.RuneCountInString(t.Src[t.starts[line]:off]) + 1}
}
