package layout

import (
	"errors"
	"slices"
	"strings"
)

// level is a hash or list that is open: the column where it was, and where it is now.
type level struct {
	old, now int
	list     bool
}

// outside is the level around the whole.
var outside = level{old: -1, now: -2}

// scanner reads lines and lays each out.
type scanner struct {
	lines []string
	at    int // lines that are read
	open  []level
	out   []line

	from     int       // the line at which what is read begins
	comments []comment // that stand before what comes next
	empty    bool      // an empty line does

	inside []Comment // that are between the lines of a value
}

// comment is one on a line of its own.
type comment struct {
	old   int
	from  int // its line
	text  string
	empty bool // a line before it is
}

// scan lays all lines out.
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
			return errors.New("behind the end of its first document there is more")
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

// isMarker tells whether a line stands outside of the data: how that is to be read, or where it begins.
func isMarker(text string) bool {
	return text == "---" || text == "..." || strings.HasPrefix(text, "--- #") || strings.HasPrefix(text, "%")
}

// add adds a line that was at column old, and the comments before it. before is what was open there.
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

// placeComments lays out the comments before a line that was at column old and is at column now: as deep as that, or
// where they stand deeper, as deep as what was open there.
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

// entry lays out a line that begins an element of a list, an entry of a hash, or a scalar, and reads the lines that
// belong to it.
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

// leave closes what is deeper than a column.
func (s *scanner) leave(column int) {
	for len(s.open) > 0 && s.open[len(s.open)-1].old > column {
		s.open = s.open[:len(s.open)-1]
	}
}

// enter is the level of the hash or list that has an entry at a column; behind a dash a new one.
func (s *scanner) enter(column int, list, dashed bool) level {
	s.leave(column)
	top := func() level {
		if n := len(s.open); n > 0 {
			return s.open[n-1]
		}
		return outside
	}
	if !dashed && !list && top().old == column && top().list { // a list as deep as its key
		s.open = s.open[:len(s.open)-1]
	}
	if t := top(); !dashed && t.old == column && t.list == list {
		return t
	}
	l := level{old: column, now: top().now + 2, list: list}
	s.open = append(s.open, l)
	return l
}

// cutKey cuts off the key that a line begins with, and the colon behind it.
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
		return "", "", false, errors.New("a key behind '?' is not understood")
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

// quoteEnd is the place behind the quote that closes a text, -1 if it does not end in this line.
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
