package yaml

import (
	"bytes"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/pattern"
)

// spacesFor returns the correction of the tabs at pos. If they indent a line, the correction moves the line to the
// column that fits the lines around it. If several columns fit, spacesFor returns the zero Fix.
func (r *report) spacesFor(pos diag.Pos) diag.Fix {
	at := r.doc.offset(pos.Line, pos.Col)
	rest, before := r.doc.src[at:], r.doc.src[r.lineStart(at):at]
	tabs := len(rest) - len(bytes.TrimLeft(rest, "\t"))
	if len(bytes.Trim(before, " ")) > 0 {
		return diag.Fix{Old: strings.Repeat("\t", tabs), New: strings.Repeat("  ", tabs), Syntax: true}
	}
	blanks := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))]
	spaces := r.columnOf(at, bytes.Count(blanks, []byte("\t"))) - len(before)
	if spaces <= 0 {
		return diag.Fix{}
	}
	return diag.Fix{Old: string(blanks), New: strings.Repeat(" ", spaces), Syntax: true}
}

// columnOf returns the number of spaces before the line at offset at, which has the given number of tabs instead. It
// returns 0 if this is not certain.
func (r *report) columnOf(at, tabs int) int {
	line := lineAt(r.doc.src, at)
	above := r.entryAbove(at)
	if above < 0 {
		return 0
	}
	opening := opens(line)
	if opens(lineAt(r.doc.src, above)) {
		return r.columnBelow(at, above, opening)
	}
	levels := r.levels(above, isElement(bytes.TrimLeft(line, " \t")))
	if next, ok := r.indentBelow(at); ok {
		levels = slices.DeleteFunc(levels, func(level int) bool {
			return level < next && !opening || level >= next && opening && next > 0
		})
	}
	switch n := len(levels); {
	case n == 1, n > 1 && tabs == n: // one tab for each level
		return levels[n-1]
	}
	return 0
}

// opens reports whether the value of a line is in the lines below it.
func opens(line []byte) bool {
	line, _, _ = bytes.Cut(line, []byte(" #"))
	return opening().Match(line)
}

var opening = pattern.Lazy(`:(?: +[|>][-+0-9]*)?\s*$|^ *-\s*$`)

func isElement(text []byte) bool { return bytes.HasPrefix(text, []byte("- ")) }

// levels returns the columns, except the first, of the line at above and of the entries that enclose it, in ascending
// order. These are columns of keys, or of the dashes of elements.
func (r *report) levels(above int, elements bool) (levels []int) {
	for line := above; line >= 0; line = r.entryAbove(line) {
		text := lineAt(r.doc.src, line)
		column := keyColumn(text)
		if elements {
			column = indentOf(text)
		}
		fits := isElement(text[indentOf(text):]) || !elements && bytes.Contains(text, []byte(":"))
		if !fits && line == above {
			return nil // for example, the last line of a text
		}
		if fits && (len(levels) == 0 || column < levels[0]) {
			if column == 0 {
				break
			}
			levels = slices.Insert(levels, 0, column)
		}
	}
	return levels
}

// keyColumn returns the column of the key in a line, which may be after dashes.
func keyColumn(line []byte) int {
	text := bytes.TrimLeft(line, " ")
	for isElement(text) {
		text = bytes.TrimLeft(text[1:], " ")
	}
	return len(line) - len(text)
}

// columnBelow returns the column for a line that starts the value of the line at above. Lines below that belong to the
// same value decide. If there are no such lines, it adds the smallest indentation above, or two spaces.
func (r *report) columnBelow(at, above int, opening bool) int {
	outer, step := keyColumn(lineAt(r.doc.src, above)), 0
	for line := range bytes.Lines(r.doc.src[:at]) {
		if in := indentOf(line); in > 0 && (step == 0 || in < step) && isEntry(line) {
			step = in
		}
	}
	if step == 0 {
		step = 2
	}
	first, least := 0, 0
	for line := range bytes.Lines(r.below(at)) {
		in := indentOf(line)
		if !isEntry(line) {
			continue
		}
		if in <= outer {
			break
		}
		if first == 0 {
			first, least = in, in
		}
		least = min(least, in)
	}
	switch {
	case first == 0:
		return outer + step
	case opening && first == least && outer+step < first:
		return outer + step
	case opening && first == least:
		return 0
	}
	return least
}

// indentBelow returns the indentation of the first line below offset at that is indented with spaces or not at all.
func (r *report) indentBelow(at int) (int, bool) {
	for line := range bytes.Lines(r.below(at)) {
		if isEntry(line) {
			return indentOf(line), true
		}
	}
	return 0, false
}

// below returns the source after the line at offset at.
func (r *report) below(at int) []byte {
	_, rest, _ := bytes.Cut(r.doc.src[at:], []byte("\n"))
	return rest
}

// isEntry reports whether a line has text that is not a comment, and no tab in its indentation.
func isEntry(line []byte) bool {
	text := bytes.TrimLeft(line, " ")
	return len(bytes.TrimSpace(text)) > 0 && text[0] != '#' && text[0] != '\t'
}
