package syntax

import "bindc/internal/expr"

// These operators, keywords and functions need a catalog. The texts describe them in messages.
var (
	catalogOperators = map[string]string{
		"->": "a relationship ->", "~>": "a relationship ~>", "<-": "a relationship <-", "<~": "a relationship <~",
		"<|": "a collector <| |>", "|>": "a collector <| |>", "<<|": "a collector <<| |>>",
		"|>>": "a collector <<| |>>",
		"@":   "a virtual resource", "@@": "an exported resource", "+>": "the attribute operator +>",
	}
	catalogKeywords = map[string]string{
		"class": "a class", "define": "a defined type", "node": "a node definition", "inherits": "inherits",
		"function": "the definition of a function", "type": "the definition of a type",
	}
	catalogFunctions = map[string]bool{"contain": true, "include": true, "realize": true, "require": true, "tag": true}
)

// statementFunctions lists the functions that Puppet allows without parentheses, except those that need a catalog.
var statementFunctions = map[string]bool{
	"break": true, "debug": true, "err": true, "import": true, "info": true, "next": true, "notice": true,
	"return": true, "warning": true,
}

const noCatalog = " needs a catalog, which bindings do not have"

// unexpected reports that the current token is not the expected one. If the token needs a catalog, the message says
// so.
func (p *parser) unexpected(expected string) {
	switch what := catalogOperators[p.tok.text]; {
	case p.tok.kind == tOp && what != "":
		p.failCatalog(what, operatorHint(p.tok.text))
	case p.tok.kind == tKeyword && catalogKeywords[p.tok.text] != "" && p.peek().is(tOp, "=>"):
		p.correctHere("the key "+p.tok.text+" is a reserved word", "write '"+p.tok.text+"' in quotes",
			quotedWord(p.tok.text))
	case p.tok.kind == tKeyword && catalogKeywords[p.tok.text] != "":
		p.failCatalog(catalogKeywords[p.tok.text], "as text, write '"+p.tok.text+"' in quotes")
	default:
		p.failHere("expected "+expected+", found "+p.found(), "")
	}
}

// failCatalog reports that the current token begins a construct that needs a catalog.
func (p *parser) failCatalog(what, hint string) {
	before := p.err
	p.failHere(what+noCatalog, hint)
	if before == nil {
		p.err.Code = p.catalog
	}
}

func operatorHint(op string) string {
	if op == "<-" {
		return "to compare with a negative number, write < -"
	}
	return ""
}

// found describes the current token for a message.
func (p *parser) found() string {
	text := p.src[p.tok.off:p.tok.end]
	switch p.tok.kind {
	case tEOF:
		return "the end of the text"
	case tKeyword:
		return "the keyword " + text
	case tString, tHeredoc, tQuote:
		return "a string"
	}
	return "'" + text + "'"
}

// failStatementCall reports that arguments without parentheses follow a name.
func (p *parser) failStatementCall(name token) {
	switch {
	case catalogFunctions[name.text]:
		p.fail(name.off, name.text+noCatalog, "")
	case statementFunctions[name.text]:
		p.fail(name.off, "there is no function "+name.text, "")
	default:
		p.fail(name.off, "expected an operator after the word "+name.text,
			"a function is called with parentheses, "+name.text+"(...); text belongs in quotes")
	}
}

// failCall reports a call of an expression that is neither a function name nor a type.
func (p *parser) failCall(called *expr.Node) {
	hint := "only names and types can be called"
	if called.Op == expr.Var {
		hint += ": a lambda is not a value"
	}
	p.failHere("expected a function name before (", hint)
}
