package yaml

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"bindc/internal/diag"
	"bindc/internal/value"
)

// Pos is the place of n in the file.
func (d *Document) Pos(n *Node) diag.Pos {
	return diag.Pos{File: d.File, Line: int(n.Line), Col: int(n.Col)}
}

// Written is a plain scalar as it stands in the file; where it cannot be found, as its value is written.
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

// PosIn is the place in the file of byte off of the text of the string n. Nodes do not carry what this needs: the
// source is read again, which costs time only for what is reported. Where source and text cannot be matched it is the
// place of n.
func (d *Document) PosIn(n *Node, off int) diag.Pos {
	text, ok := n.Text()
	if !ok || off < 0 || off > len(text) {
		return d.Pos(n)
	}
	at := d.skipProperties(d.offset(int(n.Line), int(n.Col)))
	if at >= len(d.src) {
		return d.Pos(n)
	}
	switch d.src[at] {
	case '"', '\'':
		return d.posAt(d.inQuotes(at, off))
	case '|', '>':
		at = d.nextLine(at)
	}
	if found, ok := d.inLines(at, text, off); ok {
		return d.posAt(found)
	}
	return d.Pos(n)
}

// skipProperties is the start of the text of a scalar behind anchor, tag, and the blanks, line breaks and comments that
// follow those.
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

// nextLine is the start of the line after that of at.
func (d *Document) nextLine(at int) int {
	if i := bytes.IndexByte(d.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.src)
}

// inLines finds byte off of text, a block or plain scalar whose source starts at byte at. Folding and indentation
// change nothing but the blanks at the ends of lines, so it matches what is between them, line by line.
func (d *Document) inLines(at int, text string, off int) (int, bool) {
	for pos := 0; at < len(d.src); {
		next := d.nextLine(at)
		core := string(bytes.Trim(d.src[at:next], " \t\r\n"))
		if core == "" {
			at = next
			continue
		}
		start := at + bytes.Index(d.src[at:next], []byte(core))
		pos += len(text[pos:]) - len(strings.TrimLeft(text[pos:], " \t\n"))
		rest := text[pos:]
		if !strings.HasPrefix(rest, core) && !strings.HasPrefix(core, rest) {
			return 0, false
		}
		if off <= pos+len(core) || len(rest) <= len(core) {
			return max(at, start+off-pos), true
		}
		pos += len(core)
		at = next
	}
	return 0, false
}

// inQuotes finds byte off of the text of a quoted scalar whose first quote is at byte at.
func (d *Document) inQuotes(at, off int) int {
	double := d.src[at] == '"'
	at++
	for off > 0 && at < len(d.src) {
		width, length := 1, 1 // bytes of source, bytes of text
		switch c := d.src[at]; {
		case isSpace(c):
			width, length = foldedBlanks(d.src[at:], off)
		case c == '\'' && !double:
			width = 2
		case c == '\\' && double:
			width, length = escape(d.src[at:])
		}
		if length > off {
			break
		}
		at += width
		off -= length
	}
	return min(at, len(d.src))
}

// foldedBlanks measures what src starts with: at most limit blanks, or line breaks with the blanks around them, of
// which the first break is a space if it is the only one, and else stands for nothing.
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

// escape measures the escape src starts with, of YAML or JSON.
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
	case '\n', '\r': // joins the lines
		width = 2
		for width < len(src) && isSpace(src[width]) {
			width++
		}
		return width, 0
	}
	return 2, 1
}

// escapedRune measures an escape by number, of width bytes; a surrogate pair of JSON, of twice as many.
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
