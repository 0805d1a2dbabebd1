package syntax

import (
	"slices"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/expr"
)

// Bindings is the syntax tree of a bindings file in Puppet syntax (language.md, section 14.1).
type Bindings struct {
	Name       Word
	Statements []Statement
	Broken     bool // some text could not be parsed as statements

	Above []string // comments above the first line, for the printer
}

// Word is a name or other short text with its position.
type Word struct {
	Text string
	Off  int
}

// Statement is one statement. Word is when, include, exclude, multibind, rebind or bind. In statements such as 'bind
// alias', Word is the second word: alias, renamed, parameters, variables, map or dependency. Unused fields are zero.
type Statement struct {
	Off, End int // offsets of the first word and of the token after the statement
	Word     string

	Flags []Word     // abstract, override and sensitive
	Type  *expr.Node // type of Key, or of the variables
	Key   *expr.Node

	Old, OldType *expr.Node // alias, renamed: the old key and its type
	Names        []Word     // include, exclude: class names
	Target       *expr.Node // parameters, map: a class, type or instance; dependency: the left side
	Other        *expr.Node // map: the second type; dependency: the right side
	Arrow        Word       // dependency: -> or ~>

	To       *expr.Node // the value, if it is an expression
	Producer bool       // To is the name of a registered producer
	Query    *Query     // the value, if it is a query
	Optional bool
	In       *expr.Node // id of the multibinding
	Options  []Option
	Braces   int // offset of the '{' before the options; 0 if there is none

	When       [][]Pair // when: alternatives joined by or, each with pairs joined by and
	Statements []Statement

	Above       []string // comments above the statement, for the printer
	LineComment string   // comment at the end of the first line, for the printer
}

// Pair is a category with its values in a condition.
type Pair struct {
	Category Word
	Off      int // offset of the values
	Values   []Word
}

// Option is name => value. If the value is a lambda, Lambda is the lambda and Value a node that contains it.
type Option struct {
	Name   Word
	Value  *expr.Node
	Lambda *expr.Lambda
}

// maxErrors is the maximum number of errors reported for one file. After so many, further errors are unlikely to make
// sense.
const maxErrors = 50

// ParseBindings parses a bindings file. It continues after an invalid statement, so it may return both errors and
// statements.
func ParseBindings(src string) (*Bindings, []SyntaxError) {
	p := newSetParser(src)
	if p.errs != nil {
		return nil, p.errs
	}
	p.advance()
	b := p.bindings()
	b.Broken = p.broken
	return b, p.errs
}

func newSetParser(src string) *setParser {
	p := &setParser{parser: parser{lexer: lexer{src: src}, catalog: "catalog"}}
	if at, ok := invalidUTF8(src); ok {
		p.errs = []SyntaxError{{Off: at, Message: "the text is not valid UTF-8"}}
	}
	return p
}

// file parses binder_config.pp if the first word is site, and otherwise a bindings file.
func (p *setParser) file() {
	if p.atWord("site") {
		p.wholeSite()
		return
	}
	p.bindings()
}

func invalidUTF8(src string) (int, bool) {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && size == 1 {
			return i, true
		}
		i += size
	}
	return 0, false
}

// setParser parses the statements of a bindings file, and the expressions inside them.
type setParser struct {
	parser
	errs   []SyntaxError
	broken bool // an error made some text unreadable
}

const oneSet = "put other bindings in separate files"

func (p *setParser) bindings() *Bindings {
	b := &Bindings{}
	p.header(func() {
		b.Name = p.name("the name of the bindings")
		p.last().Block = true
		p.expect("{", "before the bindings")
	}, "'bindings NAME { … }'", "bindings")
	if p.tok.kind == tEOF && len(p.errs) > 0 {
		return b
	}
	b.Statements = p.statementList()
	p.closing()
	switch {
	case p.err == nil && p.atWord("bindings"):
		p.failHere("expected only one 'bindings' in a file", oneSet)
	case p.err == nil && p.tok.kind != tEOF:
		p.failHere("expected nothing after the } of the bindings, found "+p.found(), "")
	}
	p.note()
	return b
}

// header parses the first word of a file. It then calls rest, which parses the text up to the '{'. After an error,
// parsing continues if the first word resembles the expected word.
func (p *setParser) header(rest func(), what, word string) {
	begin := p.here()
	meant := p.atWord(word) || p.tok.kind == tName && diag.DidYouMean(p.tok.text, []string{word}) != ""
	switch {
	case p.atWord(word):
	case slices.Contains(siteWords, p.tok.text) && word == "site":
		p.failHere("expected "+what+", found "+p.found(), "write site { "+p.tok.text+" … }")
	case p.tok.is(tName, "bindings_version"), p.tok.is(tName, "name") && p.peek().is(tOp, ":"):
		p.failHere("expected "+what+", found "+p.found(), "rename this file to .yaml if it is in YAML")
	default:
		p.expected(what, word)
	}
	p.advance()
	rest()
	if p.err == nil {
		return
	}
	p.note()
	if meant {
		p.skip(begin, func() bool { return p.open == 0 && p.at("{") })
	}
	if !meant || !p.accept("{") {
		p.stop()
	}
}

// note moves the current error, if there is one, to the list of errors, so that parsing can continue.
func (p *setParser) note() {
	if p.err != nil {
		p.errs = append(p.errs, *p.err)
		p.err, p.broken = nil, true
	}
}

// atWord reports whether the current token is the given word of the grammar. AS, IN and TO may be in upper case, as
// in Puppet's documents.
func (p *setParser) atWord(word string) bool {
	return p.tok.kind == tName && p.tok.text == word || p.tok.kind == tType && upper(p.tok.text) == word ||
		p.tok.is(tKeyword, word)
}

// upper returns the lower case of AS, IN and TO, which the grammar also accepts in upper case. For other text, it
// returns "".
func upper(text string) string {
	switch text {
	case "AS":
		return "as"
	case "IN":
		return "in"
	case "TO":
		return "to"
	}
	return ""
}

// accepts skips the current token if it is the given word of the grammar, and reports whether it did.
func (p *setParser) accepts(word string) bool {
	if !p.atWord(word) {
		return false
	}
	p.last().Word = true
	p.prev = token{} // so that a '/' after the word begins a regular expression
	p.advance()
	return true
}

// name parses the name of a bindings file, a category or a class. what describes it in messages.
func (p *setParser) name(what string) Word {
	w := Word{p.tok.text, p.tok.off}
	switch p.tok.kind {
	case tName, tWord, tKeyword:
		p.advance()
	default:
		p.expected(what)
		w.Text = ""
	}
	return w
}
