// Package syntax parses the expression language of the bindings (language.md, section 7) into trees of package expr,
// and prints such trees. The grammar is Puppet's, version 4 and later, without what touches a catalog. Any name
// is accepted as the name of a function; whoever compiles a tree checks the names.
//
// The lexer makes one token at a time, as the parser asks for it, because what a character means depends on what was
// parsed before: a string is scanned by the parser, which parses the expressions in it where they stand.
package syntax

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

// Limits on what is accepted, so that whoever walks a tree may recurse.
const (
	maxNesting = 200  // brackets, prefix operators and such inside one another
	maxHeight  = 1000 // levels of a tree, which long chains of operators make high too
)

// SyntaxError is one thing wrong with a text. Off is a byte offset in it; Hint, if any, says what to do. An empty Code
// is the one of what the text is.
type SyntaxError struct {
	Off     int
	Message string
	Hint    string
	Code    diag.Code
}

// ParseExpression parses one or several statements. Several become a Block. A text without any is an error.
func ParseExpression(src string) (*expr.Node, []SyntaxError) {
	p := parser{lexer: lexer{src: src}}
	p.advance()
	if p.tok.kind == tEOF {
		p.fail(0, "expected an expression, found none", "")
	}
	n := p.statements()
	p.end()
	return p.result(n)
}

// ParseString parses a text with interpolations, as a string in YAML is one: a Const if there are none, otherwise a
// Concat.
func ParseString(text string) (*expr.Node, []SyntaxError) {
	if strings.IndexByte(text, '$') < 0 {
		return &expr.Node{Op: expr.Const, Value: value.FromString(text)}, nil
	}
	p := parser{lexer: lexer{src: text}}
	n := p.template(inYAML)
	if p.jump > 0 {
		p.fail(0, "a heredoc in ${} begins and ends inside the braces", "write the } on a line below the text")
	}
	return p.result(n)
}

// ParseLambda parses a lambda that stands alone: |$value| { $value + 1 }.
func ParseLambda(src string) (*expr.Lambda, []SyntaxError) {
	p := parser{lexer: lexer{src: src}}
	p.advance()
	if !p.at("|") {
		p.unexpected("a lambda such as |$x| { ... }")
	}
	l := p.lambda()
	p.end()
	if _, errs := p.result(&expr.Node{Op: expr.Call, Lambda: l}); errs != nil {
		return nil, errs
	}
	return l, nil
}

// result returns what a Parse function returns for n.
func (p *parser) result(n *expr.Node) (*expr.Node, []SyntaxError) {
	if p.err == nil && higher(n, maxHeight) {
		p.fail(n.Off, "the expression is nested too deeply", "split it into several statements")
	}
	if p.err != nil {
		return nil, []SyntaxError{*p.err}
	}
	return n, nil
}

// Unqualify drops the :: that variables begin with, but not in lambdas, which have parameters. In top scope, where
// conditions are evaluated, ${::x} and ${x} are one variable.
func Unqualify(n *expr.Node) {
	if n.Op == expr.Var {
		n.Name = strings.TrimPrefix(n.Name, "::")
	}
	for _, kid := range n.Kids {
		Unqualify(kid)
	}
}
