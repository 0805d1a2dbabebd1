package manifest

import (
	"strings"

	"bindc/diag"
)

// Class is a class header.
type Class struct {
	Name   string // qualified with the names of the classes around it
	At     diag.Pos
	Params []Param
}

// Param is a parameter of a class.
type Param struct {
	Name     string
	At       diag.Pos // position of the variable
	Type     string   // source of the type without comments; "" if none is written
	Optional bool     // the parameter has a default

	off int // byte offset of the name, after the $
}

// Alias is a type alias declaration.
type Alias struct {
	Name string
	At   diag.Pos
	Type string // source of the type without comments
}

// Header holds the definitions of a manifest.
type Header struct {
	Classes []Class
	Aliases []Alias
	// false if the manifest ends inside a string, a comment or a bracket, so that definitions may be missing
	Whole bool
}

// ReadHeader finds the classes and type aliases that a manifest defines. It ignores other code.
func ReadHeader(path, src string) Header {
	streams, whole := scan(src)
	r := headerReader{parser: parser{path: path, src: src, tokens: streams[0]}, out: Header{Whole: whole}}
	r.read()
	return r.out
}

// headerReader finds definitions in a list of tokens.
type headerReader struct {
	parser
	out   Header
	depth int // number of open brackets
	outer []namespace
}

// namespace is a class whose body is being read.
type namespace struct {
	name  string // qualified name of the class
	depth int    // depth of the code around the class
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

// close leaves a bracket, and the class whose body it ends.
func (r *headerReader) close() {
	if r.depth--; r.depth < 0 {
		r.depth, r.out.Whole = 0, false
	}
	if n := len(r.outer); n > 0 && r.outer[n-1].depth == r.depth {
		r.outer = r.outer[:n-1]
	}
}

// definition reads a definition that begins at token i. It returns the token to continue with, which is the next token
// if no definition begins at i.
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

// qualified returns the full name of a class that is defined here.
func (r *headerReader) qualified(class string) string {
	if n := len(r.outer); n > 0 {
		return r.outer[n-1].name + "::" + class
	}
	return class
}

// parameters splits the tokens after the opening bracket of a list of parameters. end is the number of tokens up to and
// including the closing bracket. Commas between the bars of a lambda separate the lambda's parameters.
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

// param reads a parameter: its type, its variable and its default.
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
	// the parameter takes all further arguments
	if n := len(before); n > 0 && before[n-1].kind == punct && before[n-1].text == "*" {
		before = before[:n-1]
	}
	return Param{Name: strings.TrimPrefix(v.text, "$"), At: r.pos(v.at), Type: r.source(before),
		Optional: len(after) > 0, off: v.at + len("$")}, true
}

// alias reads a type alias: type Name = Type.
func (r *headerReader) alias(i int) int {
	if !r.is(i+2, "=") {
		return i + 1
	}
	end := i + 4 // a type is a name, which brackets may follow
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

// source returns the text of tokens, without comments.
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
