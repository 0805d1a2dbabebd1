package yaml

import (
	"bytes"
	"math"
	"sort"
	"unicode/utf8"

	"bindc/diag"
)

// Document is one parsed file.
type Document struct {
	File string
	Root *Node // nil if the file has no data

	src   []byte
	lines []int // the offset in src at which each line starts
	ascii bool
	plain bool // no tab, byte order mark, or line break other than \n

	marks  map[int][]int // by index of a long line: the offset of every markEach-th character
	search search        // of the last PosIn
}

const byteOrderMark = "\ufeff"

// newDocument keeps src, finds its lines and checks its bytes. problem is the offset of the first byte that is not
// UTF-8 or a refused character, or -1.
func newDocument(file string, src []byte, refused func(rune) bool) (d *Document, problem int) {
	return (&Scratch{}).newDocument(file, src, refused)
}

// newDocument is like the function, and keeps the lines in s.
func (s *Scratch) newDocument(file string, src []byte, refused func(rune) bool) (d *Document, problem int) {
	if s.lines == nil {
		s.lines = make([]int, 0, bytes.Count(src, []byte{'\n'})+1)
	}
	d = &Document{File: file, src: src, lines: append(s.lines[:0], 0), ascii: true, plain: true}
	defer func() { s.lines = d.lines }()
	if bytes.HasPrefix(src, []byte(byteOrderMark)) {
		d.lines[0] = len(byteOrderMark)
		d.plain = false
	}
	problem = -1
	for i := 0; i < len(src); {
		if c := src[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		d.ascii = d.ascii && r < utf8.RuneSelf
		d.plain = d.plain && (r == '\n' || r >= 0x80 && !isBreak(r) && r != '\ufeff')
		if problem < 0 && (r == utf8.RuneError && size == 1 || refused(r)) {
			problem = i
		}
		if r == '\r' && i+1 < len(src) && src[i+1] == '\n' {
			size = 2
		}
		i += size
		if isBreak(r) {
			d.lines = append(d.lines, i)
		}
	}
	return d, problem
}

// isBreak reports whether r ends a line by the rules of YAML 1.1, which the library counts lines by.
func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// refusedInYAML reports whether libyaml refuses r everywhere.
func refusedInYAML(r rune) bool {
	switch {
	case r < ' ':
		return r != '\t' && r != '\n' && r != '\r'
	case r < 0xa0:
		return r >= 0x7f && r != '\u0085'
	}
	return r == 0xfffe || r == 0xffff
}

// refusedInJSON is always false: the parser of strings reports control characters.
func refusedInJSON(rune) bool { return false }

// Mentions reports whether the source contains text.
func (d *Document) Mentions(text string) bool { return bytes.Contains(d.src, []byte(text)) }

// offset returns the offset of a line and column, both counted from 1.
func (d *Document) offset(line, col int) int {
	if line < 1 || line > len(d.lines) {
		return len(d.src)
	}
	off, left := d.lines[line-1], max(0, col-1)
	if marks := d.marksOf(line - 1); marks != nil {
		i := min(left/markEach, len(marks)-1)
		off, left = marks[i], left-i*markEach
	}
	for ; left > 0 && off < len(d.src); left-- {
		_, size := utf8.DecodeRune(d.src[off:])
		off += size
	}
	return off
}

// markEach is the number of characters between two marks of a long line. Lines with fewer bytes have no marks.
const markEach = 512

// marksOf returns the marks of a line, or nil if it is short. They save counting characters from the start of a long
// line.
func (d *Document) marksOf(line int) []int {
	start, end := d.lines[line], len(d.src)
	if line+1 < len(d.lines) {
		end = d.lines[line+1]
	}
	if end-start < markEach {
		return nil
	}
	marks := d.marks[line]
	if marks == nil {
		for i, off := 0, start; off < end; i++ {
			if i%markEach == 0 {
				marks = append(marks, off)
			}
			_, size := utf8.DecodeRune(d.src[off:])
			off += size
		}
		if d.marks == nil {
			d.marks = map[int][]int{}
		}
		d.marks[line] = marks
	}
	return marks
}

// Begins reports whether n is the first text of its line, apart from indentation and dashes.
func (d *Document) Begins(n *Node) bool {
	start, end := d.offset(int(n.Line), 1), d.offset(int(n.Line), int(n.Col))
	return len(bytes.Trim(d.src[start:end], " \t-?\ufeff")) == 0
}

// hideSecrets hides all lines of a file that cannot be parsed if it may contain secrets: which lines have them is
// unknown.
func (d *Document) hideSecrets(diags *diag.List) {
	if bytes.Contains(d.src, []byte("sensitive")) || bytes.Contains(d.src, []byte("ENC[")) {
		diags.Hide(d.File, 0, math.MaxInt)
	}
}

// posAt returns the position of a byte of the source.
func (d *Document) posAt(off int) diag.Pos {
	c := cursor{doc: d, line: max(0, sort.SearchInts(d.lines, off+1)-1)}
	if marks := d.marksOf(c.line); marks != nil {
		i := max(0, sort.SearchInts(marks, off+1)-1)
		c.off, c.col = marks[i], i*markEach
	}
	line, col := c.advance(off)
	return diag.Pos{File: d.File, Line: int(line), Col: int(col)}
}

// cursor converts increasing offsets to positions in linear time, even if one line has the whole file.
type cursor struct {
	doc  *Document
	line int // index in doc.lines
	off  int // the offset counted so far; before the start of the line, nothing is counted
	col  int // the column of off, from 0
}

// advance returns the line and column of off, which must not be less than the last offset.
func (c *cursor) advance(off int) (line, col uint32) {
	lines := c.doc.lines
	for c.line+1 < len(lines) && lines[c.line+1] <= off {
		c.line++
	}
	c.line = max(c.line, 0)
	if start := lines[c.line]; c.off < start {
		c.off, c.col = start, 0
	}
	if off > c.off {
		c.col += utf8.RuneCount(c.doc.src[c.off:off])
		c.off = off
	}
	return uint32(c.line + 1), uint32(c.col + 1)
}

// report collects the diagnostics of one file.
type report struct {
	doc    *Document
	opts   Options
	diags  *diag.List
	failed bool // an error was found
}

// fail adds an error. Its texts are complete; they are not formats.
func (r *report) fail(pos diag.Pos, code diag.Code, message, hint string, notes ...diag.Note) {
	r.failed = true
	r.diags.Add(diag.Diagnostic{Pos: pos, Severity: diag.Error, Code: code, Message: message, Hint: hint, Notes: notes})
}

// warn adds a warning.
func (r *report) warn(pos diag.Pos, code diag.Code, message, hint string, notes ...diag.Note) {
	r.diags.Add(diag.Diagnostic{Pos: pos, Severity: diag.Warning, Code: code, Message: message, Hint: hint,
		Notes: notes})
}
