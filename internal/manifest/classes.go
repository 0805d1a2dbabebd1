package manifest

import (
	"strings"

	"bindc/diag"
)

// Class is the header of a class definition.
type Class struct {
	Name   string // fully qualified
	At     diag.Pos
	Params []Param
}

// Param is a parameter in a class header.
type Param struct {
	Name     string
	At       diag.Pos // position of the $
	Type     string   // source text of the type, without comments; "" if there is none
	Optional bool     // the parameter has a default value

	off int // byte offset of the name after the $
}

// Alias is the definition of a type alias.
type Alias struct {
	Name string
	At   diag.Pos
	Type string // source text of the type, without comments
}

// Header lists the classes and type aliases that a manifest defines.
type Header struct {
	Classes []Class
	Aliases []Alias
	// Whole reports whether all definitions were found. It is false if the manifest ends inside a string, comment or
	// bracket.
	Whole bool
}

// ReadHeader returns the classes and type aliases that a manifest defines. src is the manifest's text, and path its
// path for positions.
func ReadHeader(path, src string) Header {
	streams, whole := scan(src)
	r := headerReader{parser: parser{path: path, src: src, tokens: streams[0]}, out: Header{Whole: whole}}
	r.read()
	return r.out
}

type headerReader struct {
	parser
	out   Header
	depth int // number of open brackets
	outer []namespace
}

// namespace is a class whose body is being read. Its name is a prefix of the classes defined inside.
type namespace struct {
	name  string // fully qualified
	depth int    // number of open brackets around the body
}

func (r *headerReader) read() {
	for i := 0; i < len(r.tokens); {
		switch t := &r.tokens[i]; {
		case t.kind == name && (t.text == "class" || t.text == "type"):
			i = r.definition(i)
			continue
		case t.kind == punct && strings.Contains("([{", t.text):
			r.depth++
		case t.kind == punct && strings.Contains(")]}", t.text):
			r.close()
		}
		i++
	}
	r.out.Whole = r.out.Whole && r.depth == 0
}

// close handles a closing bracket, which may end the body of a class.
func (r *headerReader) close() {
	if r.depth--; r.depth < 0 {
		r.depth, r.out.Whole = 0, false
	}
	if n := len(r.outer); n > 0 && r.outer[n-1].depth == r.depth {
		r.outer = r.outer[:n-1]
	}
}

// definition reads the definition that begins at token i, if any. It returns the index of the token at which to
// continue.
func (r *headerReader) definition(i int) int {
	if i+1 >= len(r.tokens) || r.tokens[i+1].kind != name {
		return i + 1
	}
	if r.tokens[i].text == "type" {
		return r.alias(i)
	}
	c := Class{Name: r.qualified(r.tokens[i+1].text), At: r.pos(r.tokens[i+1].at)}
	next := i + 2
	if r.is(next, "(") {
		params, end, ok := parameters(r.tokens[next+1:])
		if !ok {
			r.out.Whole = false
			return next
		}
		for _, p := range params {
			if param, ok := r.param(p); ok {
				c.Params = append(c.Params, param)
			}
		}
		next += 1 + end
	}
	if r.isWord(next, "inherits") && next+1 < len(r.tokens) {
		next += 2
	}
	if !r.is(next, "{") {
		return i + 1
	}
	r.out.Classes = append(r.out.Classes, c)
	r.outer = append(r.outer, namespace{c.Name, r.depth})
	return next
}

// qualified returns the full name of a class that is defined at the current position.
func (r *headerReader) qualified(class string) string {
	if n := len(r.outer); n > 0 {
		return r.outer[n-1].name + "::" + class
	}
	return class
}

// parameters splits the tokens of a parameter list at its commas. The tokens begin after the opening bracket. end is
// the index after the closing bracket. Commas between the parameters of a lambda do not count.
func parameters(tokens []token) (params [][]token, end int, ok bool) {
	depth, start, bars := 0, 0, false
	for i, t := range tokens {
		if t.kind != punct {
			continue
		}
		switch {
		case strings.Contains("([{", t.text):
			depth++
		case t.text == "|" && depth == 0:
			bars = !bars
		case depth > 0 && strings.Contains(")]}", t.text):
			depth--
		case depth == 0 && (t.text == "," && !bars || strings.Contains(")]}", t.text)):
			if i > start {
				params = append(params, tokens[start:i])
			}
			if start = i + 1; t.text != "," {
				return params, start, true
			}
		}
	}
	return nil, 0, false
}

// param reads a parameter: an optional type, the variable, and an optional default.
func (r *headerReader) param(tokens []token) (Param, bool) {
	v := parameter(tokens)
	if v == nil {
		return Param{}, false
	}
	before, after := tokens, []token(nil)
	for i := range tokens {
		if &tokens[i] == v {
			before, after = tokens[:i], tokens[i+1:]
		}
	}
	// *$rest takes all remaining arguments
	if n := len(before); n > 0 && before[n-1].kind == punct && before[n-1].text == "*" {
		before = before[:n-1]
	}
	return Param{Name: strings.TrimPrefix(v.text, "$"), At: r.pos(v.at), Type: r.source(before),
		Optional: len(after) > 0, off: v.at + len("$")}, true
}

// alias reads a type alias of the form: type Name = Type.
func (r *headerReader) alias(i int) int {
	if !r.is(i+2, "=") {
		return i + 1
	}
	end := i + 4 // a type is a name, possibly with arguments in brackets
	if r.is(end, "[") {
		_, n, ok := parameters(r.tokens[end+1:])
		if !ok {
			r.out.Whole = false
			return end
		}
		end += 1 + n
	}
	if end > len(r.tokens) {
		return end
	}
	r.out.Aliases = append(r.out.Aliases, Alias{Name: r.tokens[i+1].text, At: r.pos(r.tokens[i+1].at),
		Type: r.source(r.tokens[i+3 : end])})
	return end
}

// source returns the source text of tokens, without comments.
func (r *headerReader) source(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.at > tokens[i-1].end {
			b.WriteByte(' ')
		}
		b.WriteString(r.src[t.at:t.end])
	}
	return b.String()
}
