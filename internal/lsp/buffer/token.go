package buffer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TokenEnd returns the end of the token at off. A token is an interpolation, a quoted string, a word or, otherwise, a
// single character. It never extends past the end of the line.
func (t *Text) TokenEnd(off int) int {
	_, end := t.Line(t.LineOf(off))
	if off >= end {
		return off
	}
	rest := t.Src[off:end]
	switch {
	case strings.HasPrefix(rest, "%{") || strings.HasPrefix(rest, "${"):
		if i := strings.IndexByte(rest, '}'); i >= 0 {
			return off + i + 1
		}
	case rest[0] == '"' || rest[0] == '\'':
		if i := quoteEnd(rest); i > 0 {
			return off + i
		}
	}
	n := 0
	for n < len(rest) && !endsWord(rest[n:]) {
		_, size := utf8.DecodeRuneInString(rest[n:])
		n += size
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(rest)
	}
	return off + n
}

// quoteEnd returns the length of the quoted string at the start of text, or 0 if the closing quote is missing.
func quoteEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return 0
}

// endsWord reports whether a word ends before rest. White space, brackets, commas and the colon after a key end a word.
func endsWord(rest string) bool {
	switch rest[0] {
	case ' ', '\t', ',', '[', ']', '{', '}', '(', ')', '"', '\'', ';':
		return true
	case ':':
		return len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t'
	case '=':
		return strings.HasPrefix(rest, "=>")
	}
	return false
}

// isKey reports whether r can be part of a key or name.
func isKey(r rune) bool {
	return r == '_' || r == ':' || r == '.' || r == '-' || r == '/' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// WordAt returns the range of the key or name that contains off. The range is empty if there is none.
func (t *Text) WordAt(off int) (from, to int) {
	start, end := t.Line(t.LineOf(off))
	from, to = min(off, end), min(off, end)
	for from > start {
		r, size := utf8.DecodeLastRuneInString(t.Src[start:from])
		if !isKey(r) {
			break
		}
		from -= size
	}
	for to < end {
		r, size := utf8.DecodeRuneInString(t.Src[to:end])
		if !isKey(r) {
			break
		}
		to += size
	}
	for to > from && t.Src[to-1] == ':' { // the colon after a key is not part of it
		to--
	}
	return from, max(from, to)
}
