package syntax

import (
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

// statementWords are what a statement may begin with.
var statementWords = []string{"bind", "exclude", "include", "multibind", "rebind", "when"}

// statementList parses statements up to a } or the end. Behind one that is wrong it goes on with the next.
func (p *setParser) statementList() []Statement {
	p.enter()
	defer p.leave()
	var out []Statement
	for !p.at("}") && p.tok.kind != tEOF {
		begin := p.here()
		s := p.statement()
		if p.err == nil {
			out = append(out, s)
			continue
		}
		p.note()
		if p.depth > maxNesting || len(p.errs) >= maxErrors {
			p.stop()
			break
		}
		if s.Statements != nil { // of which the errors are told by themselves
			out = append(out, s)
		}
		p.recover(begin)
	}
	return out
}

// statement parses one statement.
func (p *setParser) statement() Statement {
	s := Statement{Off: p.tok.off, Word: p.tok.text}
	p.last().Begins = true
	switch {
	case p.accepts("when"):
		p.when(&s)
	case p.accepts("include"), p.accepts("exclude"):
		s.Names = p.classNames()
	case p.accepts("rebind"):
		s.Flags = p.flags()
		s.Type, s.Key = p.oneKey("the key that is bound once more")
		p.options(&s)
	case p.accepts("multibind"):
		p.multibind(&s)
	case p.accepts("bind"):
		p.bind(&s)
	default:
		p.expected("a statement, which begins with "+diag.Quoted(statementWords), append(statementWords, "as", "to")...)
	}
	s.End = p.tok.off
	return s
}

// closing passes the } behind statements. Where something is wrong it may have been taken for a part of that.
func (p *setParser) closing() {
	p.last().Block = true
	if p.tok.kind != tEOF || len(p.errs) == 0 {
		p.expect("}", "or a statement")
	}
}

// expected notes that tok is not what was expected, with the word that may have been meant.
func (p *setParser) expected(what string, words ...string) {
	hint := ""
	if p.tok.kind == tName || p.tok.kind == tWord {
		hint = diag.DidYouMean(p.tok.text, words)
	}
	p.failHere("expected "+what+", found "+p.found(), hint)
}

// when parses what a conditional asks, and what is bound under it.
func (p *setParser) when(s *Statement) {
	s.When = append(s.When, p.pairs())
	for p.err == nil && p.accepts("or") {
		s.When = append(s.When, p.pairs())
	}
	p.last().Block = true
	if p.err == nil && !p.at("{") {
		p.failHere("expected { before the statements of when, found "+p.found(), conditionHints[p.tok.text])
	}
	p.expect("{", "before the statements of when")
	if p.err != nil {
		return
	}
	s.Statements = []Statement{}
	if list := p.statementList(); list != nil {
		s.Statements = list
	}
	p.closing()
}

// conditionHints say how to write what begins as something else does.
var conditionHints = map[string]string{
	".":  "a value with dots stands in quotes: 'www.example.org'",
	",":  "several values stand in brackets: [a, b]",
	"==": "the value stands right behind the category: when osfamily debian",
	"=>": "the value stands right behind the category: when osfamily debian",
}

// pairs parses categories and their values, all of which hold.
func (p *setParser) pairs() []Pair {
	out := []Pair{p.pair()}
	for p.err == nil && p.accepts("and") {
		out = append(out, p.pair())
	}
	return out
}

func (p *setParser) pair() Pair {
	p.last().Word = true
	pair := Pair{Category: p.name("the name of a category"), Off: p.tok.off}
	switch {
	case pair.Category.Text == "common" && p.at("{"):
		pair.Values = []Word{{"true", p.tok.off}} // everything is in it
	case p.accept("["):
		pair.Values = commaList(p, "]", p.categoryValue)
	default:
		pair.Values = []Word{p.categoryValue()}
	}
	return pair
}

// commaList parses what is left of a list in brackets, in which there is something.
func commaList[T any](p *setParser, closing string, one func() T) []T {
	out := []T{one()}
	for p.err == nil && p.accept(",") && !p.at(closing) {
		out = append(out, one())
	}
	p.expect(closing, "or , in the list")
	return out
}

// categoryValue is a value of a category, as it is written: 6.10 is no 6.1.
func (p *setParser) categoryValue() Word {
	w := Word{p.tok.text, p.tok.off}
	switch {
	case p.tok.kind == tQuote:
		if w.Text = p.constantText("a value of the category"); w.Text == "" && p.err == nil {
			p.fail(w.Off, "expected a value of the category, found an empty string", "")
		}
		return w
	case p.at("-") && p.peek().kind == tNumber:
		p.advance()
		w.Text = "-" + p.tok.text
	case p.tok.kind == tString, p.tok.kind == tNumber, p.tok.kind == tName, p.tok.kind == tWord,
		p.atKeyword("true"), p.atKeyword("false"), p.atKeyword("default"):
	default:
		hint := conditionHints[p.tok.text]
		if p.tok.kind == tType {
			hint = "text with capital letters stands in quotes: '" + p.tok.text + "'"
		}
		p.failHere("expected a value of the category, a string, number or boolean, found "+p.found(), hint)
		return w
	}
	if w.Text == "" {
		p.failHere("expected a value of the category, found an empty string", "")
	}
	p.advance()
	return w
}

// constantText is a string in which nothing is interpolated.
func (p *setParser) constantText(what string) string {
	n := p.text(what)
	if n == nil {
		return ""
	}
	return n.Value.Text()
}

// text parses such a string, nil after an error.
func (p *setParser) text(what string) *expr.Node {
	begin := p.tok
	switch p.tok.kind {
	case tString, tQuote, tHeredoc:
	default:
		p.expected(what)
		return nil
	}
	n := p.operand()
	if v, ok := n.Constant(); p.err == nil && (!ok || v.Kind() != value.String) {
		p.fail(begin.off, "expected "+what+", found a string that interpolates",
			"it has to be known when this is compiled")
	}
	if p.err != nil {
		return nil
	}
	return n
}

func (p *setParser) classNames() []Word {
	if p.accept("[") {
		return commaList(p, "]", p.className)
	}
	return []Word{p.className()}
}

func (p *setParser) className() Word {
	w := Word{strings.TrimPrefix(p.tok.text, "::"), p.tok.off}
	if p.tok.kind == tQuote {
		w.Text = strings.TrimPrefix(p.constantText("the name of a class"), "::")
		return w
	}
	if p.tok.kind != tName && p.tok.kind != tString && p.tok.kind != tWord {
		p.expected("the name of a class, or a list of names in brackets")
		return w
	}
	p.advance()
	return w
}

var flagWords = []string{"abstract", "override", "sensitive"}

// flags parses the words that may stand in front of a key.
func (p *setParser) flags() (out []Word) {
	for p.tok.kind == tName && slices.Contains(flagWords, p.tok.text) {
		out = append(out, Word{p.tok.text, p.tok.off})
		p.advance()
	}
	return out
}

func isAbstract(s *Statement) bool {
	return slices.ContainsFunc(s.Flags, func(w Word) bool { return w.Text == "abstract" })
}

// key parses a key, perhaps with its type in front of it.
func (p *setParser) key(what string) (t, key *expr.Node) {
	if t = p.typeOf(); t != nil {
		p.accept(",")
	}
	return t, p.text(what + ", a string")
}

// oneKey parses a key of what is bound again, which is one in quotes.
func (p *setParser) oneKey(what string) (t, key *expr.Node) {
	if hint := keyHints[p.tok.text]; hint != "" && p.tok.kind == tName {
		p.failHere("expected "+what+", a string, found "+p.found(), hint)
	}
	return p.key(what)
}

// keyHints say how to write one key of those that a group stands for.
var keyHints = map[string]string{
	"parameters": "parameters are rebound one by one, each by its key: '/param/Web[one]/port', of a class 'ntp::port'; " +
		"all of one target are those of another by: bind parameters Web[one] to Web[two]",
	"variables": "variables are rebound one by one, each by its key: '/var/role'",
	"variable":  "the key of a variable stands in quotes: '/var/role'",
	"map":       "the key of a map stands in quotes: '/map/Web/Sql'",
}

// typeOf is a type such as Array[String], or nil.
func (p *setParser) typeOf() *expr.Node {
	if p.atKeyword("class") {
		p.failCode(p.tok.off, "catalog", "a class"+noCatalog, parametersInstead)
	}
	if p.tok.kind != tType || upper(p.tok.text) != "" {
		return nil
	}
	return p.finished(p.paramType())
}

const parametersInstead = "parameters of a class are bound with: bind parameters NAME to { … }"

// ofData checks that n names no class, of a catalog or of Ruby.
func (p *setParser) ofData(n *expr.Node) {
	for x := range All(n) {
		if x.Op != expr.Access || x.Kids[0].Op != expr.TypeName {
			continue
		}
		switch x.Kids[0].Name {
		case "Class":
			p.failCode(n.Off, "catalog", "a class"+noCatalog, parametersInstead)
		case "Type":
			p.failCode(n.Off, "catalog", "a class of Ruby is nothing that a binding can have",
				"bind data, or what a registered producer makes: to producer 'name'")
		}
	}
}

// multibind parses what collects contributions.
func (p *setParser) multibind(s *Statement) {
	s.Flags = p.flags()
	s.Type, s.Key = p.key("the key of the multibinding")
	if p.err == nil && p.accepts("as") {
		s.In = p.text("what the multibinding is called, a string")
	}
	p.options(s)
}

// bindWords are what may follow bind, other than a key.
var bindWords = []string{"abstract", "alias", "dependency", "map", "override", "parameters", "renamed", "sensitive", "to",
	"variables"}

// bind parses what follows the word bind.
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
		p.expected("a key in quotes, a type, or another word of bind", bindWords...)
	default:
		p.plain(s)
	}
}

// plain parses the rest of a binding of one key, or of a contribution without a name.
func (p *setParser) plain(s *Statement) {
	s.Type = p.typeOf()
	hasKey := s.Type != nil && p.accept(",") || p.tok.kind == tString || p.tok.kind == tQuote || p.tok.kind == tHeredoc
	if hasKey && p.err == nil {
		s.Key = p.text("the key that is bound, a string")
	}
	p.producer(s)
	if p.err == nil && p.accepts("in") {
		s.In = p.text("the multibinding that is contributed to, a string")
	}
	p.options(s)
	if p.err == nil && s.Key == nil && s.In == nil {
		p.anonymous(s)
	}
	p.ofData(s.Type)
	p.ofData(s.To)
}

// anonymous notes the error of a binding that has no key.
func (p *setParser) anonymous(s *Statement) {
	if s.Type == nil {
		p.fail(s.Off, "expected the key that is bound, a string in quotes, or 'in' and a multibinding", "")
		return
	}
	p.failCode(s.Off, "catalog", "a binding of a type without a name stands for objects of Ruby, which a binding cannot make",
		"bind a value to a name: bind 'name' to …")
}

func (p *setParser) failCode(off int, code diag.Code, message, hint string) {
	if p.err == nil {
		p.fail(off, message, hint)
		p.err.Code = code
	}
}

// producer parses what produces the value, if anything does.
func (p *setParser) producer(s *Statement) {
	if p.err != nil || !p.accepts("to") {
		return
	}
	s.Optional = p.accepts("optional")
	switch {
	case p.atProducer():
		p.advance()
		s.Producer = true
		if p.tok.kind == tType {
			p.failCode(p.tok.off, "catalog", "a producer that is a class of Ruby cannot be run",
				"register one with the runtime, and name it: producer 'name'")
		}
		s.To = p.text("the name of a registered producer, a string")
	case p.beginsStatement() && beginsLine(p.src, p.tok.off):
		p.expected("what produces the value, behind 'to'")
	case p.atQuery():
		s.Query = p.query()
	default:
		s.To = p.value()
	}
}

// value parses an expression of a statement, which the word in ends.
func (p *setParser) value() *expr.Node {
	outer := p.ends
	p.ends = p.open + 1
	n := p.expression()
	p.ends = outer
	return p.finished(n)
}

// finished is n, unless it is too high to be walked.
func (p *setParser) finished(n *expr.Node) *expr.Node {
	if n != nil && p.err == nil {
		if higher(n, maxHeight) {
			p.fail(n.Off, "the expression is nested too deeply", "split it into several statements")
		}
		p.checkKeys(n)
	}
	return n
}

// checkKeys notes the keys that stand twice in a hash that n has: what is said first would count for nothing. The
// statement can be read all the same.
func (p *setParser) checkKeys(n *expr.Node) {
	for x := range All(n) {
		if x.Op != expr.HashLit {
			continue
		}
		var seen value.Builder
		for i := 0; i < len(x.Kids); i += 2 {
			if key, ok := x.Kids[i].Constant(); ok {
				p.once(&seen, key, x.Kids[i].Off, "the key "+strings.TrimPrefix(value.Describe(key),
					"the string ")+" is given twice in one hash")
			}
		}
	}
}

// once notes that key was seen, and that it is an error if that was before.
func (p *setParser) once(seen *value.Builder, key value.Value, off int, twice string) {
	if _, again := seen.Get(key); again {
		p.errs = append(p.errs, Error{Off: off, Message: twice, Hint: "remove one of the two"})
	}
	seen.Set(key, value.Value{})
}

// atProducer tells whether a producer is named, and producer is no text.
func (p *setParser) atProducer() bool {
	if !p.atWord("producer") {
		return false
	}
	next := p.peek().kind
	return next == tString || next == tQuote || next == tType
}

// options parses options in braces, if there are any.
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
			p.once(&seen, value.FromString(o.Name.Text), o.Name.Off, "the option '"+o.Name.Text+"' is given twice")
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("}", "or , after the option")
}

func (p *setParser) option() Option {
	o := Option{Name: Word{p.tok.text, p.tok.off}}
	switch p.tok.kind {
	case tName, tWord, tString, tKeyword:
		p.advance()
	default:
		p.expected("the name of an option")
	}
	p.expect("=>", "after the name of the option")
	if p.err == nil && p.at("|") {
		o.Lambda = p.lambda()
		o.Value = p.finished(&expr.Node{Op: expr.Call, Off: o.Name.Off, Lambda: o.Lambda})
		return o
	}
	o.Value = p.finished(listed(p.entry()))
	return o
}

// rebinding parses what follows bind alias or bind renamed.
func (p *setParser) rebinding(s *Statement) {
	s.OldType, s.Old = p.oneKey("the key that is rebound")
	if p.err == nil && !p.accepts("as") {
		p.expected("'as' and the key it has from now on", "as")
	}
	if p.err == nil {
		s.Flags = append(s.Flags, p.flags()...)
		s.Type, s.Key = p.oneKey("the key it has from now on")
	}
	p.options(s)
}

// group parses what comes to bindings of several keys, from the word that tells what.
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
			p.expected("'to' and the other side", "to")
		}
		if s.Other = p.target(); p.err == nil && (p.at("{") || !isAbstract(s)) {
			if isAbstract(s) && !p.at("{") { // somebody else says it
				return
			}
			if !p.at("{") {
				p.expected("{ parameter => parameter } behind the two sides of the map")
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
	if s.Word == "variables" && s.To != nil && s.To.Op == expr.Const && isAbstract(s) { // one name
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

// target parses the name of a class, a type, or an instance of one.
func (p *setParser) target() *expr.Node {
	if p.atKeyword("class") {
		p.advance()
	}
	switch p.tok.kind {
	case tName:
		p.tok.text = strings.TrimPrefix(p.tok.text, "::")
		return p.word()
	case tType:
		return p.finished(p.paramType())
	}
	p.expected("the name of a class, a type, or an instance of a type")
	return nil
}
