package syntax

type kind uint8

const (
	tEOF     kind = iota
	tOp           // text is the operator or bracket
	tKeyword      // text is the keyword
	tName         // lower-case name as in the source: foo, ::foo::bar
	tWord         // bare word that is not a name: foo-bar, _foo
	tType         // text without a leading ::
	tVar          // text without the dollar
	tNumber       // text as in the source
	tString       // single-quoted string; text is its content
	tQuote        // double quote; the parser reads the rest of the string
	tRegexp       // text is the pattern
	tHeredoc      // doc is the heredoc
)

// token is a token of the source. off and end are its byte offsets there.
type token struct {
	kind     kind
	off, end int
	text     string
	doc      *heredoc
	spaced   bool // '[' after white space, which begins an array and not an access
	first    bool // '(' that is first on its line, which does not begin arguments
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// keywords lists the reserved words, which cannot be names.
var keywords = map[string]bool{
	"and": true, "attr": true, "case": true, "class": true, "default": true, "define": true, "else": true,
	"elsif": true,
	"false": true, "function": true, "if": true, "in": true, "inherits": true, "node": true, "or": true,
	"private": true,
	"true":    true, "type": true, "undef": true, "unless": true,
}

// endsOperand reports whether a '/' after t is a division. Otherwise it begins a regular expression.
func (t token) endsOperand() bool {
	switch t.kind {
	case tOp:
		return t.text == ")" || t.text == "]" || t.text == "|>" || t.text == "|>>"
	case tKeyword:
		return t.text == "true" || t.text == "false"
	}
	return t.kind != tEOF
}
