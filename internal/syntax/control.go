package syntax

import (
	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

// body parses the statements in braces after keyword.
func (p *parser) body(keyword string) *expr.Node {
	switch {
	case p.at("="):
		p.correctHere("expected { before the statements of "+keyword+", found '='", "write == to compare",
			diag.Fix{Old: "=", New: "==", Syntax: true})
	case keyword == "else" && p.atKeyword("if"):
		p.failHere("expected { before the statements of else, found the keyword if", "write elsif")
	}
	p.expect("{", "before the statements of "+keyword)
	n := p.statements()
	p.expect("}", "after the statements of "+keyword)
	return n
}

// control parses the condition of an if, unless or case, up to the '{'. Inside it, the word 'in' is an operator.
func (p *parser) control() *expr.Node {
	outer := p.inEndsAt
	p.inEndsAt = 0
	n := p.expression()
	p.inEndsAt = outer
	return n
}

func (p *parser) empty() *expr.Node { return p.node(expr.Block, p.tok.off, "") }

func (p *parser) ifExpression() *expr.Node {
	p.enter()
	defer p.leave()
	off, keyword := p.tok.off, p.tok.text
	p.advance()
	n := p.node(expr.If, off, "", p.control(), p.body(keyword))
	if p.atKeyword("elsif") {
		n.Kids = append(n.Kids, p.ifExpression())
	} else {
		n.Kids = append(n.Kids, p.elseBody())
	}
	return n
}

func (p *parser) elseBody() *expr.Node {
	if !p.atKeyword("else") {
		return p.empty()
	}
	p.advance()
	return p.body("else")
}

func (p *parser) unlessExpression() *expr.Node {
	off := p.tok.off
	p.advance()
	condition, body := p.control(), p.body("unless")
	if p.atKeyword("elsif") {
		p.failHere("expected else, found elsif", "unless has no elsif; write if !(...)")
	}
	return p.node(expr.If, off, "", condition, p.elseBody(), body)
}

func (p *parser) caseExpression() *expr.Node {
	off := p.tok.off
	p.advance()
	n := p.node(expr.Case, off, "", p.control())
	p.expect("{", "before the options of case")
	if p.at("}") {
		p.unexpected("an option of case, value: { ... }")
	}
	hasDefault := false
	for !p.at("}") && p.tok.kind != tEOF {
		n.Kids = append(n.Kids, p.caseOption(&hasDefault))
	}
	p.expect("}", "after the last case option")
	return n
}

func (p *parser) caseOption(hasDefault *bool) *expr.Node {
	values := []*expr.Node{p.optionValue(hasDefault)}
	for p.accept(",") {
		values = append(values, p.optionValue(hasDefault))
	}
	p.expect(":", "after the values of the option")
	return p.over(expr.Option, "", append(values, p.body("the option"))...)
}

// optionValue parses a value of an option in a case or selector. It reports a second default, which would have no
// effect.
func (p *parser) optionValue(hasDefault *bool) *expr.Node {
	off := p.tok.off
	n := p.operation(lowest)
	if isDefault(n) && *hasDefault {
		p.fail(off, "there are two defaults", "")
	}
	*hasDefault = *hasDefault || isDefault(n)
	return n
}

func isDefault(n *expr.Node) bool {
	v, ok := n.Constant()
	return ok && v.Kind() == value.Default
}

// selector parses a selector after its control expression. The current token is the question mark.
func (p *parser) selector(control *expr.Node) *expr.Node {
	p.advance()
	n := p.over(expr.Selector, "", control)
	hasDefault := false
	if !p.accept("{") {
		n.Kids = append(n.Kids, p.selectorOption(&hasDefault))
		return n
	}
	for {
		n.Kids = append(n.Kids, p.selectorOption(&hasDefault))
		if !p.accept(",") || p.at("}") {
			break
		}
	}
	p.expect("}", "or , after the option of the selector")
	return n
}

func (p *parser) selectorOption(hasDefault *bool) *expr.Node {
	match := p.optionValue(hasDefault)
	p.expect("=>", "after the value of the option")
	return p.over(expr.Option, "", match, p.expression())
}
