package syntax

import (
	"strings"

	"bindc/internal/expr"
)

// level is the precedence of an operator. Unlike in other languages, == binds tighter than <. A selector binds less
// tightly than both.
type level uint8

const (
	lowest level = iota + 1 // the level of or
	levelAnd
	levelSelector
	levelCompare
	levelEqual
	levelShift
	levelAdd
	levelMultiply
	levelMatch
	levelIn
	levelPrefix
	levelOperand
)

// infix returns the name and the level of the binary operator op. If op is not a binary operator, the level is 0.
func infix(op string) (string, level) {
	switch op {
	case "or":
		return "or", lowest
	case "and":
		return "and", levelAnd
	case "?":
		return op, levelSelector
	case "<", "<=", ">", ">=":
		return op, levelCompare
	case "==", "!=":
		return op, levelEqual
	case "<<", ">>":
		return op, levelShift
	case "+", "-":
		return op, levelAdd
	case "*", "/", "%":
		return op, levelMultiply
	case "=~", "!~":
		return op, levelMatch
	case "in":
		return "in", levelIn
	}
	return "", 0
}

// expression parses an expression that is not an assignment.
func (p *parser) expression() *expr.Node { return listed(p.operation(lowest)) }

// listed puts a Splat into an array, because outside lists the value of a Splat is an array.
func listed(n *expr.Node) *expr.Node {
	if n.Op != expr.Splat {
		return n
	}
	return &expr.Node{Op: expr.ArrayLit, Off: n.Off, Kids: []*expr.Node{n}}
}

// operation parses operands joined by operators whose level is least or higher. Operators associate to the left. The
// result may be a Splat.
func (p *parser) operation(least level) *expr.Node {
	left := p.unary()
	for {
		if p.tok.kind != tOp && p.tok.kind != tKeyword {
			return left
		}
		op, l := infix(p.tok.text)
		switch {
		case l < least, l == levelIn && p.inEndsAt == p.open+1:
			return left
		case l == levelSelector:
			left = p.suffixes(token{}, p.selector(listed(left)))
		default:
			p.advance()
			left = p.over(expr.Binary, op, listed(left), listed(p.operation(l+1)))
		}
	}
}

func (p *parser) unary() *expr.Node {
	p.enter()
	defer p.leave()
	off := p.tok.off
	switch {
	case p.accept("!"):
		return p.node(expr.Unary, off, "!", listed(p.unary()))
	case p.accept("-"):
		return p.node(expr.Unary, off, "-", listed(p.unary()))
	case p.accept("*"):
		return p.node(expr.Splat, off, "", listed(p.unary()))
	}
	return p.postfix()
}

func (p *parser) postfix() *expr.Node {
	begin := p.tok
	return p.suffixes(begin, p.operand())
}

// suffixes parses the accesses and calls after n. begin is the first token of n.
func (p *parser) suffixes(begin token, n *expr.Node) *expr.Node {
	for {
		switch {
		case p.at("(") && !p.tok.first:
			n = p.call(begin, n)
		case p.at("[") && !p.tok.spaced:
			n = p.access(n)
		case p.at("."):
			n = p.method(n)
		default:
			return n
		}
	}
}

func (p *parser) access(n *expr.Node) *expr.Node {
	p.advance()
	if p.at("]") {
		p.unexpected("a key or an index in []")
	}
	return p.over(expr.Access, "", append([]*expr.Node{n}, p.list("]")...)...)
}

// call parses the arguments of a call of called, whose first token is begin. A call of a type means a call of new.
func (p *parser) call(begin token, called *expr.Node) *expr.Node {
	n := &expr.Node{Op: expr.Call, Off: called.Off}
	switch {
	case called.Op == expr.Const && (begin.kind == tName || begin.is(tKeyword, "type")):
		n.Name = strings.TrimPrefix(begin.text, "::")
	case called.Op == expr.TypeName, called.Op == expr.Access && called.Kids[0].Op == expr.TypeName:
		n.Name, n.Kids = "new", []*expr.Node{called}
	default:
		p.failCall(called)
	}
	p.advance()
	n.Kids = append(n.Kids, p.list(")")...)
	n.Lambda = p.optionalLambda()
	return n
}

// method parses .name, .name(arguments) or .name |parameters| { ... } as a call whose first argument is receiver. The
// call has the position of the name.
func (p *parser) method(receiver *expr.Node) *expr.Node {
	p.advance()
	if p.tok.kind != tName && !p.atKeyword("type") {
		p.unexpected("a function name after .")
	}
	n := p.node(expr.Call, p.tok.off, strings.TrimPrefix(p.tok.text, "::"), receiver)
	p.advance()
	if p.at("(") && !p.tok.first {
		p.advance()
		n.Kids = append(n.Kids, p.list(")")...)
	}
	n.Lambda = p.optionalLambda()
	return n
}
