package syntax

import (
	"strings"

	"bindc/internal/expr"
)

func (p *parser) optionalLambda() *expr.Lambda {
	if !p.at("|") {
		return nil
	}
	return p.lambda()
}

// lambda parses |parameters| { ... } or |parameters| >> Type { ... }.
func (p *parser) lambda() *expr.Lambda {
	p.advance()
	l := &expr.Lambda{Params: p.params()}
	p.expect("|", "after the parameters of the lambda")
	if p.at(">>") {
		p.advance()
		l.Body = p.returning()
	} else {
		l.Body = p.body("the lambda")
	}
	return l
}

// returning parses a return type and a body. The result is a call of assert_type for the value of the body.
func (p *parser) returning() *expr.Node {
	t := p.paramType()
	if t == nil {
		p.unexpected("a type after >>")
		return p.errorNode()
	}
	return p.over(expr.Call, "assert_type", t, p.body("the lambda"))
}

func (p *parser) params() []expr.Param {
	var list []expr.Param
	for !p.at("|") {
		off := p.tok.off
		if n := len(list); n > 0 && list[n-1].Rest {
			p.fail(off, "expected | after *$"+list[n-1].Name+", which takes all the rest", "")
		}
		param := p.param()
		if n := len(list); n > 0 && list[n-1].Default != nil && param.Default == nil && !param.Rest {
			p.fail(off, "the parameter $"+param.Name+" needs a default, as the one before it has one", "")
		}
		list = append(list, param)
		if !p.accept(",") {
			break
		}
	}
	return list
}

func (p *parser) param() expr.Param {
	param := expr.Param{Type: p.paramType(), Rest: p.accept("*")}
	if p.tok.kind != tVar {
		p.unexpected("a parameter such as $name")
		return param
	}
	param.Name = p.tok.text
	p.checkVariable(p.tok.off, param.Name)
	if isDigit(param.Name[0]) || strings.Contains(param.Name, "::") {
		p.failHere("$"+param.Name+" is not a valid parameter name",
			"a parameter's name begins with a-z or _ and has no ::")
	}
	p.advance()
	if p.accept("=") {
		param.Default = p.expression()
	}
	return param
}

// paramType parses a type such as Integer or Array[String]. It returns nil if there is none.
func (p *parser) paramType() *expr.Node {
	if p.tok.kind != tType {
		return nil
	}
	n := p.node(expr.TypeName, p.tok.off, p.tok.text)
	p.advance()
	if p.at("[") && !p.tok.spaced {
		n = p.access(n)
	}
	return n
}
