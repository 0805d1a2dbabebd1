package types

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/value"
)

// maxText limits the length of a type's text, in bytes.
const maxText = 64 << 10

// Parse parses a type of the Puppet language, such as Hash[String, Array[Integer]].
func Parse(text string) (*Type, error) { return parse(parser{text: text, find: Named}) }

func parse(p parser) (*Type, error) {
	text := p.text
	if len(text) > maxText {
		return nil, errors.New("the type is too long")
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the type is not valid UTF-8")
	}
	p.space()
	v, err := p.param(0)
	if err != nil {
		return nil, err
	}
	if v.Kind() != value.Type {
		if fix := diag.Correct(text, allNames()); !fix.IsNone() {
			return nil, &misspelt{fmt.Sprintf("expected a type name, found '%s'; %s", text, fix.Hint()), fix}
		}
		return nil, fmt.Errorf("expected a type name, found '%s'", text)
	}
	if p.pos < len(text) {
		return nil, p.unexpected("the end of the type")
	}
	return FromValue(v)
}

// parser parses text from pos on. Each method also skips the white space after the text that it parses.
type parser struct {
	text string
	pos  int
	find func(name string) (*Type, error)

	declared bool // the type is in a manifest
}

func (p *parser) rest() string { return p.text[p.pos:] }

func (p *parser) space() {
	p.pos = len(p.text) - len(strings.TrimLeft(p.rest(), " \t\r\n"))
}

func (p *parser) take(token string) bool {
	if !strings.HasPrefix(p.rest(), token) {
		return false
	}
	p.pos += len(token)
	p.space()
	return true
}

func (p *parser) unexpected(want string) error {
	if p.pos == len(p.text) {
		return fmt.Errorf("in the type '%s': expected %s at the end", p.text, want)
	}
	r, _ := utf8.DecodeRuneInString(p.rest())
	return fmt.Errorf("in the type '%s': expected %s, found '%c' at character %d", p.text, want, r,
		utf8.RuneCountInString(p.text[:p.pos])+1)
}

var (
	typeName   = pattern.Lazy(`^(?:::)?[A-Z]\w*(?:::[A-Z]\w*)*`)
	bareword   = pattern.Lazy(`^(?:::)?[a-z]\w*(?:::[a-z]\w*)*`)
	numberText = pattern.Lazy(`^-?\s*(?:0[xX][0-9A-Fa-f]+|\d+(\.\d+)?([eE][+-]?\d+)?)`)
)

func (p *parser) param(depth int) (value.Value, error) {
	if depth > maxDepth {
		return value.Value{}, errors.New("the type is nested too deeply")
	}
	if name := typeName().FindString(p.rest()); name != "" {
		p.take(name)
		return p.named(strings.TrimPrefix(name, "::"), depth)
	}
	if word := bareword().FindString(p.rest()); word != "" {
		p.take(word)
		return wordValue(word), nil
	}
	if number := numberText().FindString(p.rest()); number != "" {
		p.take(number)
		return numberValue(number)
	}
	if p.pos == len(p.text) {
		return value.Value{}, p.unexpected("a type")
	}
	switch p.text[p.pos] {
	case '\'', '"':
		return p.quoted()
	case '/':
		return p.regexp()
	case '[':
		p.take("[")
		elems, err := p.list(depth+1, "]")
		return value.FromSlice(elems), err
	case '{':
		p.take("{")
		return p.hash(depth + 1)
	}
	return value.Value{}, p.unexpected("a type")
}

func (p *parser) named(name string, depth int) (value.Value, error) {
	t, err := p.find(name)
	if err != nil {
		if p.take("[") && (strings.HasPrefix(p.rest(), "'") || strings.HasPrefix(p.rest(), `"`)) {
			err = noType(name, true)
		}
		return value.Value{}, err
	}
	if !p.take("[") {
		return p.bare(t).Value(), nil
	}
	params, err := p.list(depth+1, "]")
	if err != nil {
		return value.Value{}, err
	}
	if p.declared {
		t, err = t.declaredWith(params)
	} else {
		t, err = t.With(params...)
	}
	return t.Value(), err
}

// bare returns t, a type without parameters. In a manifest, Puppet gives some of these types another meaning. For
// those, bare returns an unknown type.
func (p *parser) bare(t *Type) *Type {
	if p.declared && slices.Contains([]Kind{Optional, Variant, Enum, Pattern, Struct, Tuple}, t.kind) {
		return open(t.String())
	}
	return t
}

func (p *parser) list(depth int, end string) ([]value.Value, error) {
	var list []value.Value
	for !p.take(end) {
		v, err := p.param(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if !p.take(",") && !strings.HasPrefix(p.rest(), end) {
			return nil, p.unexpected("',' or '" + end + "'")
		}
	}
	return list, nil
}

func (p *parser) hash(depth int) (value.Value, error) {
	var b value.Builder
	for !p.take("}") {
		k, err := p.param(depth)
		if err != nil {
			return value.Value{}, err
		}
		if !p.take("=>") {
			return value.Value{}, p.unexpected("'=>'")
		}
		v, err := p.param(depth)
		if err != nil {
			return value.Value{}, err
		}
		if _, twice := b.Get(k); twice {
			return value.Value{}, fmt.Errorf("in the type '%s': duplicate key", p.text)
		}
		b.Set(k, v)
		if !p.take(",") && !strings.HasPrefix(p.rest(), "}") {
			return value.Value{}, p.unexpected("',' or '}'")
		}
	}
	return b.Hash(), nil
}

func wordValue(word string) value.Value {
	switch word {
	case "default":
		return value.TheDefault()
	case "undef":
		return value.Value{}
	case "true", "false":
		return value.FromBool(word == "true")
	}
	return value.FromString(word)
}

func numberValue(text string) (value.Value, error) {
	compact := strings.Join(strings.Fields(text), "")
	if n, err := strconv.ParseInt(compact, 0, 64); err == nil && !strings.ContainsAny(compact, "_bo") {
		return value.FromInt(n), nil
	}
	f, err := strconv.ParseFloat(compact, 64)
	if err != nil || !strings.ContainsAny(compact, ".eE") {
		return value.Value{}, fmt.Errorf("'%s' does not fit into 64 bits", text)
	}
	return value.FromFloat(f), nil
}

// quoted parses a quoted string. In single quotes, the only escapes are \\ and \'.
func (p *parser) quoted() (value.Value, error) {
	quote, out := p.text[p.pos], []byte(nil)
	for i := p.pos + 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == quote:
			p.pos = i + 1
			p.space()
			return value.FromString(string(out)), nil
		case c == '\\' && i+1 < len(p.text):
			var n int
			out, n = appendEscape(out, p.text[i:], quote)
			i += n - 1
		case c == '$' && quote == '"':
			return value.Value{}, fmt.Errorf("in the type '%s': a string must be a literal", p.text)
		default:
			out = append(out, c)
		}
	}
	return value.Value{}, fmt.Errorf("in the type '%s': a string is not closed", p.text)
}

var unicodeEscape = pattern.Lazy(`^\\u(?:([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]{1,6})\})`)

// appendEscape appends the character for the escape sequence at the start of s. It also returns the length of the
// sequence.
func appendEscape(dst []byte, s string, quote byte) ([]byte, int) {
	c := s[1]
	if quote == '\'' {
		if c == '\'' || c == '\\' {
			return append(dst, c), 2
		}
		return append(dst, '\\'), 1
	}
	switch c {
	case 'n', 't', 'r', 's':
		return append(dst, map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 's': ' '}[c]), 2
	case '"', '\'', '$', '\\':
		return append(dst, c), 2
	case 'u':
		if m := unicodeEscape().FindStringSubmatch(s); m != nil {
			n, _ := strconv.ParseUint(m[1]+m[2], 16, 32) // cannot fail: at most six digits
			return utf8.AppendRune(dst, rune(n)), len(m[0])
		}
	}
	return append(dst, '\\'), 1
}

func (p *parser) regexp() (value.Value, error) {
	out := []byte(nil)
	for i := p.pos + 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '/':
			p.pos = i + 1
			p.space()
			return value.FromRegexp(string(out)), nil
		case c == '\\' && i+1 < len(p.text):
			i++
			if p.text[i] != '/' {
				out = append(out, '\\')
			}
			out = append(out, p.text[i])
		default:
			out = append(out, c)
		}
	}
	return value.Value{}, fmt.Errorf("in the type '%s': a regular expression is not closed", p.text)
}
