package diag

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// excerptColumns is how much of a line is shown: with its number before it, it fits into a terminal of 80 columns.
const excerptColumns = 71

// tab is shown for a tab, whose width would depend on where it stands.
const tab = "    "

// excerpt is what is shown of a line, and how many columns of it stand before character col, counted from 1. What takes
// two columns, or none of its own, is known by what Unicode says of it.
func excerpt(line string, col int) (text string, before int) {
	line, col = around(line, col)
	var shown []string // what a reader takes for one character each
	at := -1           // the one with character col
	for g, read := displaywidth.StringGraphemes(line), 0; g.Next(); {
		if read += utf8.RuneCountInString(g.Value()); at < 0 && read >= col {
			at = len(shown)
		}
		shown = append(shown, Visible(strings.ReplaceAll(g.Value(), "\t", tab)))
	}
	if at < 0 {
		at = len(shown)
	}
	return window(shown, at)
}

// excerptBytes limits how many bytes of a line are read on either side of a position: far more than are shown.
const excerptBytes = 4096

// around returns the part of a line near character col, and the number of that character in the part.
func around(line string, col int) (string, int) {
	if len(line) <= 2*excerptBytes {
		return line, col
	}
	at, left := 0, col-1
	for ; left > 0 && at < len(line); left-- {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	from, to := max(0, at-excerptBytes), min(len(line), at+excerptBytes)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	return line[from:to], utf8.RuneCountInString(line[from:at]) + 1 + left
}

// window is as much of a line as there is room for, around the character at a place, and the columns before that.
func window(shown []string, at int) (text string, before int) {
	before, behind := columns(shown[:at]), columns(shown[at:])
	if before+behind <= excerptColumns {
		return strings.Join(shown, ""), before
	}
	const room = excerptColumns - 2 // for what tells that there is more
	from, to := 0, at
	for ; before > room-min(behind, room/3); from++ {
		before -= columns(shown[from : from+1])
	}
	for used := before; to < len(shown) && used+columns(shown[to:to+1]) <= room; to++ {
		used += columns(shown[to : to+1])
	}
	text = strings.Join(shown[from:to], "")
	if from > 0 {
		text, before = "…"+text, before+1
	}
	if to < len(shown) {
		text += "…"
	}
	return text, before
}

// columns is how wide a terminal shows texts.
func columns(texts []string) int {
	n := 0
	for _, text := range texts {
		n += displaywidth.String(text)
	}
	return n
}
