package diag

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fix is the correction of a mistake: the text New instead of Old. Old is at the position of the diagnostic, or in the
// value, binding or statement that begins there. The zero Fix changes nothing.
type Fix struct {
	Old, New string
	Or       string // another text that is as similar to Old as New; then the source is not edited
	Syntax   bool   // New is syntax; otherwise it is a name, which may need quotes
	Fold     bool   // Old is in lower case, but the source may use another case
	Notes    bool   // Old is also at the position of each note
	Value    bool   // Old is the whole value of the key at the position, without quotes; New has the quotes it needs
}

// Correct returns a Fix that replaces word with the most similar of words. It returns the zero Fix if no word is
// similar enough.
func Correct(word string, words []string) Fix {
	if near := synonyms[word]; near != "" && slices.Contains(words, near) {
		return MeantAs(word, near)
	}
	best, other := nearest(word, words)
	return eitherOf(word, best, other)
}

func eitherOf(word, best, other string) Fix {
	f := MeantAs(word, best)
	f.Or = other
	return f
}

// MeantAs returns a Fix that replaces word with other. If other is "", it returns the zero Fix.
func MeantAs(word, other string) Fix {
	if other == "" {
		return Fix{}
	}
	return Fix{Old: word, New: other}
}

// IsNone reports whether f is the zero Fix.
func (f Fix) IsNone() bool { return f.Old == "" }

// Hint returns the hint that suggests f.New. For the zero Fix, it returns "".
func (f Fix) Hint() string {
	if f.IsNone() {
		return ""
	}
	if f.Or != "" {
		return "did you mean '" + f.New + "' or '" + f.Or + "'?"
	}
	return "did you mean '" + f.New + "'?"
}

// Correct is like the function Correct, but returns the zero Fix once the list has compared too many names. Use it for
// messages that a broken site may produce in large numbers.
func (l *List) Correct(word string, words []string) Fix {
	if !l.mayCompare(word, words) {
		return Fix{}
	}
	return Correct(word, words)
}

// CorrectTypo returns a Fix that replaces word with the element of words for which Misspelt takes it. It returns the
// zero Fix if there is none, or once the list has compared too many names.
func (l *List) CorrectTypo(word string, words []string) Fix {
	if !l.mayCompare(word, words) {
		return Fix{}
	}
	near, other := misspelt(word, words)
	return eitherOf(word, near, other)
}

// Edit replaces the text from Pos to End, exclusive, by Text. Both positions are in the same file.
type Edit struct {
	Pos, End Pos
	Text     string
}

// Locate sets the end of each diagnostic, and the edits of each diagnostic with a Fix. read returns the text of a file.
// Locate sets nothing for a file that cannot be read or is not UTF-8.
func Locate(list []Diagnostic, read func(file string) ([]byte, error)) {
	sources := map[string]*source{}
	of := func(file string) *source {
		s, known := sources[file]
		if !known {
			if text, err := read(file); err == nil && utf8.Valid(text) {
				s = newSource(string(text))
				s.doubles = !strings.HasSuffix(file, ".pp")
			}
			sources[file] = s
		}
		return s
	}
	for i := range list {
		d := &list[i]
		if s := of(d.Pos.File); s != nil {
			s.locate(d)
		}
		for _, n := range d.Notes {
			if s := of(n.Pos.File); d.Fix.Notes && s != nil {
				if e, ok := s.edit(d.Fix, n.Pos); ok {
					d.Edits = append(d.Edits, e)
				}
			}
		}
	}
}

type source struct {
	text    string
	lines   []int
	doubles bool // a single quote in single quotes is doubled, as in YAML
}

func newSource(text string) *source {
	s := &source{text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// line returns a line, counted from 1, without its end.
func (s *source) line(n int) string {
	text := s.text[s.lines[n-1]:]
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(text, "\r")
}

// offset returns the offset of a position. It returns false if the text has no such position.
func (s *source) offset(p Pos) (int, bool) {
	if p.Line < 1 || p.Line > len(s.lines) || p.Col < 1 {
		return 0, false
	}
	line, at := s.line(p.Line), 0
	for range p.Col - 1 {
		if at >= len(line) {
			return 0, false
		}
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return s.lines[p.Line-1] + at, true
}

func (s *source) pos(file string, off int) Pos {
	line := sort.SearchInts(s.lines, off+1)
	return Pos{file, line, utf8.RuneCountInString(s.text[s.lines[line-1]:off]) + 1}
}

// locate sets d.End, d.Value and the edit at d.Pos.
func (s *source) locate(d *Diagnostic) {
	at, ok := s.offset(d.Pos)
	if !ok {
		return
	}
	if !d.Secret { // End would reveal the length of a secret
		d.End = s.pos(d.Pos.File, at+len(tokenAt(s.rest(d.Pos.Line, at))))
	}
	if from, to, ok := s.value(d.Pos); ok && d.OfValue && !d.Secret {
		d.Value = Edit{Pos: s.pos(d.Pos.File, from), End: s.pos(d.Pos.File, to)}
	}
	if d.Fix.IsNone() {
		return
	}
	if e, ok := s.edit(d.Fix, d.Pos); ok {
		d.Edits = []Edit{e}
	}
}

// edit returns the edit that f makes at p. It returns false if f does not apply there or is one of two.
func (s *source) edit(f Fix, p Pos) (Edit, bool) {
	if f.Or != "" {
		return Edit{}, false
	}
	if f.Value {
		return s.editValue(f, p)
	}
	at, ok := s.offset(p)
	if !ok {
		return Edit{}, false
	}
	from, ok := s.find(f, p.Line, at)
	if !ok {
		return Edit{}, false
	}
	text := f.New
	if s.doubles && s.quoteAround(from) == '\'' {
		text = strings.ReplaceAll(text, "'", "''")
	}
	return Edit{s.pos(p.File, from), s.pos(p.File, from+len(f.Old)), text}, true
}

func (s *source) rest(line, at int) string {
	return s.line(line)[at-s.lines[line-1]:]
}

// tokenAt returns the token at the start of line: a quoted string, a name, or a single character.
func tokenAt(line string) string {
	if line == "" {
		return ""
	}
	if q := line[0]; q == '\'' || q == '"' {
		for i := 1; i < len(line); i++ {
			if line[i] == '\\' && q == '"' {
				i++
			} else if line[i] == q {
				return line[:i+1]
			}
		}
		return line
	}
	start := len(line) - len(strings.TrimLeft(line, "$%{&*!"))
	end := strings.IndexFunc(line[start:], func(r rune) bool { return !inWord(r) && !strings.ContainsRune(":./", r) })
	if end < 0 {
		end = len(line) - start
	}
	if name := strings.TrimRight(line[:start+end], ":./"); name != "" {
		return name
	}
	_, size := utf8.DecodeRuneInString(line)
	return line[:size]
}

func inWord(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }
