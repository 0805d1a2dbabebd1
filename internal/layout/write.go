package layout

import (
	"strings"
	"unicode/utf8"
)

type line struct {
	indent  int
	from    int // line number in the source
	text    string
	comment string   // comment at the end of the line
	below   []string // other lines of the value, already formatted
}

// maxAligned is the width up to which lines have their comments aligned.
const maxAligned = 80

func written(lines []line) []byte {
	var b strings.Builder
	for i := 0; i < len(lines); {
		end, column := i, 0
		for end < len(lines) && lines[end].isAligned() {
			column = max(column, lines[end].width())
			end++
		}
		for end = max(end, i+1); i < end; i++ {
			lines[i].write(&b, column)
		}
	}
	return []byte(b.String())
}

func (l *line) width() int { return l.indent + utf8.RuneCountInString(l.text) }

// isAligned reports whether the comment of l is aligned with the comments of adjacent lines.
func (l *line) isAligned() bool {
	return l.comment != "" && l.text != "" && len(l.below) == 0 && l.width() <= maxAligned
}

func (l *line) write(b *strings.Builder, column int) {
	if l.text != "" {
		b.WriteString(strings.Repeat(" ", l.indent) + l.text)
	}
	if l.comment != "" {
		b.WriteString(strings.Repeat(" ", max(0, column-l.width())) + "  " + l.comment)
	}
	b.WriteByte('\n')
	for _, more := range l.below {
		b.WriteString(more + "\n")
	}
}
