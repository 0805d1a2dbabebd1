package syntax

import (
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

// bindWords lists the words that may follow bind instead of a key.
var bindWords = []string{"abstract", "alias", "dependency", "map", "override", "parameters", "renamed", "sensitive",
	"to", "variables"}

// bind parses the rest of a statement after the word bind.
func (p *setParser) bind(s *Statement) {
	s.Flags = p.flags()
	switch {
	case p.atWord("alias"), p.atWord("renamed"):
		s.Word = p.tok.text
		p.advance()
		p.rebinding(s)
	case p.atWord("parameters"), p.atWord("variables"), p.atWord("map"), p.atWord("dependency"):
		p.group(s, p.tok.text)
	case p.atWord("variable"):
		p.group(s, "variables")
	case p.tok.kind == tName && !p.atWord("to"):
		misspelt := diag.DidYouMean(p.tok.text, bindWords) != ""
		if strings.Contains(p.tok.text, "::") || p.peek().is(tName, "to") && !misspelt {
			p.correctHere("expected a key in quotes, found "+p.found(), "write '"+p.tok.text+"'",
				quotedWord(p.tok.text))
			return
		}
		p.expected("a key in quotes, a type, or another word of bind", bindWords...)
	default:
		p.plain(s)
	}
}

// quotedWord returns the fix that puts word in quotes.
func quotedWord(word string) diag.Fix {
	return diag.Fix{Old: word, New: "'" + word + "'", Syntax: true}
}

// plain parses the rest of a binding of one key, or of a contribution without a key.
func (p *setParser) plain(s *Statement) {
	s.Type = p.typeOf()
	hasKey := s.Type != nil && p.accept(",") || p.tok.kind == tString || p.tok.kind == tQuote || p.tok.kind == tHeredoc
	if hasKey && p.err == nil {
		s.Key = p.text("a key to bind, as a string")
	}
	p.producer(s)
	if p.err == nil && p.accepts("in") {
		s.In = p.text("the id of a multibinding, as a string")
	}
	p.options(s)
	if p.err == nil && s.Key == nil && s.In == nil {
		p.anonymous(s)
	}
	p.ofData(s.Type)
	p.ofData(s.To)
}

// anonymous reports an error for a binding that has neither a key nor a multibinding.
func (p *setParser) anonymous(s *Statement) {
	if s.Type == nil {
		p.fail(s.Off, "expected a key to bind, in quotes, or 'in' and the id of a multibinding", "")
		return
	}
	p.failCode(s.Off, "catalog", "a binding of a type without a name creates Ruby objects, which is not supported",
		"bind a value to a name: bind 'name' to …")
}

// producer parses 'to' and the value or producer after it, if there is a 'to'.
func (p *setParser) producer(s *Statement) {
	if p.err != nil || !p.accepts("to") {
		p.insteadOfTo(s)
		return
	}
	s.Optional = p.accepts("optional")
	switch {
	case p.atProducer():
		p.advance()
		s.Producer = true
		if p.tok.kind == tType {
			p.failCode(p.tok.off, "catalog", "producers written in Ruby are not supported",
				"register one with the runtime, and name it: producer 'name'")
		}
		s.To = p.text("the name of a registered producer, a string")
	case p.beginsStatement() && beginsLine(p.src, p.tok.off):
		p.expected("a value or another producer after 'to'")
	case p.atQuery():
		s.Query = p.query()
	default:
		s.To = p.value()
	}
}

// insteadOfTo reports an error if a token such as '=' is in the place of 'to'.
func (p *setParser) insteadOfTo(s *Statement) {
	switch {
	case p.err != nil || s.Key == nil || p.afterUnclosed():
	case p.at("="), p.at("=>"), p.at(":"):
		p.correctHere("expected 'to' before the value, found "+p.found(), "write 'to' instead of '"+p.tok.text+"'",
			diag.Fix{Old: p.tok.text, New: "to", Syntax: true})
	case p.atWord("abstract"), p.atWord("override"), p.atWord("sensitive"):
		p.failHere("expected '"+p.tok.text+"' before the key, in front of its type",
			"write bind "+p.tok.text+" 'key' to …")
	}
}

// value parses an expression in a statement. The word 'in' ends it, except inside brackets.
func (p *setParser) value() *expr.Node {
	outer := p.inEndsAt
	p.inEndsAt = p.open + 1
	n := p.expression()
	p.inEndsAt = outer
	return p.checkedTree(n)
}

// checkedTree returns n. It reports an error if n is nested too deeply or has duplicate hash keys.
func (p *setParser) checkedTree(n *expr.Node) *expr.Node {
	if n != nil && p.err == nil {
		if higher(n, maxHeight) {
			p.fail(n.Off, "the expression is nested too deeply", "split it into several statements")
		}
		p.checkKeys(n)
	}
	return n
}

// checkKeys reports duplicate keys in the hashes inside n. Parsing of the statement continues.
func (p *setParser) checkKeys(n *expr.Node) {
	for x := range All(n) {
		if x.Op != expr.HashLit {
			continue
		}
		var seen value.Builder
		for i := 0; i < len(x.Kids); i += 2 {
			if key, ok := x.Kids[i].Constant(); ok {
				p.addUnique(&seen, key, x.Kids[i].Off, "the key "+strings.TrimPrefix(value.Describe(key),
					"the string ")+" is given twice in one hash")
			}
		}
	}
}

func (p *setParser) addUnique(seen *value.Builder, key value.Value, off int, twice string) {
	if _, again := seen.Get(key); again {
		p.errs = append(p.errs, SyntaxError{Off: off, Message: twice, Hint: "remove one of the two"})
	}
	seen.Set(key, value.Value{})
}

func (p *setParser) atProducer() bool {
	if !p.atWord("producer") {
		return false
	}
	next := p.peek().kind
	return next == tString || next == tQuote || next == tType
}

func (p *setParser) options(s *Statement) {
	if p.err != nil || !p.at("{") {
		return
	}
	s.Braces = p.tok.off
	p.advance()
	var seen value.Builder
	for p.err == nil && !p.at("}") {
		o := p.option()
		s.Options = append(s.Options, o)
		if p.err == nil {
			p.addUnique(&seen, value.FromString(o.Name.Text), o.Name.Off, "the option '"+o.Name.Text+"' is given twice")
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("}", "or , after the option")
}

// bareOrQuoted parses a bare word or a string without interpolations. what describes it in messages.
func (p *setParser) bareOrQuoted(what string) Word {
	w := Word{p.tok.text, p.tok.off}
	switch p.tok.kind {
	case tName, tWord, tString, tKeyword:
		p.advance()
	case tQuote:
		w.Text = p.constantText(what)
	default:
		p.expected(what)
	}
	return w
}

func (p *setParser) option() Option {
	o := Option{Name: p.bareOrQuoted("an option name")}
	p.expect("=>", "after the name of the option")
	if p.err == nil && p.at("|") {
		o.Lambda = p.lambda()
		o.Value = p.checkedTree(&expr.Node{Op: expr.Call, Off: o.Name.Off, Lambda: o.Lambda})
		return o
	}
	o.Value = p.checkedTree(listed(p.entry()))
	return o
}

// rebinding parses the rest of a statement after 'bind alias' or 'bind renamed'.
func (p *setParser) rebinding(s *Statement) {
	s.OldType, s.Old = p.oneKey("the key to rebind")
	if p.err == nil && !p.accepts("as") {
		p.expected("'as' and the new key", "as")
	}
	if p.err == nil {
		s.Flags = append(s.Flags, p.flags()...)
		s.Type, s.Key = p.oneKey("the new key")
	}
	p.options(s)
}

// group parses a binding of several keys. word is its keyword, such as parameters.
func (p *setParser) group(s *Statement, word string) {
	p.advance()
	s.Word = word
	s.Flags = append(s.Flags, p.flags()...)
	switch s.Word {
	case "dependency":
		p.dependency(s)
		return
	case "map":
		s.Target = p.target()
		if p.err == nil && !p.accepts("to") {
			p.expected("'to' and a second target", "to")
		}
		if s.Other = p.target(); p.err == nil && (p.at("{") || !isAbstract(s)) {
			if isAbstract(s) && !p.at("{") { // the map of an abstract binding is optional
				return
			}
			if !p.at("{") {
				p.expected("{ parameter => parameter } after the two types of the map")
			}
			s.To = p.value()
		}
		return
	case "parameters":
		s.Target = p.target()
	case "variables":
		s.Type = p.typeOf()
	}
	p.producer(s)
	if s.Word == "variables" && s.To != nil && s.To.Op == expr.Const && isAbstract(s) { // a single name, not a list
		s.To = p.node(expr.ArrayLit, s.To.Off, "", s.To)
	}
	p.options(s)
}

func (p *setParser) dependency(s *Statement) {
	s.Target = p.value()
	if p.err != nil {
		return
	}
	s.Arrow = Word{p.tok.text, p.tok.off}
	if !p.accept("->") && !p.accept("~>") {
		p.expected("-> or ~> between the two sides")
	}
	s.Other = p.value()
}

func (p *setParser) target() *expr.Node {
	if p.atKeyword("class") {
		p.advance()
	}
	switch p.tok.kind {
	case tName:
		p.tok.text = strings.TrimPrefix(p.tok.text, "::")
		return p.word()
	case tType:
		return p.checkedTree(p.paramType())
	}
	p.expected("the name of a class, a type, or an instance of a type")
	return nil
}
