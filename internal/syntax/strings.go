package syntax

import (
	"strings"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// quoting describes the syntax of a string.
type quoting struct {
	closed       bool   // it ends at a double quote, not at the end of the text
	interpolates bool   // ${expression} and $name interpolate
	data         bool   // a $ before a digit or a capital letter is text
	escapes      string // the characters that may follow a backslash; L is a line break
}

const allEscapes = `\$'"rntsuL`

var (
	inYAML   = quoting{interpolates: true, data: true, escapes: "$"}
	inQuotes = quoting{closed: true, interpolates: true, escapes: allEscapes}
)

// usualParts is a capacity that is enough for most strings.
const usualParts = 4

// template is a string with interpolations that is being read.
type template struct {
	parts []*expr.Node
	off   int    // the start of the text since the last part
	from  int    // the start of the part of it that is not in buf
	buf   []byte // its start, once an escape made it differ from the source
}

// template reads a string from pos to its end and passes the end. No token may have been read beyond pos.
func (p *parser) template(q quoting) *expr.Node {
	start := p.pos
	t := template{off: p.pos, from: p.pos}
	for p.err == nil {
		n := p.plain(q)
		p.pos += n
		if p.pos == len(p.src) {
			break
		}
		switch p.src[p.pos] {
		case '"':
			p.pos++
			return t.node(p, start, p.pos-1)
		case '\\':
			p.escape(q, &t)
		case '$':
			p.dollar(q, &t)
		}
	}
	if q.closed {
		p.fail(start-1, `the string is not closed: expected "`, "")
	}
	return t.node(p, start, p.pos)
}

// plain returns the number of bytes from pos that have no special meaning.
func (p *parser) plain(q quoting) int {
	rest := p.src[p.pos:]
	n := -1
	switch {
	case q.closed:
		n = strings.IndexAny(rest, `"\$`)
	case q.data:
		n = strings.IndexByte(rest, '$')
		if n > 0 && rest[n-1] == '\\' {
			n--
		}
	case q.interpolates:
		n = strings.IndexAny(rest, `\$`)
	case q.escapes != "":
		n = strings.IndexByte(rest, '\\')
	}
	if n < 0 {
		return len(rest)
	}
	return n
}

// text returns the text since the last part, up to end.
func (t *template) text(p *parser, end int) string {
	if t.buf == nil {
		return p.src[t.from:end]
	}
	return string(append(t.buf, p.src[t.from:end]...))
}

// add adds a part, which ends at pos.
func (t *template) add(p *parser, part *expr.Node) {
	if t.parts == nil {
		t.parts = make([]*expr.Node, 0, usualParts)
	}
	t.parts = append(t.parts, part)
	t.off, t.from, t.buf = p.pos, p.pos, nil
}

// flush makes a part of the text up to end, if there is any.
func (t *template) flush(p *parser, end int) {
	if s := t.text(p, end); s != "" {
		t.add(p, p.constant(t.off, value.FromString(s)))
	}
}

// replace replaces the n bytes at pos by s.
func (t *template) replace(p *parser, n int, s string) {
	t.buf = append(append(t.buf, p.src[t.from:p.pos]...), s...)
	p.pos += n
	t.from = p.pos
}

func (t *template) node(p *parser, start, end int) *expr.Node {
	if t.parts == nil {
		return p.constant(start, value.FromString(t.text(p, end)))
	}
	t.flush(p, end)
	return &expr.Node{Op: expr.Concat, Off: p.origOff(start), Kids: t.parts}
}

// escape reads the backslash at pos and what it escapes.
func (p *parser) escape(q quoting, t *template) {
	rest := p.src[p.pos+1:]
	if strings.HasPrefix(rest, "\r\n") {
		rest = rest[1:]
	}
	switch {
	case rest == "" || !q.escape(rest[0]):
		p.pos++
	case rest[0] == '\n':
		t.replace(p, len(p.src)-p.pos-len(rest)+1, "")
	case rest[0] == 'u':
		p.codePoint(t)
	default:
		t.replace(p, 2, unescaped(rest[0]))
	}
}

func (q quoting) escape(c byte) bool {
	if c == '\n' {
		c = 'L'
	} else if c == 'L' {
		return false
	}
	return strings.IndexByte(q.escapes, c) >= 0
}

func unescaped(c byte) string {
	switch c {
	case 'r':
		return "\r"
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 's':
		return " "
	}
	return string(rune(c))
}

// codePoint reads a \u0041 or \u{1F600}. A \u followed by something else is text, as in Puppet.
func (p *parser) codePoint(t *template) {
	rest := p.src[p.pos+2:]
	digits, n := "", 0
	if s, ok := strings.CutPrefix(rest, "{"); ok {
		if end := strings.IndexByte(s, '}'); end <= 6 {
			digits, n = s[:max(end, 0)], end+len(`\u{}`)
		}
	} else if len(rest) >= 4 {
		digits, n = rest[:4], len(`\u0000`)
	}
	switch r, ok := hex(digits); {
	case !ok:
		p.pos += len(`\u`)
	case !utf8.ValidRune(r):
		p.fail(p.pos, p.src[p.pos:p.pos+n]+" is not a Unicode character", "")
	default:
		t.replace(p, n, string(r))
	}
}

func hex(digits string) (n rune, ok bool) {
	for i := range len(digits) {
		switch c := digits[i]; {
		case isDigit(c):
			n = n<<4 + rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 + rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, digits != ""
}

// dollar reads the dollar sign at pos and what it interpolates.
func (p *parser) dollar(q quoting, t *template) {
	rest := p.src[p.pos+1:]
	switch {
	case !q.interpolates:
		p.pos++
	case strings.HasPrefix(rest, "{"):
		t.flush(p, p.pos)
		n := p.interpolation()
		t.add(p, n)
	case q.names(rest):
		t.flush(p, p.pos)
		start, end := p.pos, variableEnd(p.src, p.pos+1)
		p.pos = end
		t.add(p, p.variable(start, p.src[start+1:end]))
	case q.data:
		p.pos += max(1, cryptLength(p.src[p.pos:]))
	default:
		p.pos++
	}
}

// cryptLength returns how much of s is a password hash of crypt(3), $6$salt$hash. No dollar sign in it begins a
// variable; otherwise the salt would silently vanish. A ${ ends it.
func cryptLength(s string) int {
	scheme := fieldLength(s[1:], "abcdefghijklmnopqrstuvwxyz0123456789")
	if scheme == 0 || !isDigit(s[1]) {
		return 0
	}
	end := 0
	for at := 1 + scheme; strings.HasPrefix(s[at:], "$") && !strings.HasPrefix(s[at:], "${"); at = end {
		end = at + 1 + fieldLength(s[at+1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./=,")
	}
	return end
}

// fieldLength returns the number of leading bytes of s that are in set.
func fieldLength(s, chars string) int { return len(s) - len(strings.TrimLeft(s, chars)) }

// names reports whether s, which follows a dollar sign, begins with the name of a variable.
func (q quoting) names(s string) bool {
	if !q.data {
		return variableEnd(s, 0) > 0
	}
	s = strings.TrimPrefix(s, "::")
	return s != "" && (isLower(s[0]) || s[0] == '_')
}

// interpolation reads the ${expression} at pos.
func (p *parser) interpolation() *expr.Node {
	start := p.pos
	p.pos += len("${")
	p.prev = token{kind: tOp, text: "{"}
	p.open++
	p.advance()
	if p.at("}") {
		p.fail(start, "expected an expression in ${}, found none", `write \${ for the text ${`)
	}
	p.bareVariable()
	n := p.assignment()
	if !p.at("}") {
		if p.tok.kind == tEOF || p.tok.kind == tQuote { // the quote may end the enclosing string
			if p.err != nil && p.err.Off == p.origOff(len(p.src)) { // the error about the end of the text
				p.err = nil
			}
			p.fail(start, "${ is not closed: expected }", `close it with }, or write \${ for the text ${`)
		}
		p.unexpected("} after the expression in ${}")
	}
	p.open--
	p.pos, p.tok = p.tok.end, token{}
	return n
}

// bareVariable reads a word or number as a variable if it is the whole of ${name}, or begins ${name[key]} or
// ${name.method}.
func (p *parser) bareVariable() {
	switch p.tok.kind {
	case tName, tWord, tNumber:
	case tKeyword:
		if p.tok.text == "true" || p.tok.text == "false" {
			return
		}
	default:
		return
	}
	after := p.peek()
	if after.is(tOp, "}") || after.is(tOp, ".") || after.is(tOp, "[") && !after.spaced {
		p.checkVariable(p.tok.off, p.tok.text)
		p.tok.kind = tVar
	}
}
