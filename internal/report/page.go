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

// Page is text for people.
type Page struct {
	*bufio.Writer
	All bool // also what does not apply to the request
	Screen
}

// Screen describes what shows a page.
type Screen struct {
	Color bool
	Width int // in columns; 0 if lines may have any length
}

// ScreenOf returns the screen that w is. In a pipe or a file, lines may have any length.
func ScreenOf(w io.Writer) Screen {
	f, ok := w.(*os.File)
	return Screen{Color: ok && cli.Color(f), Width: cli.Width(w)}
}

// Print lets draw write a page to w.
func Print(w io.Writer, s Screen, draw func(p *Page)) error {
	p := &Page{Writer: bufio.NewWriter(w), Screen: s}
	draw(p)
	return p.Flush()
}

// What is painted, as terminals number it.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint returns text as a page shows it, in a style or none. It makes control characters visible, so that they cannot
// harm a terminal. All that a page shows of snapshots, facts and arguments comes through here.
func (p *Page) paint(style, text string) string {
	text = diag.Visible(text)
	if !p.Color || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// columns returns the number of columns in which a terminal shows text, as paint returns it.
func columns(text string) int { return displaywidth.String(diag.Visible(text)) }

// fitted returns text on one line, cut to so many columns. It does not cut a character in two.
func fitted(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	width, end := 0, 0 // end is where the text is cut, if it is: the mark of the cut has to fit too
	read := 0
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		if width += columns(g.Value()); width > most {
			return text[:end] + "…"
		}
		if read += len(g.Value()); width < most {
			end = read
		}
	}
	return text
}

// room returns the number of columns that are left in a line after so many. It returns a few even if none are.
func (p *Page) room(used int) int { return max(p.width()-used, 10) }

// width returns the number of columns in a line.
func (p *Page) width() int { return cmp.Or(p.Width, math.MaxInt) }

// line writes text, cut to what is left of the line behind an indent.
func (p *Page) line(indent int, style, text string) {
	fmt.Fprintf(p, "%s%s\n", strings.Repeat(" ", indent), p.paint(style, fitted(text, p.room(indent))))
}

// wrapped writes words in as many lines as they take. It does not break words.
func (p *Page) wrapped(indent int, style string, words []string) {
	var line []string
	width := 0
	end := func() {
		if len(line) > 0 {
			fmt.Fprintf(p, "%s%s\n", strings.Repeat(" ", indent), p.paint(style, strings.Join(line, " ")))
		}
		line, width = nil, 0
	}
	for _, word := range words {
		n := columns(word)
		if width > 0 && indent+width+1+n > p.width() {
			end()
		}
		if width > 0 {
			width++
		}
		line, width = append(line, word), width+n
	}
	end()
}

// place writes where a binding is written and in which layer, which takes a line of its own where both do not fit
// behind an indent.
func (p *Page) place(indent int, at, layer string) {
	layer = "(" + layer + ")"
	between := "  "
	if indent+columns(at)+len(between)+columns(layer) > p.width() {
		between = "\n" + strings.Repeat(" ", indent)
	}
	fmt.Fprintf(p, "%s%s%s\n", p.paint(cyan, at), between, p.paint(dim, layer))
}

// conditionText is a condition for people.
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

// conditionWords are conditionText to be wrapped, behind an intro.
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

// condition is when a binding is effective, to be wrapped, behind its name if it has one.
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
