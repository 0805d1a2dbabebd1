package syntax

import (
	"strings"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// Query is a PuppetDB query for resources of a type: Type[?? name == 'one' and port > 80].
type Query struct {
	Off   int
	Type  Word
	Where *expr.Node // condition in PuppetDB's form: nested lists of an operator and its operands
}

// ParseQuery parses a query such as Type[?? name == 'one'].
func ParseQuery(src string) (*Query, []SyntaxError) {
	p := setParser{parser: parser{lexer: lexer{src: src}}}
	p.advance()
	if !p.atQuery() {
		p.expected("a query, such as Type[?? name == 'one']")
		return nil, []SyntaxError{*p.err}
	}
	q := p.query()
	p.end()
	if p.err != nil {
		return nil, []SyntaxError{*p.err}
	}
	return q, nil
}

func (p *setParser) atQuery() bool {
	if p.tok.kind != tType {
		return false
	}
	ahead := p.lexer
	for _, op := range []string{"[", "?", "?"} {
		if t := ahead.next(); !t.is(tOp, op) {
			return false
		}
	}
	return true
}

func (p *setParser) query() *Query {
	q := &Query{Off: p.tok.off, Type: Word{p.tok.text, p.tok.off}}
	for range 3 { // skip the type, [ and the first ?
		p.advance()
	}
	rest := strings.TrimLeft(p.src[p.tok.end:], " ")
	if strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...") {
		p.fail(len(p.src)-len(rest), "expected a query condition, found dots",
			"write the condition, for example "+q.Type.Text+"[?? name == 'one']")
	}
	p.advance()
	q.Where = p.checkedTree(p.anyOf())
	p.expect("]", "after the query")
	return q
}

func (p *setParser) anyOf() *expr.Node { return p.joined("or", p.allOf) }

func (p *setParser) allOf() *expr.Node { return p.joined("and", p.condition) }

// joined parses conditions joined by op. Several conditions become one list with op as the first element.
func (p *setParser) joined(op string, operand func() *expr.Node) *expr.Node {
	n := operand()
	if !p.atKeyword(op) {
		return n
	}
	out := p.list3(n.Off, op, n)
	for p.err == nil && p.atKeyword(op) {
		p.advance()
		out.Kids = append(out.Kids, operand())
	}
	return out
}

// list3 returns a list of op and operands, which is PuppetDB's form of a condition.
func (p *setParser) list3(off int, op string, operands ...*expr.Node) *expr.Node {
	return p.node(expr.ArrayLit, off, "", append([]*expr.Node{p.constant(off, value.FromString(op))}, operands...)...)
}

func (p *setParser) condition() *expr.Node {
	p.enter()
	defer p.leave()
	off := p.tok.off
	switch {
	case p.atWord("not") || p.at("!"):
		p.advance()
		return p.list3(off, "not", p.condition())
	case p.accept("("):
		n := p.anyOf()
		p.expect(")", "after the query in parentheses")
		return n
	}
	return p.comparison()
}

// comparison parses NAME OPERATOR VALUE. It turns != and !~ into negations of == and =~.
func (p *setParser) comparison() *expr.Node {
	name := p.bareOrQuoted("a parameter name")
	off := name.Off
	op, negated := p.comparisonOperator()
	n := p.list3(off, op, p.constant(off, value.FromString(name.Text)), listed(p.operation(levelAdd)))
	if negated {
		n = p.list3(off, "not", n)
	}
	return n
}

// comparisonOperator skips the operator at the current token and returns it in PuppetDB's form.
func (p *setParser) comparisonOperator() (op string, negated bool) {
	op = p.tok.text
	switch {
	case p.accept("=="):
		return "=", false
	case p.accept("!="):
		return "=", true
	case p.accept("=~"):
		return "~", false
	case p.accept("!~"):
		return "~", true
	case p.accept("<"), p.accept("<="), p.accept(">"), p.accept(">="):
		return op, false
	case p.at("~") && p.peek().text == "=", p.at("~") && p.peek().text == "!": // ~= and ~!, which some documents use
		p.advance()
		negated = p.at("!")
		p.advance()
		return "~", negated
	}
	p.expected("a comparison: ==, !=, <, <=, >, >=, =~ or !~")
	return "", false
}
