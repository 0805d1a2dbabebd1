package bindingsfile

import (
	"cmp"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/layout"
)

// comments contains the comments of a file, with the empty lines between them. Those at the top of
// the file are in head. All others belong to a statement, whose position is the map key. They are
// above the statement, or at the end of its first line.
type comments struct {
	head   []string
	above  map[diag.Pos][]string
	inline map[diag.Pos]string
}

// placeComments returns the comments of src. It assigns each of them to a statement of f.
func placeComments(src []byte, f *File, isPuppet bool) comments {
	read := layout.YAMLComments
	if isPuppet {
		read = layout.PuppetComments
	}
	list, _ := read(src)
	p := commentPlacer{lines: strings.Split(string(src), "\n"), commentOnly: map[int]bool{},
		comments: comments{above: map[diag.Pos][]string{}, inline: map[diag.Pos]string{}}}
	for s := range walk(f.Statements) {
		p.starts = append(p.starts, s.Pos)
	}
	slices.SortFunc(p.starts, func(a, b diag.Pos) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	for i, at := range p.starts { // an empty line belongs to the first statement on the next line
		if i > 0 && p.starts[i-1].Line < at.Line && p.isBlank(at.Line-1) {
			p.above[at] = []string{""}
		}
	}
	for _, c := range list {
		begins := slices.ContainsFunc(p.starts, func(at diag.Pos) bool { return at.Line == c.Line })
		p.commentOnly[c.Line] = p.commentOnly[c.Line] || c.Alone && !begins
	}
	for _, c := range list {
		p.insert(c)
	}
	return p.comments
}

type commentPlacer struct {
	comments
	lines       []string
	starts      []diag.Pos   // positions of all statements, in order
	commentOnly map[int]bool // lines that contain only a comment
}

// insert assigns a comment to the statement that begins on the same line. If there is none, the
// comment belongs to the next statement, or to the statement that contains it.
func (p *commentPlacer) insert(c layout.Comment) {
	line := c.Line
	for line < len(p.lines) && (p.commentOnly[line] || p.isBlank(line)) {
		line++
	}
	next := slices.IndexFunc(p.starts, func(at diag.Pos) bool { return at.Line >= line })
	begins := next >= 0 &&
		(p.starts[next].Line == line || strings.HasPrefix(strings.TrimSpace(p.lines[line-1]), "- "))
	if !begins {
		if next < 0 {
			next = len(p.starts)
		}
		next--
	}
	if next < 0 {
		p.head = append(p.head, c.Text)
		return
	}
	at := p.starts[next]
	switch {
	case begins && !c.Alone && p.inline[at] == "":
		p.inline[at] = c.Text
	case begins && p.above[at] == nil && next > 0 && p.isBlank(c.Line-1):
		p.above[at] = []string{"", c.Text}
	default:
		p.above[at] = append(p.above[at], c.Text)
	}
}

func (p *commentPlacer) isBlank(line int) bool { return strings.TrimSpace(p.lines[line-1]) == "" }
