package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexer splits src into tokens. To return to a position, restore a copy of the lexer.
type lexer struct {
	src    string
	pos    int
	prev   token        // token before pos; zero after a word of a bindings file
	inLine bool         // text precedes pos on its line
	jump   int          // offset after the heredocs that begin on this line, or 0
	origin *origin      // where src comes from if it is a heredoc; nil for a file
	err    *SyntaxError // first error; all following tokens are tEOF
}

// fail records an error, unless there already is one. From then on, all tokens are tEOF, which ends every loop of the
// parser.
func (l *lexer) fail(off int, message, hint string) {
	if l.err != nil {
		return
	}
	l.err = &SyntaxError{Off: l.origOff(off), Message: message, Hint: hint}
}

// origOff converts an offset in src, which may be the text of a heredoc, to an offset in the file.
func (l *lexer) origOff(off int) int {
	for o := l.origin; o != nil; o = o.outer {
		off = o.doc.sourceOff(off)
	}
	return off
}

func (l *lexer) next() token {
	l.skip()
	t := token{kind: tEOF, off: l.pos, end: l.pos}
	if l.err == nil && l.pos < len(l.src) {
		t = l.token()
	}
	if l.err != nil {
		t = token{kind: tEOF, off: l.pos, end: l.pos}
	}
	l.pos, l.prev, l.inLine = t.end, t, true
	return t
}

func (l *lexer) token() token {
	c := l.src[l.pos]
	switch {
	case isDigit(c):
		return l.number()
	case isLower(c) || c == '_':
		return l.word()
	case isUpper(c):
		return l.typeName()
	case c == ':' && l.has("::"):
		return l.qualified()
	case c == '$':
		return l.variable()
	case c == '\'':
		return l.singleQuoted()
	case c == '"':
		return token{kind: tQuote, off: l.pos, end: l.pos + 1}
	case c == '@' && l.has("@("):
		return l.heredoc()
	case c == '/' && !l.prev.endsOperand():
		if t, ok := l.regexp(); ok {
			return t
		}
	}
	return l.operator()
}

func (l *lexer) has(prefix string) bool { return strings.HasPrefix(l.src[l.pos:], prefix) }

func (l *lexer) skip() {
	for l.pos < len(l.src) && l.err == nil {
		switch c := l.src[l.pos]; {
		case c == '\n':
			l.newline()
		case c == '#':
			l.pos += lineLen(l.src[l.pos:])
		case c == '/' && l.has("/*"):
			l.comment()
		default:
			n := blank(l.src[l.pos:])
			if n == 0 {
				return
			}
			l.pos += n
		}
	}
}

// newline skips a line break and the text of heredocs that begins after it.
func (l *lexer) newline() {
	l.pos = max(l.pos+1, l.jump)
	l.jump, l.inLine = 0, false
}

func (l *lexer) comment() {
	n := strings.Index(l.src[l.pos+2:], "*/")
	if n < 0 {
		l.fail(l.pos, "the comment is not closed: expected */", "")
		return
	}
	l.pos += 2 + n + 2
	l.inLine = true
}

// lineLen returns the length of the first line of s, without its line break.
func lineLen(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// blank returns the length of the white space character at the start of s, or 0. A line break does not count.
func blank(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] < utf8.RuneSelf:
		if s[0] == ' ' || s[0] == '\t' || s[0] == '\r' {
			return 1
		}
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s); unicode.Is(unicode.Zs, r) {
		return n
	}
	return 0
}

func isBlankOrNewline(r rune) bool {
	return r == '\n' || r == '\t' || r == '\r' || unicode.Is(unicode.Zs, r)
}

// operators lists all operators. The first one that matches is used, so longer operators come before their prefixes.
var operators = [...]string{
	"<<|", "|>>",
	"@@", "==", "=>", "=~", "!=", "!~", "+=", "+>", "-=", "->", "~>", "<<", "<=", "<|", "<-", "<~", ">>", ">=", "|>",
	"[", "]", "(", ")", "{", "}", ".", ",", ";", "?", ":", "*", "%", "+", "-", "/", "=", "<", ">", "!", "|", "~", "@",
}

func (l *lexer) operator() token {
	for _, op := range operators {
		if l.has(op) {
			return token{kind: tOp, off: l.pos, end: l.pos + len(op), text: op, spaced: l.spaced(), first: !l.inLine}
		}
	}
	r, n := utf8.DecodeRuneInString(l.src[l.pos:])
	if unicode.IsPrint(r) || r == utf8.RuneError {
		l.fail(l.pos, "unexpected character "+l.src[l.pos:l.pos+n], "text belongs in quotes")
	} else {
		l.fail(l.pos, fmt.Sprintf("unexpected invisible character %U", r), "remove it")
	}
	return token{}
}

func (l *lexer) spaced() bool {
	r, _ := utf8.DecodeLastRuneInString(l.src[:l.pos])
	return l.pos == 0 || isBlankOrNewline(r)
}

func (l *lexer) word() token {
	end := bareWordEnd(l.src, l.pos)
	t := token{kind: tWord, off: l.pos, end: end, text: l.src[l.pos:end]}
	if keywords[t.text] {
		t.kind = tKeyword
	} else if isName(t.text) {
		t.kind = tName
	}
	return t
}

// qualified reads a name or a type that begins with '::'.
func (l *lexer) qualified() token {
	if l.pos+2 < len(l.src) && isUpper(l.src[l.pos+2]) {
		return l.typeName()
	}
	if bareWordEnd(l.src, l.pos) == l.pos {
		l.fail(l.pos, "expected a name after ::", "")
		return token{}
	}
	return l.word()
}

func (l *lexer) typeName() token {
	end := typeNameEnd(l.src, l.pos)
	if strings.HasPrefix(l.src[end:], "::") {
		l.fail(l.pos, "expected a capital letter after "+l.src[l.pos:end]+"::",
			"every part of a type's name begins with a capital letter")
	}
	return token{kind: tType, off: l.pos, end: end, text: strings.TrimPrefix(l.src[l.pos:end], "::")}
}

func (l *lexer) variable() token {
	end := variableEnd(l.src, l.pos+1)
	t := token{kind: tVar, off: l.pos, end: end, text: l.src[l.pos+1 : end]}
	if t.text == "" {
		l.fail(l.pos, "expected a variable name after $", "")
	}
	l.checkVariable(l.pos, t.text)
	return t
}

func (l *lexer) checkVariable(off int, name string) {
	switch {
	case name == "":
	case isDigit(name[0]) && !isMatchVariable(name):
		l.fail(off, "$"+name+" is not a variable: a name that begins with a digit must be a decimal number", "")
	case !isDigit(name[0]) && !isVariable(name):
		l.fail(off, "$"+name+" is not a valid variable name",
			"parts begin with a lower-case letter, only the last may begin with _")
	}
}

// regexp reads a regular expression. It returns false if there is no closing '/'.
func (l *lexer) regexp() (token, bool) {
	escaped := false
	for i := l.pos + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case escaped || c == '\\':
			escaped = !escaped
		case c == '/':
			pattern := strings.ReplaceAll(l.src[l.pos+1:i], `\/`, `/`)
			return token{kind: tRegexp, off: l.pos, end: i + 1, text: pattern}, true
		}
	}
	return token{}, false
}

// singleQuoted reads a single-quoted string, in which \\ and \' are the only escapes.
func (l *lexer) singleQuoted() token {
	for i := l.pos + 1; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case '\'':
			return token{kind: tString, off: l.pos, end: i + 1, text: unescapeSingle(l.src[l.pos+1 : i])}
		}
	}
	l.fail(l.pos, "the string is not closed: expected '", "")
	return token{}
}

var singleEscapes = strings.NewReplacer(`\\`, `\`, `\'`, `'`)

func unescapeSingle(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return singleEscapes.Replace(s)
}
