package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"bindc/diag"
	"bindc/internal/cli"
	"bindc/internal/lookup"
)

// Page writes a report as text.
type Page struct {
	*bufio.Writer
	All bool // also show bindings that do not apply to the request
	Screen
}

// Screen describes the output that shows a page.
type Screen struct {
	Color bool
	Width int // columns per line; 0 for no limit
}

// ScreenOf describes w. Lines in a pipe or a file may have any length.
func ScreenOf(w io.Writer) Screen {
	f, ok := w.(*os.File)
	return Screen{Color: ok && cli.Color(f), Width: cli.Width(w)}
}

// Print calls draw, which writes a page to w.
func Print(w io.Writer, s Screen, draw func(p *Page)) error {
	p := &Page{Writer: bufio.NewWriter(w), Screen: s}
	draw(p)
	return p.Flush()
}

// Styles, as parameters of the terminal's escape sequence.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint returns text in a style, with control characters escaped. All text on a page that comes from snapshots, facts
// and arguments must go through paint.
func (p *Page) paint(style, text string) string {
	text = diag.Visible(text)
	if !p.Color || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// columns returns the width of text on a terminal, after paint.
func columns(text string) int { return displaywidth.String(diag.Visible(text)) }

// fitted returns text on one line, cut to a width. It never cuts within a character.
func fitted(text string, width int) string {
	text = strings.Join(strings.Fields(text), " ")
	used, read, end := 0, 0, 0 // end is the length of the text that fits with an ellipsis
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		if used += columns(g.Value()); used > width {
			return text[:end] + "…"
		}
		if read += len(g.Value()); used < width {
			end = read
		}
	}
	return text
}

// room returns the width that remains in a line after the used columns, at least 10.
func (p *Page) room(used int) int { return max(p.width()-used, 10) }

// width returns the width of a line.
func (p *Page) width() int { return cmp.Or(p.Width, math.MaxInt) }

// line writes an indented line, cut to the page's width.
func (p *Page) line(indent int, style, text string) {
	fmt.Fprintf(p, "%s%s\n", strings.Repeat(" ", indent), p.paint(style, fitted(text, p.room(indent))))
}

// wrapped writes words on as many lines as they need. It does not break words.
func (p *Page) wrapped(indent int, style string, words []string) {
	var line []string
	width := 0
	flush := func() {
		if len(line) > 0 {
			fmt.Fprintf(p, "%s%s\n", strings.Repeat(" ", indent), p.paint(style, strings.Join(line, " ")))
		}
		line, width = nil, 0
	}
	for _, word := range words {
		n := columns(word)
		if width > 0 && indent+width+1+n > p.width() {
			flush()
		}
		if width > 0 {
			width++
		}
		line, width = append(line, word), width+n
	}
	flush()
}

// location writes the place and the layer of a binding, after an indent. The layer goes on a second line if the first
// would be too long.
func (p *Page) location(indent int, at, layer string) {
	layer = "(" + layer + ")"
	between := "  "
	if indent+columns(at)+len(between)+columns(layer) > p.width() {
		between = "\n" + strings.Repeat(" ", indent)
	}
	fmt.Fprintf(p, "%s%s%s\n", p.paint(cyan, at), between, p.paint(dim, layer))
}

// conditionText returns a condition as text.
func conditionText(ts []lookup.Term) string {
	if len(ts) == 0 {
		return "always"
	}
	words := make([]string, len(ts))
	for i, t := range ts {
		words[i] = t.Name + " = " + t.Value
	}
	return strings.Join(words, ", ")
}

// conditionWords returns a condition as words to be wrapped, after an introduction.
func conditionWords(intro string, ts []lookup.Term) []string {
	out := make([]string, 0, len(ts)+1)
	for i, t := range ts {
		end := ","
		if i == len(ts)-1 {
			end = ""
		}
		out = append(out, t.Name+" = "+t.Value+end)
	}
	if len(out) == 0 {
		return []string{intro}
	}
	out[0] = strings.TrimSpace(intro + " " + out[0])
	return out
}

// condition describes when a binding is effective, as words to be wrapped. The name of the binding comes first if it
// has one.
func condition(name string, ts []lookup.Term, always string) []string {
	intro := "when"
	if len(ts) == 0 {
		intro = always
	}
	words := conditionWords(intro, ts)
	if name != "" {
		words = append([]string{"named " + name + ","}, words...)
	}
	return words
}
