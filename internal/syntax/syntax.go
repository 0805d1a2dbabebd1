// Package syntax parses the expression language of the bindings (language.md, section 7) into trees of package expr,
// and prints such trees. The grammar is that of Puppet 4 and later, without the parts that need a catalog. The parser
// accepts any function name; Check reports unknown functions.
//
// The lexer reads tokens on demand, because the meaning of a character depends on the text before it, and because
// strings contain expressions.
package syntax

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

// These limits on trees make recursion over them safe.
const (
	maxNesting = 200  // nesting of brackets, prefix operators and similar constructs
	maxHeight  = 1000 // levels of a tree, including those of long operator chains
)

// SyntaxError is an error at Off, a byte offset in the text. Hint may suggest a fix. If Code is empty, the caller
// chooses a code for the kind of text.
type SyntaxError struct {
	Off     int
	Message string
	Hint    string
	Fix     diag.Fix
	Code    diag.Code
}

// ParseExpression parses one or more statements. Several statements become a Block. An empty text is an error.
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

// ParseString parses a string with interpolations, for example from YAML. The result is a Const if there are no
// interpolations, and otherwise a Concat.
func ParseString(text string) (*expr.Node, []SyntaxError) {
	if strings.IndexByte(text, '$') < 0 {
		return &expr.Node{Op: expr.Const, Value: value.FromString(text)}, nil
	}
	p := parser{lexer: lexer{src: text}}
	n := p.template(inYAML)
	if p.jump > 0 {
		p.fail(0, "a heredoc in ${} must begin and end inside the braces", "write the } on a line below the text")
	}
	return p.result(n)
}

// ParseLambda parses a lambda such as |$value| { $value + 1 }.
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

// result returns n, or the first error. It returns an error for a tree that is nested too deeply.
func (p *parser) result(n *expr.Node) (*expr.Node, []SyntaxError) {
	if p.err == nil && higher(n, maxHeight) {
		p.fail(n.Off, "the expression is nested too deeply", "split it into several statements")
	}
	if p.err != nil {
		return nil, []SyntaxError{*p.err}
	}
	return n, nil
}

// Unqualify removes the '::' at the start of variables in n. Conditions are evaluated at top scope, where ${::x} is
// the same as ${x}. It does not change lambdas, because their parameters could have the same name.
func Unqualify(n *expr.Node) {
	if n.Op == expr.Var {
		n.Name = strings.TrimPrefix(n.Name, "::")
	}
	for _, kid := range n.Kids {
		Unqualify(kid)
	}
}
