package yaml

import (
	"bytes"
	"math"
	"regexp"
	"strconv"

	"bindc/diag"
	"bindc/internal/pattern"
)

// libyaml's messages for lines that do not fit the lines above.
const (
	noKeyHere   = "mapping values are not allowed in this context"
	noNextKey   = "did not find expected key"
	noNextDash  = "did not find expected '-' indicator"
	noNextPart  = "did not find expected <document start>"
	endOfStream = "found unexpected end of stream"
)

// refuseSuspect reports the probable cause of the syntax error c, or returns false if it finds none. The cause may be
// lines above the error: libyaml notices an unclosed quote, a colon without a space or wrong indentation late.
func (r *report) refuseSuspect(c complaint) bool {
	at := r.doc.offset(c.pos.Line, c.pos.Col)
	for _, suspect := range []func(complaint, int) bool{r.byteOrderMark, r.unclosedQuote, r.unclosedBracket,
		r.textAfterValue, r.shallowBlock, r.colonWithoutBlank, r.keyWithoutColon, r.wrongIndentation} {
		if suspect(c, at) {
			return true
		}
	}
	return false
}

// unclosedQuote reports a string whose closing quote is missing. Such a string ends at the opening quote of a later
// string, or does not end.
func (r *report) unclosedQuote(c complaint, at int) bool {
	open, hint := -1, "close the string with the quote that opens it; "
	if c.problem == endOfStream && c.start.Line > 0 {
		open = r.doc.offset(c.start.Line, c.start.Col)
	} else {
		open = r.openingQuote(at)
	}
	if open < 0 || open >= len(r.doc.src) {
		return false
	}
	switch r.doc.src[open] {
	case '\'':
		hint += "a ' within '…' is written twice"
	case '"':
		hint += `a " within "…" is written \"`
	default:
		return false
	}
	var notes []diag.Note
	if c.problem != endOfStream {
		notes = []diag.Note{{Pos: r.doc.posAt(r.lastByte(at)), Message: "it continues up to this quote"}}
	}
	r.fail(r.doc.posAt(open), "yaml_syntax", "the quoted text that starts here is not closed", hint, notes...)
	return true
}

// lastByte returns the offset of the last byte before at that is not a blank, or -1.
func (r *report) lastByte(at int) int { return len(bytes.TrimRight(r.doc.src[:at], " \t")) - 1 }

// entryLine matches a line that starts with a key or an element of a list.
var entryLine = pattern.Lazy(`(?m)^[ \t]*(?:- |[\w:.'"-]+:(?:[ \t]|$))`)

// openingQuote returns the offset of the opening quote of the string that ends directly before at. It returns -1 if
// the string contains no lines that look like entries, or if no string ends there.
func (r *report) openingQuote(at int) int {
	src, last := r.doc.src, r.lastByte(at)
	if last < 0 || src[last] != '\'' && src[last] != '"' {
		return -1
	}
	open := bytes.LastIndexByte(src[:last], src[last])
	for open > 0 && src[open-1] == src[last] && src[last] == '\'' { // '' is a quote inside the text
		open = bytes.LastIndexByte(src[:open-1], src[last])
	}
	if open < 0 {
		return -1
	}
	_, below, several := bytes.Cut(src[open:last], []byte("\n"))
	if !several || !entryLine().Match(append(bytes.Clone(below), src[last:at]...)) {
		return -1
	}
	return open
}

// unclosedBracket reports a list or hash in brackets that has no end, or that continues on a line that looks like an
// entry.
func (r *report) unclosedBracket(c complaint, at int) bool {
	what, closing := "list", "]"
	switch c.problem {
	case "did not find expected ',' or '}'":
		what, closing = "hash", "}"
	case "did not find expected ',' or ']'":
	default:
		return false
	}
	line := r.lineStart(at)
	text := lineAt(r.doc.src, line)
	if c.start.Line == 0 || line <= r.doc.offset(c.start.Line, c.start.Col) || arrowAsColon().Match(text) ||
		at < len(r.doc.src) && !entryLine().Match(text) {
		return false
	}
	var notes []diag.Note
	if at < len(r.doc.src) {
		notes = []diag.Note{{Pos: c.pos, Message: "it cannot continue here"}}
	}
	r.fail(c.start, "yaml_syntax", "the "+what+" that starts here is not closed", "close it with '"+closing+"'", notes...)
	return true
}

// textAfterValue reports text after a complete value in quotes or brackets.
func (r *report) textAfterValue(c complaint, at int) bool {
	last := r.lastByte(at)
	if c.problem != noNextKey && c.problem != noNextDash || last < r.lineStart(at) || at >= len(r.doc.src) ||
		bytes.HasPrefix(r.doc.src[at:], []byte(arrow)) {
		return false
	}
	message, hint := "expected the end of the line after the value", "remove what follows it"
	switch r.doc.src[last] {
	case '\'':
		message, hint = message+" in quotes", "a ' within '…' is written twice"
	case '"':
		message, hint = message+" in quotes", `a " within "…" is written \"`
	case ']', '}':
	default:
		return false
	}
	r.fail(c.pos, "yaml_syntax", message, hint)
	return true
}

// shallowBlock reports a block scalar whose first line is not indented.
func (r *report) shallowBlock(c complaint, at int) bool {
	if c.problem != noColon || c.start.Line == 0 {
		return false
	}
	above := r.entryAbove(r.doc.offset(c.start.Line, c.start.Col))
	if above < 0 || !blockHeader().Match(lineAt(r.doc.src, above)) {
		return false
	}
	r.fail(c.start, "yaml_syntax", "expected the text of the block to be indented deeper than its key",
		"indent the lines below '|' or '>' by two more spaces")
	return true
}

// blockHeader matches a line that ends with the start of a block scalar.
var blockHeader = pattern.Lazy(`: +[|>][-+0-9]*[ \t\r]*$`)

func (r *report) lineStart(at int) int { return bytes.LastIndexByte(r.doc.src[:at], '\n') + 1 }

// entryAbove returns the offset of the last line above at that is neither empty nor a comment, or -1.
func (r *report) entryAbove(at int) int {
	for start := r.lineStart(at); start > 0; {
		start = r.lineStart(start - 1)
		if text := bytes.TrimLeft(lineAt(r.doc.src, start), " \t\r"); len(text) > 0 && text[0] != '#' {
			return start
		}
	}
	return -1
}

// keyStart matches a line that starts with a key and a colon. The groups are the start of the key and the text after
// the colon.
var keyStart = pattern.Lazy(`^ *(?:- +)*()(?:[^\s'"#{}\[\],&*!|>%@:-]|::|-\S)(?:[^:#\r\n]|::|:\S)*:(?:[ \t]+(.*))?\r?$`)

// wrongIndentation reports a key or list element that is not in the same column as those above it.
func (r *report) wrongIndentation(c complaint, at int) bool {
	switch c.problem {
	case noKeyHere, noNextKey, noNextDash, noNextPart:
	default:
		return false
	}
	above := r.entryAbove(at)
	if above < 0 {
		return false
	}
	line := r.lineStart(at)
	start := line + len(lineAt(r.doc.src, line)) - len(bytes.TrimLeft(lineAt(r.doc.src, line), " "))
	if c.problem != noKeyHere && at != start {
		return false
	}
	if bytes.HasPrefix(r.doc.src[start:], []byte("- ")) {
		if dash := r.nearestAbove(dashStart(), above, start-line); dash >= 0 && c.problem != noKeyHere {
			return r.expectColumn(start, dash, "start all elements of a list in the same column", "this element")
		}
		if c.problem != noNextKey {
			return false
		}
		r.fail(r.doc.posAt(start), "yaml_syntax", "expected a key of the hash above, found an element of a list",
			"remove the '- ', or put the list under a key of its own",
			diag.Note{Pos: c.start, Message: "the hash starts here"})
		return true
	}
	before := keyStart().FindSubmatchIndex(lineAt(r.doc.src, above))
	now := keyStart().FindSubmatchIndex(lineAt(r.doc.src, line))
	if before == nil || now == nil || now[2] != start-line ||
		c.problem == noKeyHere && !hasPlainValue(lineAt(r.doc.src, above), before) {
		return false
	}
	if r.doc.src[above+before[2]] == '-' {
		r.correct(r.doc.posAt(above+before[2]), "yaml_syntax", "expected a space after the '-' of this list item",
			"write '- key: value'", diag.Fix{Old: "-", New: "- ", Syntax: true})
		return true
	}
	key := r.nearestAbove(keyStart(), above, start-line)
	return r.expectColumn(start, key, "start all keys of a hash in the same column", "this key")
}

// expectColumn reports that the text at offset start should be in the same column as the text at offset like. It
// returns false if it already is.
func (r *report) expectColumn(start, like int, hint, what string) bool {
	want, found := r.doc.posAt(like).Col, r.doc.posAt(start).Col
	if want == found {
		return false
	}
	r.fail(r.doc.posAt(start), "yaml_syntax",
		"expected this line to start in column "+strconv.Itoa(want)+", not in column "+strconv.Itoa(found),
		hint, diag.Note{Pos: r.doc.posAt(like), Message: what + " starts there"})
	return true
}

// dashStart matches the start of a line that begins an element of a list.
var dashStart = pattern.Lazy(`^ *()- `)

// nearestAbove returns the offset of the entry whose column is nearest to indent, or -1. It searches the line at
// above and the entries that enclose this line. start, which is keyStart or dashStart, matches the entries.
func (r *report) nearestAbove(start *regexp.Regexp, above, indent int) int {
	best, column := -1, math.MaxInt
	for line := above; line >= 0 && column > 0; line = r.entryAbove(line) {
		found := start.FindSubmatchIndex(lineAt(r.doc.src, line))
		if found == nil || found[2] >= column {
			continue
		}
		column = found[2]
		if best >= 0 && distance(column, indent) >= distance(best-r.lineStart(best), indent) {
			break
		}
		best = line + column
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// hasPlainValue reports whether a line has a plain value, which may continue on the next line. groups is the line's
// match of keyStart.
func hasPlainValue(line []byte, groups []int) bool {
	if groups[4] < 0 {
		return false
	}
	value := bytes.TrimSpace(line[groups[4]:groups[5]])
	return len(value) > 0 && !plainStops().Match(value)
}

// plainStops matches values that are not plain: block scalars, anchors, aliases, tags and comments.
var plainStops = pattern.Lazy(`^[#|>&*!]`)
