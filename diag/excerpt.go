package diag

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// excerptColumns is the maximum width of an excerpt of a source line. With the line number, it fits in 80 columns.
const excerptColumns = 71

// tab replaces a tab, whose width would depend on its column.
const tab = "    "

// excerpt returns the part of line to show, and the width of that part before the character at col. Characters count
// from 1. On a terminal, a character takes two columns, one or none.
func excerpt(line string, col int) (text string, before int) {
	line, col = around(line, col)
	var shown []string // one grapheme per element
	at := -1           // index of the element with character col
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

// excerptBytes limits how many bytes are read before and after a position in a line. The limit is much larger than an
// excerpt.
const excerptBytes = 4096

// around returns the bytes of line near the character at col, and the number of that character in them. Characters
// count from 1.
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

// window joins the elements of shown that fit in excerptColumns, around the element with index at. before is the width
// of the text before that element.
func window(shown []string, at int) (text string, before int) {
	before, behind := columns(shown[:at]), columns(shown[at:])
	if before+behind <= excerptColumns {
		return strings.Join(shown, ""), before
	}
	const room = excerptColumns - 2 // minus the columns of two ellipses
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

func columns(texts []string) int {
	n := 0
	for _, text := range texts {
		n += displaywidth.String(text)
	}
	return n
}
