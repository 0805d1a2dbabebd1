package yaml

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// deviation is a difference between this package and goccy/go-yaml. It may affect each document whose trace matches the
// pattern in, in the notation of tracePattern.
type deviation struct{ src, ours, theirs, in string }

// goccyDeviations lists the deviations of goccy/go-yaml v1.19.2 from YAML 1.1 and Psych, each with a minimal document.
// They are the reason why this package does not use it. TestDeviationsAreCurrent fails if one of them changes.
var goccyDeviations = map[string]deviation{
	"a colon in a flow collection ends a key": {"{a:b}\n", "{'a:b': null}", "{'a': 'b'}",
		`«flow MappingValue»~«\w+»[^\s,\]}]`},
	"a pair of colons in a flow collection": {"{a::b: c}\n", "{'a::b': 'c'}", "{'a': ':b: c'}",
		`«flow MappingValue»~«\w+»:`},
	"a colon before a bracket": {"[:]\n", "[{null: null}]", "[':']", `«flow Plain»~:\s*(\x00|$)`},

	"a key that is a mapping loses it": {"? a: b\n", "{{'a': 'b'}: null}", "{'a': 'b'}", `«MappingKey»`},
	"an empty explicit key":            {"#c\n?\n", "{null: null}", "'?'", `«Plain»\s*\?`},
	"an empty literal block as explicit key": {"? |\n  \n: d\n", "{'': 'd'}", "{'': null, '\n': 'd'}",
		`«MappingKey»~«(Literal|Folded)»`},
	"an empty key below a value": {"a:\n 'b'\n:\n", "{'a': 'b', null: null}", "{'a': {'b': null}}",
		`«Source»(~[\n\r])?\s*:(\s|\x00)`},
	"a merge key within text": {"a<<: {}\n", "{'a<<': {}}", "{}", `«MergeKey»~\S~<<`},

	"a dash that continues plain text": {"- a\n - b\n  - c\n", "['a - b - c']", "['a - b\n - c']", `«Plain»~\n\s*-`},
	"a comment that ends plain text after a dash": {"a: b\n - # c\n", "{'a': 'b -'}", "{'a': 'b - # c'}",
		`«Plain»~\s#`},
	"blanks in the second of two empty lines": {"a\n\n \na\n", "'a\n\na'", "'a\na'", `«Plain»~[\n\r]{3}~[^\s\x00]`},
	"an empty element above a key in its column": {"a:\n-\nb: c\n", "{'a': [null], 'b': 'c'}", "{'a': [{'b': 'c'}]}",
		`«SequenceEntry»~(«Comment»~)*«same first (Plain|SingleQuote|DoubleQuote|Anchor)»`},

	"a quote followed by a line break in quotes": {"'a\n''\n b'\n", "'a ' b'", "'a '\nb'", `«SingleQuote»~\n\s*''`},
	"a carriage return in quotes":                {"'a\r\nb'\n", "'a b'", "'a\nb'", `«(Single|Double)Quote»~\r`},
	"an escaped blank at the end of a line": {"\"a\\ \n b\"\n", "'a  b'", "'a b'",
		`«DoubleQuote»~\\( |x20|u0020|U00000020) *\n`},
	"an empty line after an escaped line break": {"\"a \\\n\n b\"\n", "'a \nb'", "'a\nb'",
		`«DoubleQuote»~\\\n\s*\n`},

	"blanks at the end of an indented block": {"a: |2-\n   x  \n", "{'a': ' x  '}", "{'a': ' x'}",
		`«Block»~( [\n\r]\s*|\S +)(\x00|$)`},
	"a last line of blanks in an indented block": {"a: |2-\n  x\n   ", "{'a': 'x\n '}", "{'a': 'x\n'}",
		`«Block»~[\n\r] +$`},
	"a literal block without text, with its newline": {"|+\n", "''", "'\n'",
		`«(Literal|Folded)»~(«Block»\s*)?(\x00[^B]|$)`},
	"an indented first line of a block at the top": {"--- |2\n  a\n", "'a\n'", "' a\n'",
		`«(Source|DocumentHeader)»~(«Comment»~)*(«Anchor»~«Plain»~)?«(Literal|Folded)»~\d`},
	"a folded block without a newline at its end": {">\n a\n b", "'a b'", "'a\nb'", `«Folded»~«Block»~[^\n]$`},
	"blanks in a line above the text of a block":  {"|\n  \n #\n", "''", "'\n#\n'", `«Block»\s* [\n\r]`},
	"a line of blanks in a folded block": {">\n a\n  \n\n b\n", "'a\n \n\nb\n'", "'a\n \nb\n'",
		`«Folded»~«Block»~[\n\r] +[\n\r]`},

	"a colon after an anchor": {"&a: b\n", "{null: 'b'}", "'b'", `«(Anchor|Alias)»~«Plain»~(«flow Plain»\s*)?:`},
	"an anchor alone on its line": {"-\n &a\n-\n", "[null, null]", "[[null]]",
		`«first Anchor»~«Plain»~(«Comment»~)*\x00[\w ]*first`},
	"text after three dots":   {"...a:\n", "{'...a': null}", "{'a': null}", `«Source»(~[\n\r])?\.\.\.[^\s\x00]`},
	"a line separator":        {"a\u2028 b\n", "'a\u2028b'", "'a\u2028 b'", "[\u0085\u2028\u2029\ufeff]"},
	"a character after a tab": {"a: b\tc d\n", "{'a': 'b\tc d'}", "{'a': 'bc d'}", `\t`},
}

// tracePattern returns a pattern for traces. In text, «kind» is the start of a token of that kind, and ~ any source of
// one token.
func tracePattern(text string) *regexp.Regexp {
	return regexp.MustCompile(strings.NewReplacer("«", `\x00[\w ]*`, "»", `\x01`, "~", `[^\x00]*`).Replace(text))
}

// tracePatterns returns the pattern of each deviation.
var tracePatterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	patterns := map[string]*regexp.Regexp{}
	for name, d := range goccyDeviations {
		patterns[name] = tracePattern(d.in)
	}
	return patterns
})

// deviationIn returns the name of a deviation that may affect src, or "" if there is none.
func deviationIn(src []byte) string {
	tokens := trace(src)
	for name, pattern := range tracePatterns() {
		if pattern.MatchString(tokens) {
			return name
		}
	}
	return ""
}

// trace lists the tokens that goccy/go-yaml finds in src. Each is a zero byte, its kind, a byte 1, and its source with
// the blanks before it. The first one, of kind Source, is src itself: goccy/go-yaml loses some blanks.
func trace(src []byte) string {
	var b strings.Builder
	b.WriteString("\x00Source\x01" + string(src))
	t := tracer{}
	for _, tok := range lexer.Tokenize(string(src)) {
		b.WriteString("\x00" + t.kind(tok) + "\x01" + tok.Origin)
	}
	return b.String()
}

// tracer names the kinds of tokens, which are passed to it in order.
type tracer struct {
	line    string // the source of the current line up to the next token
	column  int    // column of the last token that is the first in its line
	depth   int    // nesting of brackets
	inBlock bool   // the next text is that of a block
}

// kind returns Block for the text of a block, Plain for other text without quotes, and otherwise the type of tok. Words
// before it say that tok is in brackets (flow), the first in its line (first), and in the same column as the last first
// token that is not a comment (same).
func (t *tracer) kind(tok *token.Token) string {
	before := t.column
	place := t.place(tok.Origin)
	kind := tok.Type.String()
	switch tok.Type {
	case token.MappingStartType, token.SequenceStartType:
		t.depth++
	case token.MappingEndType, token.SequenceEndType:
		t.depth--
	case token.CommentType:
		t.column = before
		return kind
	case token.LiteralType, token.FoldedType:
		t.inBlock = true
	case token.StringType, token.IntegerType, token.FloatType, token.NullType, token.BoolType, token.InfinityType,
		token.NanType, token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType:
		if t.inBlock {
			t.inBlock = false
			return "Block"
		}
		kind = "Plain"
	}
	if t.depth > 0 {
		place += "flow "
	}
	return place + kind
}

// place describes where a token starts in its line.
func (t *tracer) place(origin string) string {
	blanks := len(origin) - len(strings.TrimLeft(origin, " \n\r"))
	margin := lastLine(t.line + origin[:blanks])
	t.line = lastLine(t.line + origin)
	if strings.Trim(margin, " ") != "" {
		return ""
	}
	same := len(margin) == t.column
	t.column = len(margin)
	if same {
		return "same first "
	}
	return "first "
}

func lastLine(text string) string { return text[strings.LastIndexAny(text, "\n\r")+1:] }

// Each minimal document is read as its deviation says, and its pattern matches it.
func TestDeviationsAreCurrent(t *testing.T) {
	for name, d := range goccyDeviations {
		theirs, ok := secondOpinion([]byte(d.src))
		if got := show(&theirs); !ok || got != d.theirs {
			t.Errorf("%s: goccy/go-yaml reads %q as %q (accepted: %v), not as %q any more", name, d.src, got, ok, d.theirs)
		}
		if !tracePatterns()[name].MatchString(trace([]byte(d.src))) {
			t.Errorf("%s: the pattern does not match %q", name, trace([]byte(d.src)))
		}
		check(t, d.src, secondOptions, d.ours, "")
	}
}

// Psych decides who deviates. It refuses some of the documents.
func TestPsychDecidesDeviations(t *testing.T) {
	dir := t.TempDir()
	names, files := []string{}, []string{}
	for name, d := range goccyDeviations {
		file := filepath.Join(dir, strconv.Itoa(len(files)))
		if err := os.WriteFile(file, []byte(d.src), 0o600); err != nil {
			t.Fatal(err)
		}
		names, files = append(names, name), append(files, file)
	}
	for i, answer := range psych(t, files) {
		want := parsed("f", []byte(goccyDeviations[names[i]].src))
		if answer != want && answer != "error" {
			t.Errorf("%s: Psych reads %q, not %q", names[i], answer, want)
		}
	}
}
