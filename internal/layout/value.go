package layout

import (
	"errors"
	"strings"
)

// laid is a formatted value. text is on the same line as the key or dash; below contains the other
// lines.
type laid struct {
	text, comment string
	below         []string
}

var errTrailing = errors.New("unsupported text after a value")

// value formats text, the rest of a line after a key or dash, and the following lines of the value.
// parent is the level that contains the value. dashed reports whether text follows a dash.
func (s *scanner) value(text string, parent level, dashed bool) (laid, error) {
	properties := ""
	for text != "" && (text[0] == '&' || text[0] == '!') {
		p, rest, _ := strings.Cut(text, " ")
		properties += p + " "
		text = strings.TrimLeft(rest, " \t")
	}
	var v laid
	var err error
	switch {
	case text == "":
	case text[0] == '#':
		v.comment = text
	case text[0] == '|' || text[0] == '>':
		v, err = s.block(text, parent)
	case text[0] == '"' || text[0] == '\'':
		v, err = s.quoted(text, parent)
	case text[0] == '[' || text[0] == '{':
		base := max(0, parent.now)
		if dashed {
			base += 2
		}
		v, err = s.flow(text, base)
	default:
		v = s.plain(text, parent)
	}
	v.text = properties + v.text
	return v, err
}

// next reads the next line and trims it. It returns false at the end of the file.
func (s *scanner) next() (string, bool) {
	if s.at == len(s.lines) {
		return "", false
	}
	s.at++
	return strings.Trim(s.lines[s.at-1], " \t"), true
}

func indented(column int, text string) string {
	if text == "" {
		return ""
	}
	return strings.Repeat(" ", max(0, column)) + text
}

// behind returns the comment after a value. It returns an error if there is other text.
func behind(rest string) (string, error) {
	rest = strings.TrimLeft(rest, " \t")
	if rest != "" && rest[0] != '#' {
		return "", errTrailing
	}
	return rest, nil
}

// plain formats a scalar without quotes. The scalar continues on the following lines that are
// indented deeper than parent.
func (s *scanner) plain(text string, parent level) laid {
	text, comment := cutComment(text)
	v := laid{text: text, comment: comment}
	for ended := comment != ""; !ended; {
		at := s.at
		for at < len(s.lines) && strings.Trim(s.lines[at], " \t") == "" {
			at++
		}
		if at == len(s.lines) || indentation(s.lines[at]) <= parent.old {
			break
		}
		more := strings.Trim(s.lines[at], " \t")
		if more[0] == '#' {
			break
		}
		for ; s.at < at; s.at++ {
			v.below = append(v.below, "")
		}
		s.at++
		text, comment := cutComment(more)
		if ended = comment != ""; ended {
			s.note(comment, false)
			text += "  " + comment
		}
		v.below = append(v.below, indented(parent.now+2, text))
	}
	return v
}

func cutComment(text string) (before, comment string) {
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return strings.TrimRight(text[:i], " \t"), text[i:]
		}
	}
	return text, ""
}

func (s *scanner) quoted(text string, parent level) (laid, error) {
	quote := text[0]
	var v laid
	for from := 1; ; from = 0 {
		end := quoteEnd(text, from, quote)
		whole := text
		if end >= 0 {
			whole = text[:end]
		}
		if from == 1 {
			v.text = whole
		} else {
			v.below = append(v.below, indented(parent.now+2, whole))
		}
		if end >= 0 {
			comment, err := behind(text[end:])
			if last := len(v.below) - 1; last >= 0 && comment != "" {
				s.note(comment, false)
				v.below[last] += "  " + comment
				comment = ""
			}
			v.comment = comment
			return v, err
		}
		var ok bool
		if text, ok = s.next(); !ok {
			return v, errTrailing
		}
	}
}

// block formats a block scalar. It keeps trailing white space and any indentation beyond that of
// the scalar, which belong to the text.
func (s *scanner) block(text string, parent level) (laid, error) {
	header, rest, _ := strings.Cut(text, " ")
	comment, err := behind(rest)
	v := laid{text: header, comment: comment}
	old, now := -1, max(0, parent.now+2)
	if i := strings.IndexAny(header, "123456789"); i >= 0 {
		digit := int(header[i] - '0')
		old, now = max(0, parent.old)+digit, max(0, parent.now)+digit
	}
	var lines []string
	for ; s.at < len(s.lines); s.at++ {
		l := s.lines[s.at]
		if strings.Trim(l, " ") != "" {
			if deep := indentation(l); deep <= parent.old || deep < old {
				break
			} else if old < 0 {
				old = deep
			}
		}
		lines = append(lines, l)
	}
	for n := len(lines); n > 0 && strings.Trim(lines[n-1], " ") == "" && !strings.Contains(header, "+"); n-- {
		lines = lines[:n-1]
		s.at--
	}
	for _, l := range lines {
		if len(l) <= old || old < 0 {
			v.below = append(v.below, "")
		} else {
			v.below = append(v.below, strings.Repeat(" ", now)+l[old:])
		}
	}
	return v, err
}

// flow formats a list or hash in brackets. It keeps the line breaks.
func (s *scanner) flow(text string, base int) (laid, error) {
	f := flow{}
	tidy, comment, rest := f.line(text)
	v := laid{text: tidy, comment: comment}
	for f.depth > 0 {
		more, ok := s.next()
		if !ok {
			return v, errTrailing
		}
		depth := f.depth
		if f.quote == 0 {
			depth -= len(more) - len(strings.TrimLeft(more, "]}"))
		}
		tidy, comment, rest = f.line(more)
		if comment != "" {
			s.note(comment, tidy == "")
		}
		if tidy != "" && comment != "" {
			tidy += "  "
		}
		v.below = append(v.below, indented(base+2*depth, tidy+comment))
	}
	after, err := behind(rest)
	if last := len(v.below) - 1; last >= 0 && after != "" {
		s.note(after, false)
		v.below[last] += "  " + after
	} else if after != "" {
		v.comment = after
	}
	return v, err
}

// flow is the state of formatting nested lists and hashes in brackets.
type flow struct {
	depth int
	quote byte // the quote character of an open string, or 0
	inner bool // inside a plain scalar, in which quotes are ordinary characters
}

// line formats one line of a list or hash in brackets. rest is the text after the last closing
// bracket.
func (f *flow) line(text string) (tidy, comment, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := strings.TrimLeft(text[i+1:], " \t")
		switch {
		case f.quote != 0:
			end := quoteEnd(text, i, f.quote)
			if end < 0 {
				b.WriteString(text[i:])
				return b.String(), "", ""
			}
			b.WriteString(text[i:end])
			i, f.quote, f.inner = end-1, 0, false
		case c == ' ' || c == '\t':
			gap := text[i : len(text)-len(next)]
			i = len(text) - len(next) - 1
			if next == "" {
				return b.String(), "", ""
			}
			if next[0] == '#' {
				return b.String(), next, ""
			}
			written := b.String()
			behindBracket := written == "" || strings.IndexByte("[{ ", written[len(written)-1]) >= 0
			if !behindBracket && strings.IndexByte(",]}", next[0]) < 0 && !isColon(next) {
				b.WriteString(gap)
			}
		case c == '#' && b.Len() == 0:
			return "", text[i:], ""
		case c == '[' || c == '{':
			f.depth++
			f.inner = false
			b.WriteByte(c)
		case c == ']' || c == '}':
			f.depth--
			f.inner = true
			b.WriteByte(c)
			if f.depth == 0 {
				return b.String(), "", text[i+1:]
			}
		case c == ',' || isColon(text[i:]) || c == ':' && i > 0 && strings.IndexByte(`"'`, text[i-1]) >= 0 && !f.inner:
			f.inner = false
			b.WriteByte(c)
			if next != "" && next[0] != '#' && (c == ':' || strings.IndexByte("]}", next[0]) < 0) {
				b.WriteByte(' ')
			}
		case (c == '"' || c == '\'') && !f.inner:
			f.quote = c
			b.WriteByte(c)
		default:
			f.inner = true
			b.WriteByte(c)
		}
	}
	return b.String(), "", ""
}

// isColon reports whether text begins with the colon that ends a key.
func isColon(text string) bool {
	return text == ":" || strings.HasPrefix(text, ": ") || strings.HasPrefix(text, ":\t")
}
