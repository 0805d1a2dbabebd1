package syntax

import (
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
)

var statementWords = []string{"bind", "exclude", "include", "multibind", "rebind", "when"}

// statementList parses statements up to a '}' or the end of the text. After an invalid statement, it continues with
// the next one.
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
		if s.Statements != nil { // the errors inside the statements are already recorded
			out = append(out, s)
		}
		p.recover(begin)
	}
	return out
}

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
		s.Type, s.Key = p.oneKey("the key to rebind")
		p.options(&s)
	case p.accepts("multibind"):
		p.multibind(&s)
	case p.accepts("bind"):
		p.bind(&s)
	default:
		p.noStatement()
	}
	s.End = p.tok.off
	return s
}

// statementHints maps tokens that cannot begin a statement to hints for messages.
var statementHints = map[string]string{
	";":      "remove it: statements follow one another without a separator",
	",":      "remove it: statements follow one another without a separator",
	"if":     "write when CATEGORY VALUE { … }: the set of bindings is fixed when they are compiled",
	"unless": "write when CATEGORY VALUE { … }: the set of bindings is fixed when they are compiled",
	"case":   "write when CATEGORY VALUE { … }: the set of bindings is fixed when they are compiled",
}

func (p *setParser) noStatement() {
	if p.afterUnclosed() {
		return
	}
	if hint := statementHints[p.tok.text]; hint != "" && (p.tok.kind == tOp || p.tok.kind == tKeyword) {
		fix := diag.Fix{}
		if p.tok.kind == tOp {
			fix = diag.Fix{Old: p.tok.text, Syntax: true}
		}
		p.correctHere("expected a statement, found "+p.found(), hint, fix)
		return
	}
	p.expected("a statement, which begins with "+diag.AnyOf(statementWords), append(statementWords, "as", "to")...)
}

// unclosed is the message for a string without a closing quote, which ends only at the opening quote of the next
// string.
const unclosed = "expected the closing quote of the text that starts here"

// afterUnclosed reports whether the string before the current token probably lacks its closing quote: it spans
// several lines, and the token follows it without a blank. If so, it also records the error.
func (p *setParser) afterUnclosed() bool {
	end := p.tok.off
	if end == 0 || p.src[end-1] != '\'' && p.src[end-1] != '"' || p.tok.kind == tEOF {
		return false
	}
	open := strings.LastIndexByte(p.src[:end-1], p.src[end-1])
	if open < 0 || !strings.Contains(p.src[open:end], "\n") {
		return false
	}
	p.fail(open, unclosed, "close it with the quote that opens it")
	p.tok = token{kind: tEOF, off: p.tok.off, end: p.tok.end}
	return true
}

// closing skips the '}' after statements. After an error, it may already have been skipped.
func (p *setParser) closing() {
	p.last().Block = true
	if p.tok.kind != tEOF || len(p.errs) == 0 {
		p.expect("}", "or a statement")
	}
}

// expected reports that the current token is not what was expected. If it resembles one of words, the message
// suggests that word.
func (p *setParser) expected(what string, words ...string) {
	fix := diag.Fix{}
	if p.tok.kind == tName || p.tok.kind == tWord {
		fix = diag.Correct(p.tok.text, words)
	}
	p.correctHere("expected "+what+", found "+p.found(), fix.Hint(), fix)
}

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

// conditionHints maps tokens that are invalid in a condition to hints for messages.
var conditionHints = map[string]string{
	".":  "put a value with dots in quotes: 'www.example.org'",
	",":  "put several values in brackets: [a, b]",
	"==": "write the value directly after the category: when osfamily debian",
	"=>": "write the value directly after the category: when osfamily debian",
}

func (p *setParser) pairs() []Pair {
	out := []Pair{p.pair()}
	for p.err == nil && p.accepts("and") {
		out = append(out, p.pair())
	}
	return out
}

func (p *setParser) pair() Pair {
	p.last().Word = true
	pair := Pair{Category: p.name("a category name"), Off: p.tok.off}
	switch {
	case pair.Category.Text == "common" && p.at("{"):
		pair.Values = []Word{{"true", p.tok.off}} // the only value of common is true
	case p.accept("["):
		pair.Values = commaList(p, "]", p.categoryValue)
	default:
		pair.Values = []Word{p.categoryValue()}
	}
	return pair
}

// commaList parses a non-empty list after its opening bracket, including the closing bracket.
func commaList[T any](p *setParser, closing string, element func() T) []T {
	out := []T{element()}
	for p.err == nil && p.accept(",") && !p.at(closing) {
		out = append(out, element())
	}
	p.expect(closing, "or , in the list")
	return out
}

// categoryValue parses a value of a category. A number keeps its spelling: 6.10 differs from 6.1.
func (p *setParser) categoryValue() Word {
	w := Word{p.tok.text, p.tok.off}
	switch {
	case p.tok.kind == tQuote:
		if w.Text = p.constantText("a category value"); w.Text == "" && p.err == nil {
			p.fail(w.Off, "expected a category value, found an empty string", "")
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
			hint = "put text with capital letters in quotes: '" + p.tok.text + "'"
		}
		p.failHere("expected a category value (a string, number or boolean), found "+p.found(), hint)
		return w
	}
	if w.Text == "" {
		p.failHere("expected a category value, found an empty string", "")
	}
	p.advance()
	return w
}

func (p *setParser) constantText(what string) string {
	n := p.text(what)
	if n == nil {
		return ""
	}
	return n.Value.Text()
}

// text parses a string without interpolations. It returns nil after an error.
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
			"it must be a constant")
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
		w.Text = strings.TrimPrefix(p.constantText("a class name"), "::")
		return w
	}
	if p.tok.kind != tName && p.tok.kind != tString && p.tok.kind != tWord {
		p.expected("a class name, or a list of class names in brackets")
		return w
	}
	p.advance()
	return w
}

var flagWords = []string{"abstract", "override", "sensitive"}

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

func (p *setParser) key(what string) (t, key *expr.Node) {
	if t = p.typeOf(); t != nil {
		p.accept(",")
	}
	return t, p.text(what + ", a string")
}

// oneKey is like key, but gives a hint if a word such as parameters is in the place of the key.
func (p *setParser) oneKey(what string) (t, key *expr.Node) {
	if hint := keyHints[p.tok.text]; hint != "" && p.tok.kind == tName {
		p.failHere("expected "+what+", a string, found "+p.found(), hint)
	}
	return p.key(what)
}

// keyHints maps words that bind several keys to hints for a statement that takes a single key.
var keyHints = map[string]string{
	"parameters": "rebind each parameter by its key: '/param/Web[one]/port', or 'ntp::port' for a class; " +
		"to copy all parameters of a target, write: bind parameters Web[one] to Web[two]",
	"variables": "rebind each variable by its key: '/var/role'",
	"variable":  "put the key of a variable in quotes: '/var/role'",
	"map":       "put the key of a map in quotes: '/map/Web/Sql'",
}

// typeOf parses a type such as Array[String]. It returns nil if there is none.
func (p *setParser) typeOf() *expr.Node {
	if p.atKeyword("class") {
		p.failCode(p.tok.off, "catalog", "a class"+noCatalog, parametersInstead)
	}
	if p.tok.kind != tType || upper(p.tok.text) != "" {
		return nil
	}
	return p.checkedTree(p.paramType())
}

const parametersInstead = "parameters of a class are bound with: bind parameters NAME to { … }"

// ofData reports an error if n contains the name of a class, whether a Puppet class or a Ruby class.
func (p *setParser) ofData(n *expr.Node) {
	for x := range All(n) {
		if x.Op != expr.Access || x.Kids[0].Op != expr.TypeName {
			continue
		}
		switch x.Kids[0].Name {
		case "Class":
			p.failCode(n.Off, "catalog", "a class"+noCatalog, parametersInstead)
		case "Type":
			p.failCode(n.Off, "catalog", "a binding cannot have a Ruby class as its value",
				"bind data, or the value of a registered producer: to producer 'name'")
		}
	}
}

func (p *setParser) multibind(s *Statement) {
	s.Flags = p.flags()
	s.Type, s.Key = p.key("the key of the multibinding")
	if p.err == nil && p.accepts("as") {
		s.In = p.text("the id of the multibinding, a string")
	}
	p.options(s)
}

func (p *setParser) failCode(off int, code diag.Code, message, hint string) {
	if p.err == nil {
		p.fail(off, message, hint)
		p.err.Code = code
	}
}
