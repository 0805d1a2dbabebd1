package lsp

import (
	"bindc/internal/pattern"
	"strings"
)

// maxContext limits how many lines before the cursor are read for a completion.
const maxContext = 200

// around returns the text before off in a YAML bindings file, rewritten as a single line: enclosing hashes become "key:
// {", and the dashes of condition lists become "[". start is the offset of the current line.
func (d *document) around(start, off int) string {
	text := d.text
	line := text.LineOf(start)
	before := text.Src[start:off]
	if flow := d.openBrackets(line); flow >= 0 { // off is inside brackets that were opened on an earlier line
		from, _ := text.Line(flow)
		before = strings.Join(strings.Fields(text.Src[from:start]), " ") + " " + strings.TrimLeft(before, " \t")
		line, start = flow, from
	}
	indent := indentOf(text.Src[start:off])
	for n := line - 1; n >= 0 && n >= line-maxContext && indent > 0; n-- {
		from, to := text.Line(n)
		m := parentKey().FindStringSubmatch(text.Src[from:to])
		if m == nil || len(m[1])+len(m[2]) >= indent && !(len(m[1])+len(m[2]) == indent && isItem(before)) {
			continue
		}
		before = strings.TrimLeft(before, " ")
		if isItem(before) {
			before = "[" + strings.TrimPrefix(before, "-")
		} else {
			before = "{" + before
		}
		before, indent = m[3]+": "+before, len(m[1])
		if m[2] != "" { // the parent is a list item
			before = "- " + before
		}
	}
	return before
}

// parentKey matches a line that contains only a key. The groups are its indentation, dash and name.
var parentKey = pattern.Lazy(`^( *)((?:- +)?)(when|bind|[a-z_]\w*):\s*(?:#.*)?$`)

func isItem(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " "), "-") }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// openBrackets returns the line of the outermost bracket that is still open at the start of the given line, or -1. It
// only looks back to the last line that begins a binding.
func (d *document) openBrackets(line int) int {
	first := line - 1
	for first > 0 && first > line-maxContext && !d.beginsBinding(first) {
		first--
	}
	var open []int // lines of the brackets that are open so far
	quote := byte(0)
	for n := max(0, first); n < line; n++ {
		from, to := d.text.Line(n)
		for i := from; i < to; i++ {
			switch c := d.text.Src[i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '#' && (i == from || d.text.Src[i-1] == ' '):
				i = to
			case c == '"' || c == '\'' && i > from && strings.IndexByte(" [{,", d.text.Src[i-1]) >= 0:
				quote = c
			case c == '{' || c == '[':
				open = append(open, n)
			case (c == '}' || c == ']') && len(open) > 0:
				open = open[:len(open)-1]
			}
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[0]
}

// beginsBinding reports whether the line begins a list item.
func (d *document) beginsBinding(line int) bool {
	from, to := d.text.Line(line)
	return isItem(d.text.Src[from:to])
}
