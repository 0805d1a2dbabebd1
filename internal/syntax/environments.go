package syntax

import "bindc/internal/expr"

// Environments is the syntax tree of environments.pp. Statements are those outside site { }.
type Environments struct {
	Defaults   []Attribute // attributes in Environment { }
	Static     []Declared  // declarations in environment { }
	Dynamic    []Declared  // declarations in dynamic_environments { }
	Statements []*expr.Node
}

// Declared is one title in a declaration, with its attributes.
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

// ParseEnvironments parses environments.pp. It continues after an error, so it may return both errors and declarations.
func ParseEnvironments(src string) (*Environments, []SyntaxError) {
	p := newEnvironmentsParser(src)
	return p.environments(), p.errs
}

func newEnvironmentsParser(src string) *setParser {
	p := newSetParser(src)
	p.catalog = "" // errors about catalogs get no code of their own
	return p
}

func (p *setParser) environments() *Environments {
	out := &Environments{}
	if p.errs != nil {
		return out
	}
	p.advance()
	for p.tok.kind != tEOF {
		begin := p.here()
		if len(p.errs) > 0 && p.at("}") { // end of an invalid construct
			indent := indentOf(p.src, begin.pos)
			p.skip(begin, func() bool { return p.beginsPart(indent) })
			continue
		}
		p.last().Begins = true
		switch {
		case p.tok.is(tName, "site") && p.peek().is(tOp, "{"):
			p.site(out)
		case p.declares():
			p.failHere("expected this declaration of environments in site { }", "write site { "+p.tok.text+" { ... } }")
		default:
			p.outerStatement(out)
		}
		p.resume(begin, p.beginsPart)
	}
	if p.note(); len(p.errs) == 0 {
		_, p.errs = p.result(&expr.Node{Op: expr.Block, Kids: out.nodes()})
	}
	return out
}

// outerStatement parses a statement outside site { }. After an error inside an if, the statement may come from the
// body of that if.
func (p *setParser) outerStatement(out *Environments) {
	begin := p.tok
	var n *expr.Node
	if p.atKeyword("elsif") && len(p.errs) > 0 {
		n = p.ifExpression()
	} else {
		n = p.assignment()
	}
	if p.err != nil {
		return
	}
	out.Statements = append(out.Statements, n)
	switch {
	case len(p.errs) > 0 && p.at("}"):
		return
	case hasNoEffect(n):
		p.errs = append(p.errs, SyntaxError{Off: begin.off, Message: "this value is not used",
			Hint: "$environment = '...' chooses an environment"})
	}
	if p.tok.kind != tEOF && !p.statementFollows() {
		p.unexpected("a statement or site { }")
	}
}

// beginsPart reports whether parsing can continue at the current token after an error, because a statement or site {
// } probably begins there. Except for elsif, the token must be the first on its line. A name without a known meaning
// must not be indented deeper than indent.
func (p *setParser) beginsPart(indent int) bool {
	switch {
	case p.tok.off <= p.errs[len(p.errs)-1].Off:
		return false
	case p.atKeyword("elsif"):
		return true
	case !beginsLine(p.src, p.tok.off):
		return false
	case p.tok.kind == tVar:
		return p.peek().is(tOp, "=")
	case p.tok.kind == tKeyword:
		return p.tok.text == "if" || p.tok.text == "unless" || p.tok.text == "case"
	}
	return p.tok.is(tName, "site") && p.peek().is(tOp, "{") || p.declares() || p.beginsAt(indent)
}

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

func (p *parser) declares() bool {
	switch p.tok.text {
	case "Environment", "environment", "dynamic_environments":
		return (p.tok.kind == tName || p.tok.kind == tType) && p.peek().is(tOp, "{")
	}
	return false
}

// site parses site { ... }. After an invalid declaration, it continues with the next one.
func (p *setParser) site(out *Environments) {
	indent := indentOf(p.src, p.tok.off)
	p.advance()
	p.last().Block = true
	p.expect("{", "after site")
	for p.err == nil && !p.at("}") && p.tok.kind != tEOF && !p.leavesSite(indent) {
		p.last().Begins = true
		begin := p.here()
		p.declaration(out)
		p.resume(begin, func(deep int) bool { return p.beginsDeclaration(deep) || p.leavesSite(indent) })
	}
	p.last().Block = true
	switch {
	case p.leavesSite(indent): // continue with the statements outside
		if len(p.errs) == 0 {
			message := "expected } at the end of site, found " + p.found()
			p.errs = append(p.errs, SyntaxError{Off: p.tok.off, Message: message})
		}
	case p.tok.kind != tEOF || len(p.errs) == 0:
		p.expect("}", "at the end of site")
	}
}

// leavesSite reports whether the current token begins a statement outside site { }, although the '}' is missing. Such
// a token is the first on its line and not indented deeper than indent, the indentation of site.
func (p *setParser) leavesSite(indent int) bool {
	return (p.tok.kind == tVar || p.tok.kind == tKeyword) && beginsLine(p.src, p.tok.off) &&
		indentOf(p.src, p.tok.off) <= indent
}

func (p *setParser) declaration(out *Environments) {
	switch kind := p.tok; {
	case kind.is(tType, "Environment"):
		p.advance()
		p.expect("{", "after Environment")
		out.Defaults = append(out.Defaults, p.attributes("} or , after the attribute")...)
		p.closeDeclaration("or , after the attribute")
	case kind.is(tName, "environment"):
		out.Static = append(out.Static, p.declared()...)
	case kind.is(tName, "dynamic_environments"):
		out.Dynamic = append(out.Dynamic, p.declared()...)
	default:
		p.expected("Environment { }, environment { } or dynamic_environments { }", "environment",
			"dynamic_environments")
	}
}

// beginsDeclaration reports whether the current token may begin a declaration. A misspelt declaration must begin its
// line and not be indented deeper than indent.
func (p *setParser) beginsDeclaration(indent int) bool {
	return p.declares() && (p.open == 0 || beginsLine(p.src, p.tok.off)) || p.beginsAt(indent)
}

// declared parses a declaration with one or several titles, each with attributes, like a resource.
func (p *setParser) declared() []Declared {
	what := p.tok.text
	p.advance()
	p.expect("{", "after "+what)
	var out []Declared
	for p.err == nil && !p.at("}") && p.tok.kind != tEOF {
		d := Declared{Title: p.expression()}
		p.expect(":", "after the title of "+what)
		if p.err == nil {
			d.Attributes = p.attributes("} or ; after the attributes of " + what)
			out = append(out, d)
		}
		if !p.accept(";") {
			break
		}
	}
	p.closeDeclaration("or ; after the attributes of " + what)
	return out
}

// closeDeclaration skips the '}' after a declaration. After an error, it accepts that the '}' is missing at the end
// of the file or before the next declaration.
func (p *setParser) closeDeclaration(after string) {
	if len(p.errs) == 0 || p.tok.kind != tEOF && !p.declares() {
		p.expect("}", after)
	}
}

// attributes parses name => value pairs. After an invalid pair, it continues with the next one. end describes the
// expected token after a pair.
func (p *setParser) attributes(end string) []Attribute {
	var out []Attribute
	for p.tok.kind == tName {
		begin := p.here()
		a := Attribute{Name: p.tok.text, Off: p.tok.off}
		p.advance()
		p.expect("=>", "after the name of the attribute")
		if a.Value = p.expression(); p.err == nil {
			out = append(out, a)
		}
		more := p.accept(",")
		if p.err == nil && !more && !p.at("}") && !p.at(";") {
			p.unexpected(end)
		}
		if p.resume(begin, func(int) bool { return p.afterAttribute() }) {
			more = p.accept(",") || p.followed("=>")
		}
		if !more {
			break
		}
	}
	return out
}

// afterAttribute reports whether the current token may follow an invalid attribute.
func (p *setParser) afterAttribute() bool {
	return p.followed("=>") || p.open == 0 && (p.at(",") || p.at(";")) || p.declares() && beginsLine(p.src, p.tok.off)
}
