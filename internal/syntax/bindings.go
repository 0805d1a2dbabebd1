package syntax

import (
	"slices"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/expr"
)

// Bindings is the syntax tree of a file of bindings (language.md, section 14.1). It does not interpret the statements.
type Bindings struct {
	Name       Word
	Statements []Statement
	Broken     bool // part of the text could not be read as statements

	Above []string // comments to print above it; the parser sets none
}

// Word is a name or another short text, and its place.
type Word struct {
	Text string
	Off  int
}

// Statement is one statement: when, include, exclude, multibind, rebind, bind, or alias, renamed, parameters,
// variables, map or dependency, which follow the word bind. Fields that it does not use are nil or empty.
type Statement struct {
	Off, End int // from its first word to the token after it
	Word     string

	Flags []Word     // abstract, override, sensitive
	Type  *expr.Node // of the key that is bound, or of the variables
	Key   *expr.Node // the text of the key that is bound; of rebind, the key itself

	Old, OldType *expr.Node // of alias and renamed: the key that is rebound
	Names        []Word     // of include and exclude
	Target       *expr.Node // of parameters and map: a class, a type or an instance; of dependency, the left side
	Other        *expr.Node // of map and dependency, the right side
	Arrow        Word       // of dependency: -> or ~>

	To       *expr.Node // the producer of the value
	Producer bool       // To is the name of a producer
	Query    *Query     // the producer of the value, if it is a query
	Optional bool
	In       *expr.Node // the multibinding that it contributes to; of multibind, its id
	Options  []Option
	Braces   int // the start of the options, if there are braces

	When       [][]Pair // of when: the alternatives
	Statements []Statement

	Above  []string // comments to print above it
	Beside string   // a comment beside its first line
}

// Pair is a category and the values it may have, one or a list.
type Pair struct {
	Category Word
	Off      int // of the values
	Values   []Word
}

// Option is name => value; the value may be a lambda.
type Option struct {
	Name   Word
	Value  *expr.Node
	Lambda *expr.Lambda
}

// maxErrors is the number of errors reported for one file: after so many, the rest of it is unlikely to make sense.
const maxErrors = 50

// ParseBindings parses a file of bindings. It continues after an invalid statement, so it may return both errors and
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

// file parses a file of either kind.
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

// setParser parses statements of sets, and expressions inside them.
type setParser struct {
	parser
	errs   []SyntaxError
	broken bool // an error made part of the text unreadable as statements
}

const oneSet = "a file has one set; put further sets into other files"

// bindings parses the whole file.
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
		p.failHere("expected one 'bindings' in a file, found another", oneSet)
	case p.err == nil && p.tok.kind != tEOF:
		p.failHere("expected nothing after the } of the bindings, found "+p.found(), "")
	}
	p.note()
	return b
}

// header parses the start of a file up to its {: the word, and what rest parses. After an error in a header that was
// meant to be one, the rest of the file is still read.
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

// note moves the current error to the errors of the file.
func (p *setParser) note() {
	if p.err != nil {
		p.errs = append(p.errs, *p.err)
		p.err, p.broken = nil, true
	}
}

// atWord reports whether tok is a word of the grammar of sets. The documents print some of them in capital letters.
func (p *setParser) atWord(word string) bool {
	return p.tok.kind == tName && p.tok.text == word || p.tok.kind == tType && upper(p.tok.text) == word ||
		p.tok.is(tKeyword, word)
}

// upper returns the lower-case form of a word that the grammar also accepts in capital letters, or "".
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

// accepts skips a word of the grammar and returns true, if it is next.
func (p *setParser) accepts(word string) bool {
	if !p.atWord(word) {
		return false
	}
	p.last().Word = true
	p.prev = token{} // a / after it does not divide
	p.advance()
	return true
}

// name parses a name of bindings, a category or a class.
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
