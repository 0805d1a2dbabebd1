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

// Page writes reports as text for people. Its methods each write one kind of report.
type Page struct {
	*bufio.Writer
	All bool // also write bindings that do not apply and the rest of long lists
	Screen
}

// Screen describes the terminal or file to which a Page writes.
type Screen struct {
	Color bool
	Width int // columns per line; 0 means unlimited
}

// ScreenOf returns the Screen for w. Colour is only used on a terminal.
func ScreenOf(w io.Writer) Screen {
	f, ok := w.(*os.File)
	return Screen{Color: ok && cli.Color(f), Width: cli.Width(w)}
}

// Print calls draw with a Page that writes to w, and then flushes the page.
func Print(w io.Writer, s Screen, draw func(p *Page)) error {
	p := &Page{Writer: bufio.NewWriter(w), Screen: s}
	draw(p)
	return p.Flush()
}

// Styles are the parameters of ANSI escape sequences.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint escapes control characters in text and adds the style if the page has colour. All text from snapshots, facts
// and arguments must pass through paint.
func (p *Page) paint(style, text string) string {
	text = diag.Visible(text)
	if !p.Color || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// columns returns the width of text on a terminal, after paint has escaped it.
func columns(text string) int { return displaywidth.String(diag.Visible(text)) }

// fitted joins text to a single line and shortens it to width columns. It does not cut through a character.
func fitted(text string, width int) string {
	text = strings.Join(strings.Fields(text), " ")
	used, read, end := 0, 0, 0 // end is where to cut if an ellipsis must still fit
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

// room returns the number of columns left on a line. It returns at least 10, even if the screen is too narrow.
func (p *Page) room(used int) int { return max(p.width()-used, 10) }

func (p *Page) width() int { return cmp.Or(p.Width, math.MaxInt) }

// line writes an indented line, shortened to fit the screen.
func (p *Page) line(indent int, style, text string) {
	fmt.Fprintf(p, "%s%s\n", strings.Repeat(" ", indent), p.paint(style, fitted(text, p.room(indent))))
}

// wrapped writes words, and breaks lines between words where needed.
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

// location writes the position and the layer of a binding, on two lines if the screen is narrow.
func (p *Page) location(indent int, at, layer string) {
	layer = "(" + layer + ")"
	between := "  "
	if indent+columns(at)+len(between)+columns(layer) > p.width() {
		between = "\n" + strings.Repeat(" ", indent)
	}
	fmt.Fprintf(p, "%s%s%s\n", p.paint(cyan, at), between, p.paint(dim, layer))
}

// conditionText formats a condition as "name = value, name = value", or "always" if it is empty.
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

// conditionWords returns the words of intro and a condition, for use with wrapped.
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

// condition returns the words that say when a binding applies, for use with wrapped. name is the binding's name, or "".
// always replaces an empty condition.
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
