package syntax

import (
	"cmp"
	"slices"
	"strings"

	"bindc/internal/expr"
)

// heredoc is the content of a heredoc: the lines between the line with @(TAG) and the line that ends it.
type heredoc struct {
	text  string // without the margin
	read  quoting
	lines []heredocLine

	begin, end int // offsets in the source, including the line that ends the heredoc
}

// heredocLine maps the start of a line in a heredoc's text to its offset in the source.
type heredocLine struct{ off, src int }

// heredoc reads the @(TAG) at the current position and the text of this heredoc. The text begins on the next line, or
// after the previous heredoc that begins on this line.
func (l *lexer) heredoc() token {
	spec, _, ok := strings.Cut(l.src[l.pos+2:], ")")
	if !ok || strings.Contains(spec, "\n") {
		l.fail(l.pos, "expected ) after the tag of the heredoc", "")
		return token{}
	}
	t := token{kind: tHeredoc, off: l.pos, end: l.pos + len("@()") + len(spec), doc: &heredoc{}}
	tag := l.heredocSpec(spec, t.doc)
	begin := l.jump
	if begin == 0 {
		begin = t.end + lineLen(l.src[t.end:]) + 1
	}
	if l.err != nil {
		return t
	}
	if !l.heredocText(tag, begin, t.doc) {
		l.fail(l.pos, "the heredoc is not closed: expected a line with "+tag, "")
	}
	return t
}

// heredocSpec parses the content of @(), which is TAG:syntax/escapes, and returns the tag.
func (l *lexer) heredocSpec(spec string, doc *heredoc) (tag string) {
	spec, escapes, escaping := strings.Cut(spec, "/")
	tag, syntax, hasSyntax := strings.Cut(spec, ":")
	tag, syntax = trimBlank(tag), trimBlank(syntax)
	if n := len(tag); n > 1 && tag[0] == '"' && tag[n-1] == '"' {
		doc.read.interpolates = true
		tag = trimBlank(tag[1 : n-1])
	}
	switch {
	case tag == "":
		l.fail(l.pos, "expected a tag in @(), such as @(END)", "")
	case hasSyntax && !isSyntaxName(syntax):
		l.fail(l.pos, "expected a syntax name after : in the heredoc's tag", "")
	}
	if escaping {
		doc.read.escapes = l.heredocEscapes(trimBlank(escapes))
	}
	return tag
}

func (l *lexer) heredocEscapes(escapes string) string {
	if escapes == "" {
		return `\trnsuL$`
	}
	for i, c := range escapes {
		if !strings.ContainsRune("trnsuL$", c) {
			l.fail(l.pos, "a heredoc has no escape "+string(c), "the escapes are t, r, n, s, u, L and $")
		} else if strings.ContainsRune(escapes[:i], c) {
			l.fail(l.pos, "the heredoc has the escape "+string(c)+" twice", "")
		}
	}
	return `\` + escapes
}

func isSyntaxName(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) && s[i] != '+' {
			return false
		}
	}
	return len(s) > 1 && isLower(s[0])
}

func trimBlank(s string) string { return strings.TrimFunc(s, isBlankOrNewline) }

// heredocText reads the text of a heredoc, which begins at offset begin, and makes the lexer skip it. It returns
// false if no line ends the heredoc.
func (l *lexer) heredocText(tag string, begin int, doc *heredoc) bool {
	for at := begin; at < len(l.src); {
		end := min(at+lineLen(l.src[at:])+1, len(l.src))
		if e, ok := heredocEnd(l.src[at:end], tag); ok {
			doc.take(l.src[begin:at], begin, e)
			l.jump = end
			doc.begin, doc.end = begin, end
			return true
		}
		at = end
	}
	return false
}

type ending struct {
	margin string // indentation that is removed from each line
	chomp  bool   // whether the last line break is removed
}

// heredocEnd parses line, for example '| - TAG'. It returns false if line does not end the heredoc.
func heredocEnd(line, tag string) (e ending, ok bool) {
	rest := strings.TrimLeftFunc(line, isBlankOrNewline)
	margin := line[:len(line)-len(rest)]
	if s, ok := cutMark(rest, "|", tag); ok {
		e.margin, rest = margin, s
	}
	if s, ok := cutMark(rest, "-", tag); ok {
		e.chomp, rest = true, s
	}
	return e, trimBlank(rest) == tag
}

// cutMark removes mark from the start of s, unless s is the tag itself.
func cutMark(s, mark, tag string) (rest string, ok bool) {
	s = trimBlank(s)
	if s == tag {
		return s, false
	}
	return strings.CutPrefix(s, mark)
}

// take sets the text of the heredoc to lines without the margin. begin is the offset of lines in the source.
func (d *heredoc) take(lines string, begin int, e ending) {
	var text strings.Builder
	text.Grow(len(lines))
	for at := 0; at < len(lines); {
		line := lines[at:min(at+lineLen(lines[at:])+1, len(lines))]
		bare := strings.TrimPrefix(line, e.margin)
		d.lines = append(d.lines, heredocLine{text.Len(), begin + at + len(line) - len(bare)})
		text.WriteString(bare)
		at += len(line)
	}
	d.text = text.String()
	if e.chomp {
		d.text = strings.TrimSuffix(strings.TrimSuffix(d.text, "\n"), "\r")
	}
}

// origin says where a source comes from: it is the text of the heredoc doc. outer is the origin of the source around
// the heredoc; it is nil if that source is a file.
type origin struct {
	doc   *heredoc
	outer *origin
}

// sourceOff converts an offset in the heredoc's text to an offset in its source.
func (d *heredoc) sourceOff(off int) int {
	i, found := slices.BinarySearchFunc(d.lines, off, func(l heredocLine, off int) int {
		return cmp.Compare(l.off,
			off)
	})
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return d.lines[i].src + off - d.lines[i].off
}

func (p *parser) heredoc() *expr.Node {
	doc := p.tok.doc
	sub := parser{lexer: lexer{src: doc.text, origin: &origin{doc, p.origin}}, depth: p.depth}
	n := sub.template(doc.read)
	n.Off = p.origOff(p.tok.off)
	if sub.err != nil {
		p.err = cmp.Or(p.err, sub.err)
	}
	p.advance()
	return n
}
