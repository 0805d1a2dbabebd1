package layout

import (
	"cmp"
	"slices"
	"strings"

	"bindc/internal/syntax"
)

// Comment is a comment in a YAML file or a file in Puppet syntax.
type Comment struct {
	Line  int
	Text  string // includes the leading #
	Alone bool   // whether nothing precedes the comment on its line
}

// YAMLComments returns the comments of a YAML file. It returns false if the file has syntax that
// the formatter does not support.
func YAMLComments(src []byte) ([]Comment, bool) {
	s := scanner{lines: linesOf(src)}
	if err := s.scan(); err != nil {
		return nil, false
	}
	var out []Comment
	for _, l := range s.out {
		if strings.HasPrefix(l.text, "#") {
			out = append(out, Comment{l.from, l.text, true})
		}
		if l.comment != "" {
			out = append(out, Comment{l.from, l.comment, false})
		}
	}
	out = append(out, s.inside...)
	slices.SortStableFunc(out, func(a, b Comment) int { return cmp.Compare(a.Line, b.Line) })
	return out, true
}

// note records a comment that is inside a value, on the current line.
func (s *scanner) note(text string, alone bool) {
	s.inside = append(s.inside, Comment{s.at, text, alone})
}

// PuppetComments returns the comments of a file in Puppet syntax. It returns false if the file has
// a syntax error. Comments between /* and */ are returned as # comments.
func PuppetComments(src []byte) ([]Comment, bool) {
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	tokens, errs := syntax.Tokens(text)
	if len(errs) > 0 {
		return nil, false
	}
	var out []Comment
	s := newSetter(text, tokens)
	for i := range len(tokens) + 1 {
		from := 0
		if i > 0 {
			from = tokens[i-1].End
		}
		for _, c := range s.before(i).comments {
			at := from + strings.Index(text[from:], c.text)
			from = at + len(c.text)
			line := strings.Count(text[:at], "\n") + 1
			for n, part := range strings.Split(commentText(c.text), "\n") {
				text := strings.TrimSpace("# " + strings.TrimSpace(part))
				out = append(out, Comment{line + n, text, c.alone || n > 0})
			}
		}
	}
	return out, true
}

// commentText returns a comment without # or /* and */.
func commentText(text string) string {
	if rest, ok := strings.CutPrefix(text, "/*"); ok {
		return strings.TrimSuffix(rest, "*/")
	}
	return text[1:]
}
