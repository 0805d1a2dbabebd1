package diag

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// value returns the offsets of the scalar value after the key at p, with its quotes. It returns false if there is no
// such value on the same line.
func (s *source) value(p Pos) (from, to int, ok bool) {
	at, ok := s.offset(p)
	if !ok {
		return 0, 0, false
	}
	rest := s.rest(p.Line, at)
	after := strings.TrimLeft(rest[len(tokenAt(rest)):], " ")
	if after == "" || after[0] != ':' && after[0] != ',' {
		return 0, 0, false
	}
	text := strings.TrimLeft(after[1:], " ")
	if len(text) == len(after)-1 || text == "" || strings.IndexByte("#|>&*![{", text[0]) >= 0 {
		return 0, 0, false
	}
	inFlow := after[0] == ',' || strings.ContainsAny(s.text[s.lines[p.Line-1]:at], "[{")
	from = at + len(rest) - len(text)
	return from, from + len(scalar(text, inFlow)), true
}

// scalar returns the scalar at the start of text, which is the rest of a line. inFlow reports whether brackets enclose
// the scalar.
func scalar(text string, inFlow bool) string {
	if text[0] == '"' || text[0] == '\'' {
		return tokenAt(text)
	}
	text, _, _ = strings.Cut(text, " #")
	if end := strings.IndexAny(text, ",]}"); inFlow && end >= 0 {
		text = text[:end]
	}
	return strings.TrimRight(text, " \t")
}

// editValue returns the edit for a Fix whose field Value is set. It returns false if the value at p is not f.Old.
func (s *source) editValue(f Fix, p Pos) (Edit, bool) {
	from, to, ok := s.value(p)
	if !ok {
		return Edit{}, false
	}
	text, quote := unquoted(s.text[from:to])
	return Edit{s.pos(p.File, from), s.pos(p.File, to), inStyle(f.New, quote)}, text == f.Old
}

// unquoted returns text without the quotes around it, and these quotes. Without any, quote is "".
func unquoted(text string) (inside, quote string) {
	if q := text[0]; len(text) > 1 && (q == '"' || q == '\'') && text[len(text)-1] == q {
		return text[1 : len(text)-1], text[:1]
	}
	return text, ""
}

// inStyle returns a value with the quotes of the value that it replaces, where YAML reads both as the same string.
func inStyle(text, quote string) string {
	inside, own := unquoted(text)
	switch {
	case own != "'" || strings.ContainsAny(inside, `'"\`):
		return text
	case quote == "" && !isPlain(inside):
		return text
	}
	return quote + inside + quote
}

// isPlain reports whether every YAML parser reads text without quotes as a string.
func isPlain(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(first) && !slices.Contains(special, strings.ToLower(text)) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !inWord(r) && r != '.' && r != '/' })
}
