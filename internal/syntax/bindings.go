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
	Broken     bool // a part of the text could not be parsed as statements

	Above []string // for the printer: comments above the file's first line
}

// Word is a name or other short text with its position.
type Word struct {
	Text string
	Off  int
}

// Statement is one statement. Its Word is when, include, exclude, multibind, rebind or bind; after bind, it may also be
// alias, renamed, parameters, variables, map or dependency. Unused fields are zero.
type Statement struct {
	Off, End int // offsets of the first word and of the token after the statement
	Word     string

	Flags []Word     // abstract, override and sensitive
	Type  *expr.Node // type of Key or of the variables
	Key   *expr.Node

	Old, OldType *expr.Node // for alias and renamed: the old key and its type
	Names        []Word     // for include and exclude
	Target       *expr.Node // for parameters and map, a class, type or instance; for dependency, the left side
	Other        *expr.Node // for map, the second type; for dependency, the right side
	Arrow        Word       // for dependency: -> or ~>

	To       *expr.Node // the value, if it is an expression
	Producer bool       // To is the name of a registered producer
	Query    *Query     // the value, if it is a query
	Optional bool
	In       *expr.Node // id of the multibinding
	Options  []Option
	Braces   int // offset of the options; 0 if there are none

	When       [][]Pair // for when, the alternatives
	Statements []Statement

	Above  []string // for the printer: comments above the statement
	Beside string   // for the printer: a comment at the end of the first line
}

// Pair is a category with one value or a list of values.
type Pair struct {
	Category Word
	Off      int // offset of the values
	Values   []Word
}

// Option is name => value, where the value may be a lambda.
type Option struct {
	Name   Word
	Value  *expr.Node
	Lambda *expr.Lambda
}

// maxErrors limits the number of errors reported for one file. After so many errors, the rest is unlikely to make
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

// file parses a bindings file or binder_config.pp.
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
	broken bool // an error made a part of the text unreadable
}

const oneSet = "put other bindings in separate files"

// bindings parses a whole bindings file.
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

// header parses the beginning of a file up to its '{': a word, and what rest parses. After an error, parsing
// continues if the text was probably meant as a header.
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

// note moves the current error to the list of errors.
func (p *setParser) note() {
	if p.err != nil {
		p.errs = append(p.errs, *p.err)
		p.err, p.broken = nil, true
	}
}

// atWord reports whether tok is the given word of the grammar. Some words may be in upper case, as Puppet's documents
// print them.
func (p *setParser) atWord(word string) bool {
	return p.tok.kind == tName && p.tok.text == word || p.tok.kind == tType && upper(p.tok.text) == word ||
		p.tok.is(tKeyword, word)
}

// upper returns the lower case of a word that the grammar also accepts in upper case, or "".
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

// accepts skips the given word of the grammar if it is next, and reports whether it was.
func (p *setParser) accepts(word string) bool {
	if !p.atWord(word) {
		return false
	}
	p.last().Word = true
	p.prev = token{} // a / after it begins a regular expression
	p.advance()
	return true
}

// name parses the name of a bindings file, a category or a class.
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
