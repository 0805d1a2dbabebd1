package syntax

import (
	"fmt"
	"unicode/utf8"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// parser is a recursive-descent parser; operators.go holds its precedences. tok is the token to be parsed next. A method
// that parses a construct begins with its first token in tok and ends with the token after it there.
type parser struct {
	lexer
	tok   token
	depth int
}

func (p *parser) advance() { p.tok = p.next() }

// peek is the token after tok.
func (p *parser) peek() token {
	here := p.lexer
	t := p.next()
	p.lexer = here
	return t
}

// at tells whether tok is the operator or bracket op.
func (p *parser) at(op string) bool { return p.tok.is(tOp, op) }

func (p *parser) atKeyword(word string) bool { return p.tok.is(tKeyword, word) }

// accept passes the operator or bracket op, if it is there.
func (p *parser) accept(op string) bool {
	if !p.at(op) {
		return false
	}
	p.advance()
	return true
}

// expect passes op, which is required; after says what it follows.
func (p *parser) expect(op, after string) {
	if !p.accept(op) {
		p.unexpected(op + " " + after)
	}
}

// end requires that everything was parsed.
func (p *parser) end() {
	if p.tok.kind != tEOF {
		p.unexpected("nothing more")
	}
	if !utf8.ValidString(p.src) {
		p.fail(0, "the text is not valid UTF-8", "")
	}
}

// enter counts a level of nesting until the returned function is called.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxNesting {
		p.failHere(fmt.Sprintf("nested more than %d levels deep", maxNesting), "")
	}
}

func (p *parser) leave() { p.depth-- }

// failHere notes an error at tok, from where the parser sees no more tokens.
func (p *parser) failHere(message, hint string) {
	p.fail(p.tok.off, message, hint)
	p.tok = token{kind: tEOF, off: p.tok.off, end: p.tok.end}
}

func (p *parser) node(op expr.Op, off int, name string, kids ...*expr.Node) *expr.Node {
	return &expr.Node{Op: op, Off: p.origOff(off), Name: name, Kids: kids}
}

// over is a node that begins where its first kid does.
func (p *parser) over(op expr.Op, name string, kids ...*expr.Node) *expr.Node {
	return &expr.Node{Op: op, Off: kids[0].Off, Name: name, Kids: kids}
}

func (p *parser) constant(off int, v value.Value) *expr.Node {
	return &expr.Node{Op: expr.Const, Off: p.origOff(off), Value: v}
}

// statements parses up to a } or the end: no statement is an empty Block, a single one stands for itself.
func (p *parser) statements() *expr.Node {
	off := p.tok.off
	var list []*expr.Node
	for p.tok.kind != tEOF && (!p.at("}") || list == nil) {
		list = append(list, p.statement())
		if p.accept(";") && p.at("}") {
			p.unexpected("a statement after ;")
		}
	}
	...
}
