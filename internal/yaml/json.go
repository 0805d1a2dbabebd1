package yaml

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/value"
)

// ParseJSON parses a JSON file. Integers are exact; a number with a point or exponent is a float. If there are
// errors, it adds them to diags and returns false. The document retains src, which must not be modified.
func ParseJSON(file string, src []byte, opts Options, diags *diag.List) (*Document, bool) {
	d, problem := newDocument(file, src, refusedInJSON)
	p := jsonParser{report: &report{doc: d, opts: opts, diags: diags}, src: src, off: d.lines[0]}
	p.at.doc = d
	if problem >= 0 {
		d.hideSecrets(diags)
		p.refuseBytes(problem)
		return nil, false
	}
	root, ok := p.document()
	if !ok || p.failed {
		d.hideSecrets(diags)
		return nil, false
	}
	d.Root = &root
	return d, true
}

// jsonParser is a recursive-descent parser for JSON. Its methods return false after a syntax error, which ends
// parsing.
type jsonParser struct {
	*report
	src   []byte
	off   int
	depth int
	at    cursor
}

func (p *jsonParser) document() (Node, bool) {
	p.blanks()
	if p.off == len(p.src) {
		return p.syntax("expected a JSON value, found an empty file")
	}
	root, ok := p.value()
	if !ok {
		return Node{}, false
	}
	p.blanks()
	if p.off < len(p.src) {
		return p.syntax("expected the end of the file after the JSON value, found " + p.found())
	}
	return root, true
}

func (p *jsonParser) syntax(message string) (Node, bool) {
	p.fail(p.doc.posAt(p.off), "json_syntax", message, p.hint())
	return Node{}, false
}

// hint returns a hint for syntax of other languages, and for a wrong or missing comma.
func (p *jsonParser) hint() string {
	rest, before := p.src[p.off:], bytes.TrimRight(p.src[:p.off], " \t\r\n")
	starts := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return bytes.HasPrefix(rest, []byte(w)) })
	}
	switch {
	case starts("//", "/*", "#"):
		return "remove the comment: JSON has no comments"
	case starts("'"):
		return "write double quotes"
	case starts("True", "False", "None"):
		return "JSON has true, false and null"
	case len(before) == 0:
		return ""
	}
	switch last := before[len(before)-1]; {
	case last == ',' && starts("}", "]"):
		return "remove the ',' before it"
	case last != ':' && starts("\"", "{", "["):
		return "write ',' between two entries"
	}
	return ""
}

func (p *jsonParser) found() string {
	if p.off >= len(p.src) {
		return "the end of the file"
	}
	r := []rune(string(p.src[p.off:min(len(p.src), p.off+4)]))[0]
	return strconv.QuoteRune(r)
}

func (p *jsonParser) blanks() {
	for p.off < len(p.src) && isSpace(p.src[p.off]) {
		p.off++
	}
}

// take skips blanks, and then the byte c if it is next. It reports whether it skipped c.
func (p *jsonParser) take(c byte) bool {
	p.blanks()
	if p.off < len(p.src) && p.src[p.off] == c {
		p.off++
		return true
	}
	return false
}

// value parses the value at the current position, which must not be a blank.
func (p *jsonParser) value() (Node, bool) {
	var n Node
	n.Line, n.Col = p.at.advance(p.off)
	if p.off == len(p.src) {
		return p.syntax("expected a value, found the end of the file")
	}
	switch c := p.src[p.off]; {
	case c == '{' || c == '[':
		return p.collection(c, n)
	case c == '"':
		text, ok := p.text()
		n.Value = value.FromString(text)
		return n, ok
	case c == '-' || isDigit(c):
		return p.number(n)
	}
	return p.word(n)
}

func (p *jsonParser) collection(open byte, n Node) (Node, bool) {
	if p.depth == maxDepth {
		p.fail(p.doc.Pos(&n), "yaml_depth", tooDeep, "")
		return Node{}, false
	}
	p.off++
	p.depth++
	defer func() { p.depth-- }()
	if open == '{' {
		return p.hash(n)
	}
	return p.list(n)
}

func (p *jsonParser) list(n Node) (Node, bool) {
	n.Kind = Sequence
	if p.take(']') {
		return n, true
	}
	for {
		p.blanks()
		kid, ok := p.value()
		if !ok {
			return Node{}, false
		}
		n.Kids = append(n.Kids, kid)
		if p.take(']') {
			return n, true
		}
		if !p.take(',') {
			return p.syntax("expected ',' or ']' after an element of a list, found " + p.found())
		}
	}
}

func (p *jsonParser) hash(n Node) (Node, bool) {
	n.Kind = Mapping
	m := mapping{report: p.report}
	if p.take('}') {
		return n, true
	}
	for {
		key, val, ok := p.entry()
		if !ok {
			return Node{}, false
		}
		m.set(key, val)
		if p.take('}') {
			n.Kids = m.kids
			return n, true
		}
		if !p.take(',') {
			return p.syntax("expected ',' or '}' after an entry of a hash, found " + p.found())
		}
	}
}

func (p *jsonParser) entry() (key, val Node, ok bool) {
	p.blanks()
	if p.off == len(p.src) || p.src[p.off] != '"' {
		_, ok = p.syntax("expected a key in double quotes, found " + p.found())
		return key, val, ok
	}
	if key, ok = p.value(); !ok {
		return key, val, false
	}
	if !p.take(':') {
		_, ok = p.syntax("expected ':' after the key, found " + p.found())
		return key, val, ok
	}
	p.blanks()
	val, ok = p.value()
	return key, val, ok
}

func (p *jsonParser) text() (string, bool) {
	start := p.off
	for p.off++; p.off < len(p.src); p.off++ {
		switch c := p.src[p.off]; {
		case c == '"':
			p.off++
			return p.unquote(start)
		case c == '\\':
			p.off++
		case c < ' ':
			p.syntax("expected '\"' before the end of the line: a string cannot contain a control character; write \\n or \\t")
			return "", false
		}
	}
	p.off = start
	p.syntax("expected '\"' at the end of this string, found the end of the file")
	return "", false
}

// unquote returns the value of the quoted string from start to the current position.
func (p *jsonParser) unquote(start int) (string, bool) {
	quoted := p.src[start:p.off]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), true
	}
	if at := halfPair(quoted); at >= 0 {
		p.off = start + at
		p.syntax("expected two escapes \\uXXXX for this character, found one: it is half of a surrogate pair")
		return "", false
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		p.off = start
		p.syntax("expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX after each backslash of this string")
		return "", false
	}
	return text, true
}

// halfPair returns the offset of an escape in a quoted string that is half of a surrogate pair (RFC 8259, section 8.2),
// or -1. encoding/json silently reads it as U+FFFD.
func halfPair(quoted []byte) int {
	for at := 0; at < len(quoted); at++ {
		if quoted[at] != '\\' {
			continue
		}
		r := codeUnit(quoted[at:])
		if !utf16.IsSurrogate(r) {
			at++
			continue
		}
		const size = len(`\uXXXX`)
		if utf16.DecodeRune(r, codeUnit(quoted[at+size:])) == utf8.RuneError {
			return at
		}
		at += 2*size - 1
	}
	return -1
}

// codeUnit returns the number in the escape \uXXXX at the start of text, or -1 if there is none.
func codeUnit(text []byte) rune {
	if !bytes.HasPrefix(text, []byte(`\u`)) || len(text) < len(`\uXXXX`) {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

func (p *jsonParser) number(n Node) (Node, bool) {
	start := p.off
	isFloat := false
	for ; p.off < len(p.src); p.off++ {
		c := p.src[p.off]
		if c == '.' || c == 'e' || c == 'E' {
			isFloat = true
		} else if !isDigit(c) && c != '-' && c != '+' {
			break
		}
	}
	text := p.src[start:p.off]
	if !json.Valid(text) {
		p.off = start
		return p.syntax("expected a JSON number, found " + string(text))
	}
	var err error
	if n.Value, err = jsonNumber(string(text), isFloat); err != nil && !isFloat && p.opts.Hiera5 {
		n.Value, n.Unfit = value.FromString(string(text)), TooLarge
	} else if err != nil {
		p.fail(p.doc.Pos(&n), "yaml_integer",
			"the number "+value.Shorten(string(text))+" does not fit in 64 bits", numberHint)
	}
	return n, true
}

func jsonNumber(text string, isFloat bool) (value.Value, error) {
	if isFloat {
		f, err := strconv.ParseFloat(text, 64)
		return value.FromFloat(f), err
	}
	i, err := strconv.ParseInt(text, 10, 64)
	return value.FromInt(i), err
}

func (p *jsonParser) word(n Node) (Node, bool) {
	rest := p.src[p.off:]
	switch {
	case bytes.HasPrefix(rest, []byte("true")):
		n.Value = value.FromBool(true)
		p.off += len("true")
	case bytes.HasPrefix(rest, []byte("false")):
		n.Value = value.FromBool(false)
		p.off += len("false")
	case bytes.HasPrefix(rest, []byte("null")):
		p.off += len("null")
	default:
		return p.syntax("expected a value, found " + p.found())
	}
	return n, true
}
