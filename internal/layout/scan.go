package layout

import (
	"errors"
	"slices"
	"strings"
)

// level is a hash or list that is being formatted. old is its column in the source, and now its
// column in the output.
type level struct {
	old, now int
	list     bool
}

// outside is the level around the whole document.
var outside = level{old: -1, now: -2}

type scanner struct {
	lines []string
	at    int // number of lines that have been read
	open  []level
	out   []line

	from     int       // number of the line where the current entry begins
	comments []comment // comments that precede the next entry
	empty    bool      // whether an empty line precedes the next entry

	inside []Comment // comments between the lines of a value
}

// comment is a comment on a line of its own.
type comment struct {
	old   int
	from  int // number of its line
	text  string
	empty bool // whether an empty line precedes the comment
}

func (s *scanner) scan() error {
	begun := false
	for s.at < len(s.lines) {
		text := strings.TrimRight(s.lines[s.at], " \t")
		s.at++
		s.from = s.at
		old := indentation(text)
		switch rest := text[old:]; {
		case rest == "":
			s.empty = true
		case rest[0] == '#':
			s.comments = append(s.comments, comment{old, s.at, rest, s.empty})
			s.empty = false
		case isMarker(text) && begun:
			return errors.New("text after the end of the first document")
		case isMarker(text):
			s.add(nil, 0, line{text: text})
		default:
			begun = true
			if err := s.entry(old, rest); err != nil {
				return err
			}
		}
	}
	s.empty = false
	s.placeComments(s.open, -1, 0)
	return nil
}

func indentation(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// isMarker reports whether a line is a directive, such as %YAML, or a document marker, such as ---.
func isMarker(text string) bool {
	return text == "---" || text == "..." || strings.HasPrefix(text, "--- #") || strings.HasPrefix(text, "%")
}

// add appends the comments that precede a line, and then the line. old is the line's column in the
// source. before lists the levels that were open where the comments are.
func (s *scanner) add(before []level, old int, l line) {
	s.placeComments(before, old, l.indent)
	s.addEmpty(s.empty)
	s.empty = false
	l.from = s.from
	s.out = append(s.out, l)
}

func (s *scanner) addEmpty(empty bool) {
	if empty && len(s.out) > 0 {
		s.out = append(s.out, line{})
	}
}

// placeComments appends the comments that precede a line. old and now are the line's columns in the
// source and in the output. A comment gets the indentation of the line. If it was indented deeper,
// it gets that of the innermost level to its left.
func (s *scanner) placeComments(before []level, old, now int) {
	for _, c := range s.comments {
		at := now
		if c.old > old {
			i := slices.IndexFunc(before, func(l level) bool { return l.old > c.old })
			if i < 0 {
				i = len(before)
			}
			if i > 0 {
				at = max(now, before[i-1].now)
			}
		}
		s.addEmpty(c.empty)
		s.out = append(s.out, line{indent: at, text: c.text, from: c.from})
	}
	s.comments = nil
}

// entry formats a list element, hash entry or scalar that begins on the current line, including all
// lines that belong to it.
func (s *scanner) entry(old int, rest string) error {
	before := slices.Clone(s.open)
	first, text, column, dashes := -1, "", old, false
	for rest == "-" || strings.HasPrefix(rest, "- ") {
		l := s.enter(column, true, dashes)
		if first < 0 {
			first = l.now
		}
		behind := strings.TrimLeft(rest[1:], " ")
		column += len(rest) - len(behind)
		text, rest, dashes = text+"- ", behind, true
	}
	key, rest, isEntry, err := cutKey(rest)
	if err != nil {
		return err
	}
	var parent level
	switch {
	case isEntry:
		parent = s.enter(column, false, dashes)
		text += key + ":"
		if rest = strings.TrimLeft(rest, " \t"); rest != "" && rest[0] != '#' {
			text += " "
		}
	case dashes:
		parent = s.open[len(s.open)-1]
	default:
		s.leave(column - 1)
		parent = outside
		if n := len(s.open); n > 0 {
			parent = s.open[n-1]
		}
	}
	switch {
	case first >= 0:
	case isEntry:
		first = parent.now
	default:
		first = max(0, parent.now+2)
	}
	v, err := s.value(rest, parent, dashes && !isEntry)
	if err != nil {
		return err
	}
	text = strings.TrimRight(text+v.text, " ")
	s.add(before, old, line{indent: first, text: text, comment: v.comment, below: v.below})
	return nil
}

// leave closes the levels that begin to the right of column.
func (s *scanner) leave(column int) {
	for len(s.open) > 0 && s.open[len(s.open)-1].old > column {
		s.open = s.open[:len(s.open)-1]
	}
}

// enter returns the level of an entry that begins at column. It opens a new level if there is none.
// If dashed is true, a dash precedes the entry on its line, so the level is always new.
func (s *scanner) enter(column int, list, dashed bool) level {
	s.leave(column)
	top := func() level {
		if n := len(s.open); n > 0 {
			return s.open[n-1]
		}
		return outside
	}
	if !dashed && !list && top().old == column && top().list { // ends a list that has the same column as its key
		s.open = s.open[:len(s.open)-1]
	}
	if t := top(); !dashed && t.old == column && t.list == list {
		return t
	}
	l := level{old: column, now: top().now + 2, list: list}
	s.open = append(s.open, l)
	return l
}

// cutKey splits a line after the colon of its key. ok is false if the line has no key.
func cutKey(text string) (key, rest string, ok bool, err error) {
	i := 0
	for i < len(text) && (text[i] == '&' || text[i] == '!') {
		for i < len(text) && text[i] != ' ' {
			i++
		}
		for i < len(text) && text[i] == ' ' {
			i++
		}
	}
	if i == len(text) {
		return "", text, false, nil
	}
	switch c := text[i]; {
	case c == '?' && (i+1 == len(text) || text[i+1] == ' '):
		return "", "", false, errors.New("a key after '?' is not supported")
	case strings.IndexByte("|>#[{", c) >= 0:
		return "", text, false, nil
	case c == '"' || c == '\'':
		end := quoteEnd(text, i+1, c)
		if end < 0 {
			return "", text, false, nil
		}
		rest := strings.TrimLeft(text[end:], " ")
		if rest == ":" || strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, ":\t") {
			return text[:end], rest[1:], true, nil
		}
		return "", text, false, nil
	}
	for ; i < len(text); i++ {
		switch {
		case text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t'):
			return strings.TrimRight(text[:i], " "), text[i+1:], true, nil
		case text[i] == '#' && text[i-1] == ' ':
			return "", text, false, nil
		}
	}
	return "", text, false, nil
}

// quoteEnd returns the index after the closing quote, or -1 if the string continues on the next
// line.
func quoteEnd(text string, from int, quote byte) int {
	for i := from; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\', quote == '\'' && strings.HasPrefix(text[i:], "''"):
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}
