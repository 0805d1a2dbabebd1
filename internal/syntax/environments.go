package syntax

import "bindc/internal/expr"

// Environments is what environments.pp says: declarations in site { }, and statements beside them, in order.
type Environments struct {
	Defaults   []Attribute // of Environment { }
	Static     []Declared  // of environment { }
	Dynamic    []Declared  // of dynamic_environments { }
	Statements []*expr.Node
}

// Declared is one body of a declaration: its title and its attributes.
type Declared struct {
	Title      *expr.Node
	Attributes []Attribute
}

// Attribute is name => value.
type Attribute struct {
	Name  string
	Off   int
	Value *expr.Node
}

// ParseEnvironments parses environments.pp.
func ParseEnvironments(src string) (*Environments, []Error) {
	p := parser{lexer: lexer{src: src}}
	return p.environments()
}

func (p *parser) environments() (*Environments, []Error) {
	p.advance()
	var out Environments
	for p.tok.kind != tEOF {
		p.last().Begins = true
		if p.tok.is(tName, "site") && p.peek().is(tOp, "{") {
			p.site(&out)
			continue
		}
		if p.declares() {
			p.failHere("a declaration of environments stands in site { }", "write site { "+p.tok.text+" { ... } }")
			break
		}
		begin := p.tok
		n := p.assignment()
		if idle(n) {
			p.fail(begin.off, "this value is not used", "$environment = '...' chooses an environment")
		}
		out.Statements = append(out.Statements, n)
		if p.tok.kind != tEOF && !p.goesOn() {
			p.unexpected("a statement or site { }")
		}
	}
	p.end()
	_, errs := p.result(&expr.Node{Op: expr.Block, Kids: out.nodes()})
	return &out, errs
}

// nodes are all expressions, wherever they stand.
func (e *Environments) nodes() []*expr.Node {
	out := append([]*expr.Node(nil), e.Statements...)
	add := func(as []Attribute) {
		for _, a := range as {
			out = append(out, a.Value)
		}
	}
	add(e.Defaults)
	for _, list := range [][]Declared{e.Static, e.Dynamic} {
		for _, d := range list {
			out = append(out, d.Title)
			add(d.Attributes)
		}
	}
	return out
}

// declares tells whether a declaration of environments begins at tok.
func (p *parser) declares() bool {
	switch p.tok.text {
	case "Environment", "environment", "dynamic_environments":
		return (p.tok.kind == tName || p.tok.kind == tType) && p.peek().is(tOp, "{")
	}
	return false
}

// site parses site { ... }.
func (p *parser) site(out *Environments) {
	p.advance()
	p.last().Block = true
	p.expect("{", "after site")
	for !p.at("}") && p.tok.kind != tEOF {
		p.last().Begins = true
		kind := p.tok
		switch {
		case kind.is(tType, "Environment"):
			p.advance()
			p.expect("{", "after Environment")
			out.Defaults = append(out.Defaults, p.attributes()...)
			p.expect("}", "or , after the attribute")
		case kind.is(tName, "environment"):
			out.Static = append(out.Static, p.declared()...)
		case kind.is(tName, "dynamic_environments"):
			out.Dynamic = append(out.Dynamic, p.declared()...)
		default:
			p.unexpected("Environment { }, environment { } or dynamic_environments { }")
		}
	}
	p.last().Block = true
	p.expect("}", "at the end of site")
}

// declared parses a declaration as resources are written: one or several bodies, each with a title.
func (p *parser) declared() []Declared {
	what := p.tok.text
	p.advance()
	p.expect("{", "after "+what)
	var out []Declared
	for !p.at("}") && p.tok.kind != tEOF {
		d := Declared{Title: p.expression()}
		p.expect(":", "after the title of "+what)
		d.Attributes = p.attributes()
		out = append(out, d)
		if !p.accept(";") {
			break
		}
	}
	p.expect("}", "or ; after the attributes of "+what)
	return out
}

// attributes parses name => value, ... as far as there are any.
func (p *parser) attributes() []Attribute {
	var out []Attribute
	for p.tok.kind == tName {
		a := Attribute{Name: p.tok.text, Off: p.tok.off}
		p.advance()
		p.expect("=>", "after the name of the attribute")
		a.Value = p.expression()
		out = append(out, a)
		if !p.accept(",") {
			break
		}
	}
	return out
}
