package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

// parser is a recursive-descent parser. The current token, tok, is the next one to parse. A method that parses a
// construct expects the construct's first token in tok, and leaves the token after the construct there.
type parser struct {
	lexer
	tok   token
	depth int

	// These fields are only used for files that consist of statements.
	open     int       // number of open brackets before tok
	inEndsAt int       // if it is open+1, the word 'in' ends the expression
	catalog  diag.Code // code of errors about catalogs
	trace    *trace    // records the tokens for the formatter, or nil
}

func (p *parser) advance() {
	if p.tok.kind == tOp {
		switch p.tok.text {
		case "(", "[", "{":
			p.open++
		case ")", "]", "}":
			p.open--
		}
	}
	p.tok = p.next()
	if p.trace != nil {
		p.trace.add(p.tok)
	}
}

func (p *parser) peek() token {
	here := p.lexer
	t := p.next()
	p.lexer = here
	return t
}

// at reports whether the current token is the operator or bracket op.
func (p *parser) at(op string) bool { return p.tok.is(tOp, op) }

func (p *parser) atKeyword(word string) bool { return p.tok.is(tKeyword, word) }

// accept skips the current token if it is the operator or bracket op, and reports whether it did.
func (p *parser) accept(op string) bool {
	if !p.at(op) {
		return false
	}
	p.advance()
	return true
}

// expect skips op, or reports an error if the current token is not op. The text after describes the place of op in
// messages.
func (p *parser) expect(op, after string) {
	if !p.accept(op) {
		p.unexpected(op + " " + after)
	}
}

// end reports an error if some text has not been parsed. It also reports invalid UTF-8.
func (p *parser) end() {
	if p.tok.kind != tEOF {
		p.unexpected("nothing more")
	}
	if !utf8.ValidString(p.src) {
		p.fail(0, "the text is not valid UTF-8", "")
	}
}

// enter increments the nesting level, and reports an error if it is too high. leave decrements it.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxNesting {
		p.failHere(fmt.Sprintf("nested more than %d levels deep", maxNesting), "")
	}
}

func (p *parser) leave() { p.depth-- }

// failHere reports an error at the current token and replaces the token with tEOF.
func (p *parser) failHere(message, hint string) {
	p.fail(p.tok.off, message, hint)
	p.tok = token{kind: tEOF, off: p.tok.off, end: p.tok.end}
}

// correctHere is like failHere for an error that fix corrects.
func (p *parser) correctHere(message, hint string, fix diag.Fix) {
	before := p.err
	p.failHere(message, hint)
	if before == nil {
		p.err.Fix = fix
	}
}

func (p *parser) node(op expr.Op, off int, name string, kids ...*expr.Node) *expr.Node {
	return &expr.Node{Op: op, Off: p.origOff(off), Name: name, Kids: kids}
}

// over returns a node with the offset of its first child.
func (p *parser) over(op expr.Op, name string, kids ...*expr.Node) *expr.Node {
	return &expr.Node{Op: op, Off: kids[0].Off, Name: name, Kids: kids}
}

func (p *parser) constant(off int, v value.Value) *expr.Node {
	return &expr.Node{Op: expr.Const, Off: p.origOff(off), Value: v}
}

// statements parses statements up to a '}' or the end of the text. It returns an empty Block if there are none, and a
// single statement without a Block.
func (p *parser) statements() *expr.Node {
	off := p.tok.off
	if p.at("}") || p.tok.kind == tEOF {
		return p.node(expr.Block, off, "")
	}
	var list []*expr.Node
	for {
		begin := p.tok
		list = append(list, p.assignment())
		if !p.statementFollows() {
			break
		}
		p.checkUse(begin, list[len(list)-1])
	}
	if len(list) == 1 {
		return list[0]
	}
	return p.node(expr.Block, off, "", list...)
}

// statementFollows reports whether another statement follows, and skips the semicolon before it. The semicolon is
// only required if the next token would otherwise continue the statement.
func (p *parser) statementFollows() bool {
	if p.accept(";") {
		if p.at("}") || p.tok.kind == tEOF {
			p.unexpected("a statement after ;")
		}
		return true
	}
	if p.tok.kind != tOp {
		return p.tok.kind != tEOF
	}
	switch p.tok.text {
	case "}":
		return false
	case "(", "[", "!", "@", "@@":
		return true
	case "{":
		p.failHere("a resource needs a catalog, which bindings do not have", "a hash goes in parentheses: ({...})")
	}
	p.unexpected("the end of the statement")
	return false
}

// checkUse reports an error if the statement n has no effect. begin is its first token. n must not be the last
// statement.
func (p *parser) checkUse(begin token, n *expr.Node) {
	switch {
	case !hasNoEffect(n):
	case n.Op == expr.Const && begin.kind == tName:
		p.failStatementCall(begin)
	default:
		p.fail(begin.off, "this value is not used: only the value of the last statement counts", "")
	}
}

// hasNoEffect reports whether n, by Puppet's rules, has no effect except that it has a value.
func hasNoEffect(n *expr.Node) bool {
	switch n.Op {
	case expr.Call, expr.Assign:
		return false
	case expr.Binary:
		return n.Name != "=~" && n.Name != "!~" // these set match variables
	case expr.If, expr.Case, expr.Option, expr.Block:
		for _, kid := range n.Kids {
			if !hasNoEffect(kid) {
				return false
			}
		}
	}
	return true
}

// assignment parses an expression, which may be an assignment.
func (p *parser) assignment() *expr.Node { return listed(p.item()) }

// item parses an element of a list, which may be an assignment or a Splat.
func (p *parser) item() *expr.Node {
	begin := p.tok
	left := p.operation(lowest)
	switch {
	case p.at("="):
		p.checkTarget(begin, left)
		p.advance()
		p.enter()
		right := p.assignment()
		p.leave()
		return p.assign(left, right)
	case p.at("+="), p.at("-="):
		op := p.tok.text[:1]
		p.failHere("there is no operator "+p.tok.text, "write $x = $x "+op+" value, with another name on the left")
	}
	return left
}

// checkTarget reports an error if nothing can be assigned to left. begin is its first token.
func (p *parser) checkTarget(begin token, left *expr.Node) {
	if begin.kind != tVar && begin.text != "[" { // a bare word in ${}, or a list in parentheses
		if left.Op == expr.Const && left.Value.Kind() == value.String && begin.kind == tName {
			name := left.Value.Text()
			p.failTarget(begin.off, "write $"+name+" = …", diag.Fix{Old: name, New: "$" + name, Syntax: true})
		}
		p.failTarget(begin.off, "", diag.Fix{})
	}
	p.checkTargets(begin.off, left)
}

// checkTargets checks n, a variable or a list of variables on the left of an assignment. It reports errors at off.
func (p *parser) checkTargets(off int, n *expr.Node) {
	switch {
	case n.Op == expr.ArrayLit && len(n.Kids) > 0:
		for _, kid := range n.Kids {
			p.checkTargets(off, kid)
		}
	case n.Op != expr.Var:
		p.failTarget(off, "", diag.Fix{})
	case isDigit(n.Name[0]):
		p.fail(off, "$"+n.Name+" is a match variable, which cannot be assigned", "")
	case strings.Contains(n.Name, "::"):
		p.fail(off, "only a local variable, without ::, can be assigned", "")
	}
}

func (p *parser) failTarget(off int, hint string, fix diag.Fix) {
	before := p.err
	p.fail(off, "expected a variable, or a list of variables, on the left of =", hint)
	if before == nil {
		p.err.Fix = fix
	}
}

// assign returns an assignment to left, which checkTarget has accepted. For several variables, Name is "" and the
// variables are in Kids[1:].
func (p *parser) assign(left, right *expr.Node) *expr.Node {
	n := &expr.Node{Op: expr.Assign, Off: left.Off, Name: left.Name, Kids: []*expr.Node{right}}
	if left.Op == expr.ArrayLit {
		n.Kids = append(n.Kids, left.Kids...)
	}
	return n
}
