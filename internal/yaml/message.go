package yaml

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/value"
)

const (
	tooDeep    = "expected at most 512 nested hashes and lists, found more"
	numberHint = "write it in quotes to make it a string"
	tabHint    = "indent with spaces: YAML allows no tabs"
)

func (r *report) refuseBytes(off int) {
	pos := r.doc.posAt(off)
	switch c, size := utf8.DecodeRune(r.doc.src[off:]); {
	case bytes.HasPrefix(r.doc.src, []byte("\x00GITCRYPT\x00")):
		r.fail(pos, "yaml_syntax", "this file is encrypted by git-crypt", "unlock the repository: git-crypt unlock")
	case c != utf8.RuneError || size > 1:
		r.fail(pos, "yaml_syntax", "the control character "+strconv.QuoteRuneToASCII(c)+" is not allowed in a file",
			"remove it, or write it as an escape in double quotes")
	case bytes.HasPrefix(r.doc.src, []byte("\xff\xfe")), bytes.HasPrefix(r.doc.src, []byte("\xfe\xff")):
		r.fail(pos, "yaml_utf8", "expected text in UTF-8, found UTF-16", "save the file as UTF-8")
	default:
		r.fail(pos, "yaml_utf8", "expected text in UTF-8, found the byte 0x"+strconv.FormatUint(uint64(r.doc.src[off]),
			16),
			"save the file as UTF-8")
	}
}

func (r *report) refuseScalar(pos diag.Pos, text string, problem fault) {
	switch problem {
	case isDate:
		r.correct(pos, "yaml_date",
			"the date or time "+value.Shorten(text)+" must be quoted: data has no dates or times",
			"write '"+value.Shorten(text)+"'", diag.Fix{Old: text, New: "'" + text + "'", Syntax: true})
	case tooLarge:
		r.fail(pos, "yaml_integer", "the integer "+value.Shorten(text)+" does not fit in 64 bits", numberHint)
	}
}

// complaint is a syntax error found by the library, with libyaml's message.
type complaint struct {
	problem string
	context string // what the library was reading, or ""
	pos     diag.Pos
	start   diag.Pos // where the context starts
}

// wording is the message and hint that replace a message of libyaml.
type wording struct {
	problem string
	message string
	hint    string
}

var wordings = []wording{
	{"mapping values are not allowed in this context",
		"unexpected ': '; a key cannot start here",
		"quote a string that contains ': ', or correct the indentation"},
	{"mapping keys are not allowed in this context", "unexpected '? '; a key cannot start here", ""},
	{"block sequence entries are not allowed in this context",
		"unexpected '- '; a list cannot start here", "start the list on the next line"},
	{"did not find expected key", "expected a key, or the end of the hash",
		"check the indentation and the quotes of this line and the one before it"},
	{"did not find expected '-' indicator", "expected '- ', or the end of the list",
		"check the indentation of this line"},
	{"did not find expected ',' or ']'", "expected ',' or ']' to continue the list",
		"separate the elements with ',', close the list with ']', or quote the text that continues here"},
	{"did not find expected ',' or '}'", "expected ',' or '}' to continue the hash",
		"separate the entries with ',', close the hash with '}', or quote the text that continues here"},
	{"did not find expected node content", "expected a value", ""},
	{noColon, "expected ': ' after the key, on the same line",
		"put a space after the colon of a key"},
	{"did not find expected alphabetic or numeric character", "expected an anchor name",
		"quote a string that starts with '*' or '&'"},
	{"did not find expected comment or line break", "expected the end of the line",
		"start the text on the line after '|' or '>'"},
	{"found unknown escape character", "expected a valid YAML escape after the backslash",
		"double the backslash, or use single quotes"},
	{"did not find expected hexdecimal number", "expected the number of a character after \\x, \\u or \\U",
		"double the backslash, or use single quotes"},
	{"did not find expected hexadecimal number", "expected the number of a character after \\x, \\u or \\U",
		"double the backslash, or use single quotes"},
	{"found invalid Unicode character escape code", "expected the number of a character in this escape",
		"write the character itself"},
	{"found a tab character that violates indentation", "expected spaces as indentation, found a tab", tabHint},
	{"found a tab character where an indentation space is expected",
		"expected spaces as indentation, found a tab", tabHint},
	{"found a comment without preceding whitespace", "expected a space before '#'", "quote a string that contains '#'"},
	{"found unexpected end of stream", "expected the closing quote, found the end of the file",
		"close the quote that is opened above; a ' within '…' is written twice"},
	{"found unexpected document indicator", "expected the closing quote, found the end of the document",
		"indent a line of text that starts with '---' or '...'"},
	{"found undefined tag handle", "expected a valid YAML tag, or none", "remove the tag"},
	{"did not find expected <document start>", "expected the end of the document, or '---' before another one",
		"check the indentation of this line"},
	{"found incompatible YAML document", "expected %YAML 1.1", "remove the directive"},
	{"found unknown directive name", "expected %YAML or %TAG after a '%' that starts a line",
		"quote a string that starts with '%'"},
}

// refuseSyntax reports a syntax error found by the library, in the terms of this project.
func (r *report) refuseSyntax(c complaint) {
	if r.refuseSuspect(c) {
		return
	}
	code, message, hint := diag.Code("yaml_syntax"), "", ""
	switch {
	case c.problem == tooDeep:
		code, message = "yaml_depth", c.problem
	case strings.HasPrefix(c.problem, "unknown anchor "):
		code, message = "yaml_alias", "expected an alias to an earlier anchor, found "+aliasIn(c.problem)
		hint = "quote a string that starts with '*'"
	case c.problem == "found character that cannot start any token":
		message, hint = r.describeBadStart(c.pos)
	case r.hasColon(c):
		message, hint = "the value of this key contains ': ', which separates a key from its value",
			"put the value in quotes"
	default:
		message, hint = reword(c.problem)
		hint = cmp.Or(r.fixHint(c), hint)
	}
	if strings.Contains(c.context, " tag") || strings.Contains(c.problem, " tag") {
		code = "yaml_tag"
	}
	var notes []diag.Note
	if c.start.Line > 0 && c.start != c.pos {
		notes = append(notes, diag.Note{Pos: c.start, Message: ourWords.Replace(c.context) + " that starts here"})
	}
	r.failed = true
	d := diag.Diagnostic{Pos: c.pos, Severity: diag.Error, Code: code, Message: message, Hint: hint, Notes: notes}
	if hint == tabHint {
		d.Fix = r.spacesFor(c.pos)
	}
	r.diags.Add(d)
}

// ourWords converts contexts such as "while parsing a block mapping" to the terms of this project.
var ourWords = strings.NewReplacer("while parsing", "in", "while scanning", "in", "block mapping", "hash",
	"flow mapping", "hash",
	"simple key", "key", "block sequence", "list", "flow sequence", "list", "block collection", "list", "quoted scalar",
	"quoted text",
	"plain scalar", "text", "block scalar", "block of text", "flow node", "value", "block node", "value")

// aliasIn returns the alias 'x' in "unknown anchor 'x' referenced".
func aliasIn(problem string) string {
	_, name, _ := strings.Cut(problem, "'")
	name, _, _ = strings.Cut(name, "'")
	return "*" + name
}

// reword returns the message and hint that replace a message of libyaml. If there are none, it only changes the usual
// beginnings of messages.
func reword(problem string) (message, hint string) {
	for _, w := range wordings {
		if w.problem == problem {
			return w.message, w.hint
		}
	}
	for _, start := range []string{"did not find the expected ", "did not find expected ", "could not find expected ",
		"did not find "} {
		if rest, ok := strings.CutPrefix(problem, start); ok {
			return "expected " + rest, ""
		}
	}
	return strings.Replace(problem, "found ", "unexpected ", 1), ""
}

// describeBadStart returns the message for the character at pos, which cannot begin a value.
func (r *report) describeBadStart(pos diag.Pos) (message, hint string) {
	off := r.doc.offset(pos.Line, pos.Col)
	if off >= len(r.doc.src) {
		return "expected a value", ""
	}
	c, _ := utf8.DecodeRune(r.doc.src[off:])
	if c == '\t' {
		return "expected spaces as indentation, found a tab", tabHint
	}
	return "expected a value, found " + strconv.QuoteRune(c) + ", which cannot start a value",
		"put the string in quotes"
}

// noColon is libyaml's message for a line without a key.
const noColon = "could not find expected ':'"

// arrow separates a key and its value in the Puppet language.
const (
	arrow     = "=>"
	arrowHint = "write ': ' instead of '=>'"
)

var arrowFix = diag.Fix{Old: " " + arrow, New: ":", Syntax: true}

// fixHint returns a hint if the source near the error suggests a fix, and otherwise "".
func (r *report) fixHint(c complaint) string {
	end := r.doc.offset(c.pos.Line, c.pos.Col)
	before := r.doc.src[:end]
	inside := r.doc.src[:r.doc.offset(c.start.Line, c.start.Col)]
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(r.doc.src[end:], " "), []byte(arrow)) ||
		bytes.HasSuffix(bytes.TrimRight(inside, " "), []byte(arrow)),
		c.problem == noColon && arrowAsColon().Match(lineAt(r.doc.src, len(inside))):
		return arrowHint
	case bytes.HasSuffix(before, []byte("$")) && bytes.HasPrefix(r.doc.src[end:], []byte("{")):
		return "quote the text: without quotes, a '{' in brackets or braces starts a hash"
	}
	return ""
}

// arrowAsColon matches a line such as 'name => default'.
var arrowAsColon = pattern.Lazy(`^[^'":]*\s=>(?:\s|$)`)

// lineAt returns the text from offset to the end of its line.
func lineAt(src []byte, offset int) []byte {
	line, _, _ := bytes.Cut(src[offset:], []byte("\n"))
	return line
}

// keyAndColon matches a line with a key and an unquoted value that contains ': '.
var keyAndColon = pattern.Lazy(`^\s*(?:- +)*[^\s'"{\[#:](?:[^:#]|:\S)*: +[^\s'"{\[&*!|>#].*: `)

// hasColon reports whether the error is about the second colon in a line such as `key: a: b`.
func (r *report) hasColon(c complaint) bool {
	if c.problem != noKeyHere {
		return false
	}
	end := r.doc.offset(c.pos.Line, c.pos.Col)
	start := bytes.LastIndexByte(r.doc.src[:end], '\n') + 1
	return keyAndColon().Match(append(bytes.Clone(r.doc.src[start:end]), ": "...))
}
