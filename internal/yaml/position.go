package yaml

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/value"
)

// Pos returns the position of n in the file.
func (d *Document) Pos(n *Node) diag.Pos {
	return diag.Pos{File: d.File, Line: int(n.Line), Col: int(n.Col)}
}

// Written returns a plain scalar as it is in the source, for example 6.10. If it does not find the scalar there, it
// returns the text of the value.
func (d *Document) Written(n *Node) string {
	text := string(value.AppendText(nil, n.Value))
	at := d.skipProperties(d.offset(int(n.Line), int(n.Col)))
	if n.Line == 0 || at >= len(d.src) {
		return text
	}
	src := d.src[at:]
	if end := bytes.IndexAny(src, " \t\r\n,]}"); end >= 0 {
		src = src[:end]
	}
	if v, wrong := resolve(string(src)); wrong != noFault || !value.Identical(v, n.Value) {
		return text
	}
	return string(src)
}

// PosIn returns the position of the byte at off in the string n. It reads the source again, so only diagnostics cost
// time, not every node. If the source does not match the string, it returns the position of n.
func (d *Document) PosIn(n *Node, off int) diag.Pos {
	text, ok := n.Text()
	if !ok || off < 0 || off > len(text) {
		return d.Pos(n)
	}
	s := &d.search
	if s.line != n.Line || s.col != n.Col || off < s.from {
		*s = d.searchIn(n)
	}
	switch {
	case s.at >= len(d.src):
	case s.quote != 0:
		return d.posAt(d.inQuotes(s, off))
	default:
		if found, ok := d.inLines(s, text, off); ok {
			return d.posAt(found)
		}
	}
	return d.Pos(n)
}

// search is the state of a search for positions in one scalar. Diagnostics are usually in the order of the text. Then
// nothing is read twice.
type search struct {
	line, col uint32 // position of the scalar
	quote     byte   // the quote around the text; 0 for block and plain scalars

	at   int // offset in the source; for block and plain scalars, the start of a line
	from int // offset in the text that corresponds to at

	core, next int // for block and plain scalars: length of this line's text, and offset of the next line
	start, pos int // offsets of this line's text in the source and in the scalar's text
}

func (d *Document) searchIn(n *Node) search {
	s := search{line: n.Line, col: n.Col, at: d.skipProperties(d.offset(int(n.Line), int(n.Col)))}
	if s.at >= len(d.src) {
		return s
	}
	switch c := d.src[s.at]; c {
	case '"', '\'':
		s.quote = c
		s.at++
	case '|', '>':
		s.at = d.nextLine(s.at)
	}
	return s
}

// skipProperties returns the offset of a scalar's text. It skips an anchor and a tag at offset at, and the white
// space and comments after them.
func (d *Document) skipProperties(at int) int {
	src := d.src
	for at < len(src) && (src[at] == '&' || src[at] == '!') {
		for at < len(src) && !isSpace(src[at]) {
			at++
		}
		for at < len(src) && (isSpace(src[at]) || src[at] == '#') {
			if src[at] == '#' {
				at = d.nextLine(at)
			} else {
				at++
			}
		}
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// nextLine returns the offset of the line after the one that contains at.
func (d *Document) nextLine(at int) int {
	if i := bytes.IndexByte(d.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.src)
}

// inLines returns the offset in the source of byte off of text, a block or plain scalar. It compares line by line,
// because folding and indentation only change the blanks at both ends of a line. It returns false if the source does
// not match text.
func (d *Document) inLines(s *search, text string, off int) (int, bool) {
	for s.at < len(d.src) {
		if s.core == 0 && !d.matchLine(s, text) {
			return 0, false
		}
		if s.core > 0 && (off <= s.pos+s.core || len(text)-s.pos <= s.core) {
			return max(s.at, s.start+off-s.pos), true
		}
		s.at, s.from, s.core = s.next, s.pos+s.core, 0
	}
	return 0, false
}

// matchLine compares the line at s.at with text. It returns false if they differ. A blank line matches any text.
func (d *Document) matchLine(s *search, text string) bool {
	s.next, s.pos = d.nextLine(s.at), s.from
	line := d.src[s.at:s.next]
	core := bytes.Trim(line, " \t\r\n")
	if len(core) == 0 {
		return true
	}
	s.start, s.core = s.at+bytes.Index(line, core), len(core)
	s.pos += len(text[s.pos:]) - len(strings.TrimLeft(text[s.pos:], " \t\n"))
	rest := text[s.pos:]
	if !strings.HasPrefix(rest, string(core)) && !strings.HasPrefix(string(core), rest) {
		s.core = 0
		return false
	}
	return true
}

// inQuotes returns the offset in the source of byte off of a quoted scalar.
func (d *Document) inQuotes(s *search, off int) int {
	for s.from < off && s.at < len(d.src) {
		width, length := 1, 1 // number of bytes in the source and in the text
		switch c := d.src[s.at]; {
		case isSpace(c):
			width, length = foldedBlanks(d.src[s.at:], off-s.from)
		case c == '\'' && s.quote == '\'':
			width = 2
		case c == '\\' && s.quote == '"':
			width, length = escape(d.src[s.at:])
		}
		if length > off-s.from {
			break
		}
		s.at += width
		s.from += length
	}
	return min(s.at, len(d.src))
}

// foldedBlanks returns the number of bytes of the white space at the start of src, in the source and in the text. The
// white space is up to limit blanks, or line breaks and the blanks around them. A single line break becomes a space;
// of several line breaks, the first is dropped.
func foldedBlanks(src []byte, limit int) (width, length int) {
	breaks := 0
	for width < len(src) && isSpace(src[width]) {
		if src[width] == '\n' {
			breaks++
		}
		width++
	}
	if breaks == 0 {
		width = min(width, limit)
		return width, width
	}
	return width, max(1, breaks-1)
}

// escape returns the number of bytes of the escape at the start of src, in the source and in the text. src is YAML or
// JSON.
func escape(src []byte) (width, length int) {
	if len(src) < 2 {
		return 1, 0
	}
	switch src[1] {
	case 'x':
		return escapedRune(src, 4)
	case 'u':
		return escapedRune(src, 6)
	case 'U':
		return escapedRune(src, 10)
	case 'N', '_':
		return 2, 2
	case 'L', 'P':
		return 2, 3
	case '\n', '\r': // an escaped line break is dropped
		width = 2
		for width < len(src) && isSpace(src[width]) {
			width++
		}
		return width, 0
	}
	return 2, 1
}

// escapedRune returns the number of bytes of an escape in the source and in the text. In the source, it takes width
// bytes, or twice as many for a surrogate pair in JSON.
func escapedRune(src []byte, width int) (int, int) {
	if len(src) < width {
		return len(src), 0
	}
	var r rune
	for _, c := range src[2:width] {
		r = r<<4 | rune(hexDigit(c))
	}
	switch {
	case r >= 0xd800 && r < 0xdc00 && len(src) > width+1 && src[width] == '\\' && src[width+1] == 'u':
		return 2 * width, 4
	case !utf8.ValidRune(r):
		return width, len(string(utf8.RuneError))
	}
	return width, utf8.RuneLen(r)
}

func hexDigit(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}
