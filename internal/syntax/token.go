package syntax

// kind is the kind of a token.
type kind uint8

const (
	tEOF     kind = iota
	tOp           // text is the operator or bracket
	tKeyword      // text is the keyword
	tName         // a lower-case name, text as written: foo, ::foo::bar
	tWord         // a bare word that is not a name: foo-bar, _foo
	tType         // text without a leading ::
	tVar          // text without the dollar
	tNumber       // text as written
	tString       // a single-quoted string, text is its content
	tQuote        // a double quote; the parser scans what follows it
	tRegexp       // text is the pattern
	tHeredoc      // doc is the heredoc
)

// token is one token. off and end are byte offsets in the text of the lexer.
type token struct {
	kind     kind
	off, end int
	text     string
	doc      *heredoc
	spaced   bool // a [ after white space, which begins an array
	first    bool // a ( first on its line, which does not begin arguments
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// keywords has the words that are not names.
var keywords = map[string]bool{
	"and": true, "attr": true, "case": true, "class": true, "default": true, "define": true, "else": true,
	"elsif": true,
	"false": true, "function": true, "if": true, "in": true, "inherits": true, "node": true, "or": true,
	"private": true,
	"true":    true, "type": true, "undef": true, "unless": true,
}

// endsOperand reports whether a / after t divides; otherwise it begins a regular expression.
func (t token) endsOperand() bool {
	switch t.kind {
	case tOp:
		return t.text == ")" || t.text == "]" || t.text == "|>" || t.text == "|>>"
	case tKeyword:
		return t.text == "true" || t.text == "false"
	}
	return t.kind != tEOF
}
