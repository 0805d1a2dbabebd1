package syntax

import (
	"bindc/internal/expr"
	"bindc/internal/value"
)

// operand parses a literal, a variable, a type, or an expression that begins with a bracket or keyword.
func (p *parser) operand() *expr.Node {
	t := p.tok
	switch t.kind {
	case tKeyword:
		return p.keyword()
	case tOp:
		return p.bracketed()
	case tVar:
		p.advance()
		return p.variable(t.off, t.text)
	case tType:
		p.advance()
		return p.node(expr.TypeName, t.off, t.text)
	case tQuote:
		return p.quoted()
	case tHeredoc:
		return p.heredoc()
	case tEOF:
		p.unexpected("a value")
		return p.errorNode()
	}
	p.advance()
	return p.constant(t.off, p.literal(t))
}

func (p *parser) literal(t token) value.Value {
	switch t.kind {
	case tNumber:
		v, message := numberValue(t.text)
		if message != "" {
			p.fail(t.off, message, "")
		}
		return v
	case tRegexp:
		return value.FromRegexp(t.text)
	}
	return value.FromString(t.text)
}

// errorNode returns a placeholder for an expression with an error.
func (p *parser) errorNode() *expr.Node { return p.constant(p.tok.off, value.Value{}) }

func (p *parser) keyword() *expr.Node {
	off := p.tok.off
	switch p.tok.text {
	case "undef":
		p.advance()
		return p.constant(off, value.Value{})
	case "default":
		p.advance()
		return p.constant(off, value.TheDefault())
	case "true", "false":
		v := value.FromBool(p.tok.text == "true")
		p.advance()
		return p.constant(off, v)
	case "if":
		return p.ifExpression()
	case "unless":
		return p.unlessExpression()
	case "case":
		return p.caseExpression()
	case "type":
		if next := p.peek(); next.is(tOp, "(") && !next.first {
			return p.word()
		}
	}
	p.unexpected("a value")
	return p.errorNode()
}

// word skips the current token and returns its text as a string constant.
func (p *parser) word() *expr.Node {
	t := p.tok
	p.advance()
	return p.constant(t.off, value.FromString(t.text))
}

func (p *parser) variable(off int, name string) *expr.Node {
	p.checkVariable(off, name)
	return p.node(expr.Var, off, name)
}

// quoted parses a double-quoted string. The current token is the opening quote.
func (p *parser) quoted() *expr.Node {
	off, outer := p.tok.off, p.trace
	p.trace = nil // the formatter treats a string as one token
	n := p.template(inQuotes)
	n.Off = p.origOff(off)
	p.tok = token{kind: tString, off: off, end: p.pos}
	p.prev, p.trace = p.tok, outer
	if p.trace != nil {
		p.trace.extend(p.pos)
	}
	p.advance()
	return n
}

func (p *parser) bracketed() *expr.Node {
	off := p.tok.off
	switch {
	case p.accept("("):
		n := p.assignment()
		p.expect(")", "after the expression in parentheses")
		return n
	case p.accept("["):
		return p.node(expr.ArrayLit, off, "", p.list("]")...)
	case p.accept("{"):
		return p.hash(off)
	}
	p.unexpected("a value")
	return p.errorNode()
}

// list parses a list after its opening bracket, including the closing bracket. Consecutive key-value pairs become one
// hash.
func (p *parser) list(closing string) []*expr.Node {
	var entries []*expr.Node
	var pairs *expr.Node // the hash at the end of entries, if pairs can be added to it
	for !p.at(closing) {
		n := p.entry()
		switch {
		case !p.at("=>"):
			entries, pairs = append(entries, n), nil
		case pairs != nil:
			pairs.Kids = append(pairs.Kids, listed(n), p.pairValue())
		default:
			pairs = p.over(expr.HashLit, "", listed(n), p.pairValue())
			entries = append(entries, pairs)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(closing, "or , after the entry of the list")
	return entries
}

func (p *parser) pairValue() *expr.Node {
	p.expect("=>", "after the key")
	return listed(p.entry())
}

// hash parses a hash after its '{', which is at off.
func (p *parser) hash(off int) *expr.Node {
	n := p.node(expr.HashLit, off, "")
	for !p.at("}") {
		key := listed(p.entry())
		n.Kids = append(n.Kids, key, p.pairValue())
		if !p.accept(",") {
			break
		}
	}
	p.expect("}", "or , after the entry of the hash")
	return n
}

// entry parses an element of a list, or the key or value of a pair. There, the keywords type and function are
// strings.
func (p *parser) entry() *expr.Node {
	if !p.atKeyword("type") && !p.atKeyword("function") {
		return p.item()
	}
	switch next := p.peek(); next.text {
	case "=>", ",", "]", "}", ")":
		if next.kind == tOp {
			return p.word()
		}
	}
	return p.item()
}
