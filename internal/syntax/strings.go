package syntax

import (
	"strings"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// quoting describes the syntax of a kind of string.
type quoting struct {
	closed       bool   // ends at a double quote instead of the end of the text
	interpolates bool   // ${expression} and $name are interpolated
	data         bool   // '$' before a digit or capital letter is text
	escapes      string // characters that may follow a backslash; L is a line break
}

const allEscapes = `\$'"rntsuL`

var (
	inYAML   = quoting{interpolates: true, data: true, escapes: "$"}
	inQuotes = quoting{closed: true, interpolates: true, escapes: allEscapes}
)

// usualParts is the initial capacity for the parts of a string.
const usualParts = 4

// template collects the parts of a string while the parser reads it.
type template struct {
	parts []*expr.Node
	off   int    // offset where the text after the last part starts
	from  int    // offset where the text that is not in buf yet starts
	buf   []byte // text since the last part, if an escape makes it differ from the source
}

// template parses a string from p.pos on, including its closing quote. The lexer must not have read a token after
// p.pos.
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

// plain returns the number of bytes from p.pos on that have no special meaning.
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

func (t *template) text(p *parser, end int) string {
	if t.buf == nil {
		return p.src[t.from:end]
	}
	return string(append(t.buf, p.src[t.from:end]...))
}

func (t *template) add(p *parser, part *expr.Node) {
	if t.parts == nil {
		t.parts = make([]*expr.Node, 0, usualParts)
	}
	t.parts = append(t.parts, part)
	t.off, t.from, t.buf = p.pos, p.pos, nil
}

// flush adds the text from the last part to end as a part, if it is not empty.
func (t *template) flush(p *parser, end int) {
	if s := t.text(p, end); s != "" {
		t.add(p, p.constant(t.off, value.FromString(s)))
	}
}

// replace replaces the n bytes at p.pos with s in the text.
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

// codePoint reads an escape such as \u0041 or \u{1F600}. As in Puppet, any other \u is text.
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

// dollar reads the dollar sign at p.pos and the variable or expression after it, if there is one.
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

// cryptLength returns the length of a password hash of crypt(3) at the start of s, such as $6$salt$hash. Its dollar
// signs do not begin variables; otherwise the salt would silently disappear. A "${" ends the hash.
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

// fieldLength returns the number of leading bytes of s that are in chars.
func fieldLength(s, chars string) int { return len(s) - len(strings.TrimLeft(s, chars)) }

// names reports whether s, the text after a dollar sign, begins with a variable name.
func (q quoting) names(s string) bool {
	if !q.data {
		return variableEnd(s, 0) > 0
	}
	s = strings.TrimPrefix(s, "::")
	return s != "" && (isLower(s[0]) || s[0] == '_')
}

// interpolation reads a ${expression} at p.pos.
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
		if p.tok.kind == tEOF || p.tok.kind == tQuote { // the quote may belong to the enclosing string
			if p.err != nil && p.err.Off == p.origOff(len(p.src)) { // replace the error about an unexpected end
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

// bareVariable turns the current token into a variable if it is a bare word or number in ${name}, ${name[key]} or
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
