package yaml

import (
	"strings"
	"unicode/utf8"

	"bindc/internal/value"
)

// blockReader is a fast reader for the YAML of nearly all data files: hashes and lists in block style, scalars on one
// line, literal blocks, and hashes and lists in brackets on one line. It gives up at anything else, and at anything
// that must be reported. The library then reads the whole file. FuzzBlocks checks that both agree.
//
// Its methods return false to give up. Otherwise they set off to the offset after the text that they have read.
type blockReader struct {
	src    string
	ascii  bool
	off    int
	line   uint32
	start  int // offset of the current line
	indent int // column of the next line, or of a hash or list inside the current line; -1 at the end of the file
	depth  int // number of open hashes and lists
	inFlow int // number of open brackets and braces
	*Scratch
}

const (
	maxBlocks = 64   // maximum depth, far below maxDepth
	maxKey    = 1000 // maximum length of a key in bytes; the library allows 1024 characters
)

// readBlocks reads d with a blockReader. It returns false if the blockReader gives up. The nodes are valid until s is
// used again.
func readBlocks(d *Document, s *Scratch) (root *Node, ok bool) {
	if !d.plain {
		return nil, false
	}
	s.reset(2 * len(d.lines))
	r := blockReader{src: string(d.src), ascii: d.ascii, Scratch: s}
	r.nextLine()
	if r.indent == 0 && strings.HasPrefix(r.src[r.off:], "---") {
		r.off += len("---")
		if !r.endLine() {
			return nil, false
		}
	}
	if r.indent < 0 {
		return nil, true
	}
	n, ok := r.block()
	return &n, ok && r.indent < 0
}

func (r *blockReader) node() Node {
	before := r.src[r.start:r.off]
	if r.ascii {
		return Node{Line: r.line, Col: uint32(len(before)) + 1}
	}
	return Node{Line: r.line, Col: uint32(utf8.RuneCountInString(before)) + 1}
}

// peek returns the byte at r.off+n. At the end of the file, it returns a line break.
func (r *blockReader) peek(n int) byte {
	if r.off+n < len(r.src) {
		return r.src[r.off+n]
	}
	return '\n'
}

func (r *blockReader) blanks() {
	for r.off < len(r.src) && r.src[r.off] == ' ' {
		r.off++
	}
}

// nextLine moves to the next line that is neither empty nor a comment, and sets indent.
func (r *blockReader) nextLine() {
	for r.off < len(r.src) {
		r.line++
		r.start = r.off
		r.blanks()
		if r.peek(0) == '#' {
			r.comment()
		}
		if r.peek(0) != '\n' {
			r.indent = r.off - r.start
			return
		}
		r.off++
	}
	r.indent = -1
}

func (r *blockReader) comment() {
	if i := strings.IndexByte(r.src[r.off:], '\n'); i >= 0 {
		r.off += i
	} else {
		r.off = len(r.src)
	}
}

// endLine skips blanks, a comment and the line break, and moves to the next line. It returns false if there is other
// text before the line break.
func (r *blockReader) endLine() bool {
	end := r.off
	r.blanks()
	if r.peek(0) == '#' && r.off > end {
		r.comment()
	}
	if r.peek(0) != '\n' {
		return false
	}
	r.off++
	r.nextLine()
	return true
}

// atDash reports whether an element of a block list begins at r.off.
func (r *blockReader) atDash() bool { return r.peek(0) == '-' && isBlank(r.peek(1)) }

// colon returns the offset after the colon if the text before r.off is a key. Otherwise it returns 0.
func (r *blockReader) colon() int {
	at := r.off
	for at < len(r.src) && r.src[at] == ' ' {
		at++
	}
	if at < len(r.src) && r.src[at] == ':' && (at+1 == len(r.src) || isBlank(r.src[at+1])) {
		return at + 1
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' }

// block reads a hash or list in block style whose entries are in column r.indent.
func (r *blockReader) block() (n Node, ok bool) {
	if r.depth == maxBlocks {
		return Node{}, false
	}
	r.depth++
	n = r.node()
	if r.atDash() {
		n.Kind = Sequence
		n.Kids, ok = r.elements()
	} else {
		n.Kind = Mapping
		n.Kids, ok = r.entries()
	}
	r.depth--
	return n, ok
}

func (r *blockReader) elements() (kids []Node, ok bool) {
	indent, from := r.indent, len(r.open)
	for r.indent == indent && r.atDash() {
		r.off++
		kid, ok := r.valueAfter(indent, Sequence)
		if !ok {
			return nil, false
		}
		r.open = append(r.open, kid)
	}
	// A list may be in the same column as its key. Then it ends at the next key.
	return r.close(from), r.indent <= indent
}

func (r *blockReader) entries() (kids []Node, ok bool) {
	indent, from := r.indent, len(r.open)
	m := r.mapping()
	for r.indent == indent && !r.atDash() {
		key, ok := r.key(m, from)
		if !ok {
			return nil, false
		}
		val, ok := r.valueAfter(indent, Mapping)
		if !ok {
			return nil, false
		}
		r.open = append(r.open, key, val)
	}
	return r.close(from), r.indent < indent
}

// key reads a key of a hash and the colon after it. The hash's nodes so far are r.open[from:]; m finds duplicate keys
// in them.
func (r *blockReader) key(m *mapping, from int) (Node, bool) {
	start := r.off
	n, ok := r.scalar()
	if !ok || r.colon() == 0 {
		return Node{}, false
	}
	r.off = r.colon()
	text, _ := n.Text()
	m.kids = r.open[from:]
	_, twice := m.find(&n)
	return n, !twice && !n.isNoKey() && text != mergeKey && r.off-start <= maxKey
}

// valueAfter reads the value after a colon or dash. indent is the column of the enclosing hash or list, and kind is
// its kind.
func (r *blockReader) valueAfter(indent int, kind Shape) (Node, bool) {
	empty := r.node()
	if r.endLine() {
		return r.valueBelow(indent, kind, empty)
	}
	start := r.off
	if !r.atDash() {
		n, ok := r.inline(indent)
		if !ok {
			return Node{}, false
		}
		if r.colon() == 0 {
			return n, r.endLine()
		}
	}
	if kind == Mapping {
		return Node{}, false
	}
	r.off, r.indent = start, start-r.start // a list or hash that begins after the dash
	return r.block()
}

// valueBelow reads a value that begins on a line below its key or dash. If there is none, the value is empty, which
// means null.
func (r *blockReader) valueBelow(indent int, kind Shape, empty Node) (Node, bool) {
	if r.indent > indent || r.indent == indent && kind == Mapping && r.atDash() {
		return r.block()
	}
	return empty, true
}

func (r *blockReader) inline(indent int) (Node, bool) {
	switch r.peek(0) {
	case '|':
		if r.inFlow == 0 {
			return r.literal(indent)
		}
	case '[', '{':
		return r.flow()
	}
	return r.scalar()
}

func (r *blockReader) scalar() (Node, bool) {
	n := r.node()
	switch r.peek(0) {
	case '\'', '"':
		text, ok := r.quoted()
		n.Value = value.FromString(text)
		return n, ok
	}
	text, ok := r.plain()
	v, problem := resolve(text)
	n.Value = v
	return n, ok && problem == noFault
}

// indicators are the characters that a plain scalar cannot begin with.
const indicators = "?:,[]{}#&*!|>'\"%@`"

func (r *blockReader) plain() (string, bool) {
	if r.inFlow > 0 {
		return r.plainInFlow()
	}
	rest := r.src[r.off:]
	if strings.IndexByte(indicators, rest[0]) >= 0 || r.atDash() ||
		r.off == r.start && (strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "...")) {
		return "", false
	}
	end := 0
scan:
	for i := range len(rest) {
		switch rest[i] {
		case '\n':
			break scan
		case ' ':
			continue
		case ':':
			if i+1 == len(rest) || isBlank(rest[i+1]) {
				break scan
			}
		case '#':
			if rest[i-1] == ' ' {
				break scan
			}
		}
		end = i + 1
	}
	r.off += end
	return rest[:end], true
}

func (r *blockReader) quoted() (string, bool) {
	quote, start, escapes := r.src[r.off], r.off+1, false
	for at := start; at < len(r.src) && r.src[at] != '\n'; at++ {
		switch c := r.src[at]; {
		case c == '\\' && quote == '"', c == '\'' && quote == '\'' && strings.HasPrefix(r.src[at+1:], "'"):
			escapes = true
			at++
		case c == quote:
			r.off = at + 1
			if escapes {
				return unescape(r.src[start:at], quote)
			}
			return r.src[start:at], true
		}
	}
	return "", false
}

// unescape replaces the escapes in a quoted text. In double quotes, the only escapes it knows are \\, \", \n, \t and
// \r; it returns false for others.
func unescape(text string, quote byte) (string, bool) {
	if quote == '\'' {
		return strings.ReplaceAll(text, "''", "'"), true
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			b.WriteString(text)
			return b.String(), true
		}
		b.WriteString(text[:i])
		c := strings.IndexByte(`\"ntr`, text[i+1])
		if c < 0 {
			return "", false
		}
		b.WriteByte("\\\"\n\t\r"[c])
		text = text[i+2:]
	}
}

func (r *blockReader) literal(indent int) (Node, bool) {
	n := r.node()
	r.off++
	chomp := r.peek(0)
	if chomp == '-' || chomp == '+' {
		r.off++
	}
	if r.peek(0) != '\n' {
		return Node{}, false
	}
	r.off++
	first := r.off
	r.blanks()
	width := r.off - first
	if width <= indent || r.peek(0) == '\n' {
		return Node{}, false
	}
	text, ok := r.lines(first, width)
	if trimmed := strings.TrimRight(text, "\n"); chomp == '-' {
		text = trimmed
	} else if chomp != '+' {
		text = text[:min(len(trimmed)+1, len(text))]
	}
	n.Value = value.FromString(text)
	return n, ok
}

// lines returns the lines of the literal block at offset at. Each of them is blank or indented by at least width.
func (r *blockReader) lines(at, width int) (string, bool) {
	var b strings.Builder
	for at < len(r.src) {
		end := strings.IndexByte(r.src[at:], '\n')
		if end < 0 {
			return "", false
		}
		line := r.src[at : at+end]
		margin := line[:min(width, len(line))]
		if strings.Trim(margin, " ") != "" {
			break
		}
		b.WriteString(line[len(margin):])
		b.WriteByte('\n')
		at += end + 1
		r.line++
	}
	r.off = at - 1
	return b.String(), true
}
