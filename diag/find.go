package diag

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// find returns the offset of the text that f replaces. It searches first at the given offset, then in the value that
// begins there, and then in the list item around it. It returns false if it does not find the text, if a name occurs
// several times, or if the new text does not fit.
func (s *source) find(f Fix, line, at int) (int, bool) {
	if strings.ContainsAny(f.Old+f.New, "\r\n") || !utf8.ValidString(f.Old) {
		return 0, false
	}
	end := s.end(line, at)
	text := s.textFor(f, end)
	for off := at; off < end; off++ {
		if strings.HasPrefix(text[off:], f.Old) && !continues(f.Old, text[off+len(f.Old):]) {
			return off, s.fits(f, off)
		}
		if strings.IndexByte(openers, text[off]) < 0 {
			break
		}
	}
	places := search(f.Old, text, at)
	if len(places) == 0 {
		first, start := s.item(line)
		places = search(f.Old, s.textFor(f, s.end(first, start)), start)
	}
	if len(places) == 0 || len(places) > 1 && !f.Syntax {
		return 0, false
	}
	return places[0], s.fits(f, places[0])
}

// textFor returns the text before offset end, in which to search for f.Old. It is in lower case if f ignores case.
func (s *source) textFor(f Fix, end int) string {
	text := s.text[:end]
	if lower := strings.ToLower(text); f.Fold && len(lower) == len(text) {
		return lower
	}
	return text
}

// search returns the offsets of old in text, from begin on. If old occurs as a whole word, search omits the places
// where it may be part of a longer name.
func search(old, text string, begin int) []int {
	var whole, loose []int
	for off := begin; off < len(text); off++ {
		i := strings.Index(text[off:], old)
		if i < 0 {
			break
		}
		off += i
		after := text[off+len(old):]
		switch {
		case continued(old, text[begin:off]), continues(old, after):
		case strings.HasPrefix(after, "::"), strings.HasPrefix(after, "."):
			loose = append(loose, off)
		default:
			whole = append(whole, off)
		}
	}
	if len(whole) == 0 {
		return loose
	}
	return whole
}

// item returns the line and the offset of the list item that contains a line. Outside a list, it returns the line
// itself.
func (s *source) item(line int) (int, int) {
	in := indent(s.line(line))
	for n := line; n > 0; n-- {
		text := s.line(n)
		dash := indent(text)
		if strings.HasPrefix(text[dash:], "- ") && (dash < in || n == line) {
			return n, s.lines[n-1] + dash
		}
		if dash < in && dash < len(text) {
			break
		}
	}
	return line, s.lines[line-1]
}

// openers lists the characters that may stand between the position of a diagnostic and the name that it is about.
const openers = `'"$%{:&[`

// continued reports whether the text before makes old the end of a longer name.
func continued(old, before string) bool {
	first, _ := utf8.DecodeRuneInString(old)
	last, _ := utf8.DecodeLastRuneInString(before)
	return before != "" && inWord(first) && (inWord(last) || last == '.' || strings.HasSuffix(before, "::"))
}

// continues reports whether the text after makes old the beginning of a longer word.
func continues(old, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(old)
	next, _ := utf8.DecodeRuneInString(after)
	return after != "" && inWord(last) && inWord(next)
}

// maxExtent limits how many bytes are searched for the text of a Fix.
const maxExtent = 64 << 10

// end returns the offset at which a value ends. The value begins at the given offset in the given line. More deeply
// indented lines below it belong to the value, and so does a list in the column of the value's key.
func (s *source) end(line, at int) int {
	first := s.line(line)
	base := indent(first)
	dash := strings.HasPrefix(first[base:], "- ")
	for rest := first[base:]; strings.HasPrefix(rest, "- "); rest = first[base:] {
		if base >= at-s.lines[line-1] {
			break
		}
		base += 2 + indent(rest[2:])
	}
	n := line + 1
	for ; n <= len(s.lines) && s.lines[n-1] < at+maxExtent; n++ {
		next := s.line(n)
		in := indent(next)
		inList := !dash && in == base && strings.HasPrefix(next[in:], "- ")
		if in < len(next) && in <= base && !inList {
			break
		}
	}
	if n > len(s.lines) {
		return len(s.text)
	}
	return s.lines[n-1]
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// quoteAround returns the quote character of the string that contains the offset, or 0 if the offset is not inside
// quotes. It looks only at the current line.
func (s *source) quoteAround(off int) (quote byte) {
	start := strings.LastIndexByte(s.text[:off], '\n') + 1
	for i := start; i < off; i++ {
		switch c := s.text[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'') && (i == start || !inWord(rune(s.text[i-1]))):
			quote = c
		}
	}
	return quote
}

// special lists words that some YAML parsers do not read as strings.
var special = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// fits reports whether the new text of f can replace the old text at off. For example, it must not end the quotes
// around the old text.
func (s *source) fits(f Fix, off int) bool {
	quote := s.quoteAround(off)
	switch {
	case f.Syntax:
		starts := f.New != "" && strings.IndexByte(`'"{[`, f.New[0]) >= 0
		escapes := quote == '\'' && s.doubles
		return quote == 0 || (escapes || strings.IndexByte(f.New, quote) < 0) && f.New != "" && !starts
	case quote != 0:
		return !strings.ContainsFunc(f.New, func(r rune) bool {
			return !unicode.IsPrint(r) || strings.ContainsRune(`'"\$%`, r)
		})
	case slices.Contains(special, strings.ToLower(f.New)):
		return false
	}
	odd := func(r rune) bool { return !inWord(r) && !strings.ContainsRune("./:?", r) }
	first, _ := utf8.DecodeRuneInString(f.New)
	return f.New != "" && !strings.ContainsFunc(f.New, odd) && !strings.HasSuffix(f.New, ":") &&
		(unicode.IsLetter(first) || first == '_' || first == '?' || first == '/')
}
