package yaml

import (
	"bytes"
	"math"
	"sort"
	"unicode/utf8"

	"bindc/diag"
)

// Document is a parsed YAML or JSON file.
type Document struct {
	File string
	Root *Node // nil if the file has no data

	src   []byte
	lines []int // offset of the start of each line
	ascii bool
	plain bool // the source has no tab, no byte order mark, and no line break other than \n

	marks  map[int][]int // for each long line, the offset of every markEach-th character
	search search        // state of the last call of PosIn
}

const byteOrderMark = "\ufeff"

// newDocument returns a document for src without a tree. problem is the offset of the first invalid byte, or of the
// first character for which refused returns true. It is -1 if there is none.
func newDocument(file string, src []byte, refused func(rune) bool) (d *Document, problem int) {
	return (&Scratch{}).newDocument(file, src, refused)
}

// newDocument is like the function newDocument, but reuses the memory in s.
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

// isBreak reports whether r is a line break in YAML 1.1. The library counts lines by this rule.
func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// refusedInYAML reports whether libyaml rejects r anywhere in a file.
func refusedInYAML(r rune) bool {
	switch {
	case r < ' ':
		return r != '\t' && r != '\n' && r != '\r'
	case r < 0xa0:
		return r >= 0x7f && r != '\u0085'
	}
	return r == 0xfffe || r == 0xffff
}

// refusedInJSON returns false, because the JSON parser reports control characters itself.
func refusedInJSON(rune) bool { return false }

// Mentions reports whether the source contains text.
func (d *Document) Mentions(text string) bool { return bytes.Contains(d.src, []byte(text)) }

// offset returns the byte offset of a line and column, which are counted from 1.
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

// markEach is the distance of the marks in a long line, in characters. Shorter lines have no marks.
const markEach = 512

// marksOf returns the offset of every markEach-th character in a line, or nil if the line is short. They save
// counting columns from the start of the line.
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

// Begins reports whether only indentation, dashes and question marks precede n on its line.
func (d *Document) Begins(n *Node) bool {
	start, end := d.offset(int(n.Line), 1), d.offset(int(n.Line), int(n.Col))
	return len(bytes.Trim(d.src[start:end], " \t-?\ufeff")) == 0
}

// hideSecrets makes diags hide the whole file if it may contain secrets. After a syntax error, it is unknown where
// they are.
func (d *Document) hideSecrets(diags *diag.List) {
	if bytes.Contains(d.src, []byte("sensitive")) || bytes.Contains(d.src, []byte("ENC[")) {
		diags.Hide(d.File, 0, math.MaxInt)
	}
}

func (d *Document) posAt(off int) diag.Pos {
	c := cursor{doc: d, line: max(0, sort.SearchInts(d.lines, off+1)-1)}
	if marks := d.marksOf(c.line); marks != nil {
		i := max(0, sort.SearchInts(marks, off+1)-1)
		c.off, c.col = marks[i], i*markEach
	}
	line, col := c.advance(off)
	return diag.Pos{File: d.File, Line: int(line), Col: int(col)}
}

// cursor converts increasing offsets to positions, in time linear in the size of the file, even if the file has only
// one line.
type cursor struct {
	doc  *Document
	line int // index in doc.lines
	off  int // last offset passed to advance
	col  int // column of off, counted from 0
}

// advance returns the line and column of off, which must not be less than the previous off.
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
	failed bool // an error was added
}

func (r *report) fail(pos diag.Pos, code diag.Code, message, hint string, notes ...diag.Note) {
	r.failed = true
	r.diags.Add(diag.Diagnostic{Pos: pos, Severity: diag.Error, Code: code, Message: message, Hint: hint, Notes: notes})
}

// correct is like fail for an error that fix corrects.
func (r *report) correct(pos diag.Pos, code diag.Code, message, hint string, fix diag.Fix) {
	r.failed = true
	r.diags.Add(diag.Diagnostic{Pos: pos, Severity: diag.Error, Code: code, Message: message, Hint: hint, Fix: fix})
}

func (r *report) warn(pos diag.Pos, code diag.Code, message, hint string, notes ...diag.Note) {
	r.diags.Add(diag.Diagnostic{Pos: pos, Severity: diag.Warning, Code: code, Message: message, Hint: hint,
		Notes: notes})
}
