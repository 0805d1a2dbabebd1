package yaml

import (
	"bytes"
	"math"
	"regexp"
	"strconv"

	"bindc/diag"
	"bindc/internal/pattern"
)

// libyaml's problems with lines that do not fit those above them.
const (
	noKeyHere   = "mapping values are not allowed in this context"
	noNextKey   = "did not find expected key"
	noNextDash  = "did not find expected '-' indicator"
	noNextPart  = "did not find expected <document start>"
	endOfStream = "found unexpected end of stream"
)

// refuseSuspect reports the mistake that probably caused the complaint. libyaml notices an unclosed quote, a colon
// without a blank and a wrong indentation only further down. It returns false if there is no suspect.
func (r *report) refuseSuspect(c complaint) bool {
	at := r.doc.offset(c.pos.Line, c.pos.Col)
	for _, suspect := range []func(complaint, int) bool{r.unclosedQuote, r.colonWithoutBlank, r.wrongIndentation} {
		if suspect(c, at) {
			return true
		}
	}
	return false
}

// unclosedQuote reports a quoted text that is closed by the opening quote of a text further down, or by nothing.
func (r *report) unclosedQuote(c complaint, at int) bool {
	open, hint := -1, "close the text with the quote that opens it; "
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
		notes = []diag.Note{{Pos: r.doc.posAt(r.lastByte(at)), Message: "it goes on to this quote"}}
	}
	r.fail(r.doc.posAt(open), "yaml_syntax", "the quoted text that starts here is not closed", hint, notes...)
	return true
}

// lastByte returns the offset of the last byte before at that is not a blank, or -1.
func (r *report) lastByte(at int) int { return len(bytes.TrimRight(r.doc.src[:at], " \t")) - 1 }

// entryLine matches a line that starts with a key or an element of a list.
var entryLine = pattern.Lazy(`(?m)^[ \t]*(?:- |[\w:.'"-]+:(?:[ \t]|$))`)

// openingQuote returns the offset at which a quoted text starts that ends right before at, if the text contains lines
// that look like entries; otherwise -1.
func (r *report) openingQuote(at int) int {
	src, last := r.doc.src, r.lastByte(at)
	if last < 0 || src[last] != '\'' && src[last] != '"' {
		return -1
	}
	open := bytes.LastIndexByte(src[:last], src[last])
	for open > 0 && src[open-1] == src[last] && src[last] == '\'' { // '' is a quote in the text
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

// colonWithoutBlank reports a line such as 'key:value', which is text to YAML, where a key has to be.
func (r *report) colonWithoutBlank(c complaint, at int) bool {
	var line int // offset of the line
	switch c.problem {
	case noColon:
		if c.start.Line == 0 {
			return false
		}
		line = r.lineStart(r.doc.offset(c.start.Line, c.start.Col))
		if arrowAsColon().Match(lineAt(r.doc.src, line)) {
			return false
		}
	case noKeyHere:
		if line = r.entryAbove(at); line < 0 {
			return false
		}
	default:
		return false
	}
	text := lineAt(r.doc.src, line)
	if found := keyWithoutBlank().FindSubmatchIndex(text); found != nil {
		r.fail(r.doc.posAt(line+found[2]), "yaml_syntax", "expected a blank after the ':' of this key",
			"write 'key: value', or quote a text with a ':'")
		return true
	}
	if c.problem != noColon || c.start.Line == c.pos.Line {
		return false
	}
	r.fail(c.start, "yaml_syntax", "expected ': ' after the key, on the same line", "write 'key: value'")
	return true
}

// keyWithoutBlank matches a line such as 'key:value' or 'ntp::server:value'. The group is the colon.
var keyWithoutBlank = pattern.Lazy(`^\s*(?:- +)*[A-Za-z_](?:[^\s'"#{\[:]|::)*(:)[^\s:].*$`)

// KeyWithoutBlank reports whether a text is a key and a value between which a blank is missing, such as 'key:value'.
func KeyWithoutBlank(text string) bool { return keyWithoutBlank().MatchString(text) }

// lineStart returns the offset of the line that has the byte at.
func (r *report) lineStart(at int) int { return bytes.LastIndexByte(r.doc.src[:at], '\n') + 1 }

// entryAbove returns the offset of the last line above that of at which has text that is not a comment, or -1.
func (r *report) entryAbove(at int) int {
	for start := r.lineStart(at); start > 0; {
		start = r.lineStart(start - 1)
		if text := bytes.TrimLeft(lineAt(r.doc.src, start), " \t\r"); len(text) > 0 && text[0] != '#' {
			return start
		}
	}
	return -1
}

// keyStart matches what precedes a key in its line, and the key. The groups are the start of the key and what follows
// its colon on the line.
var keyStart = pattern.Lazy(`^ *(?:- +)*()(?:[^\s'"#{}\[\],&*!|>%@:-]|::|-\S)(?:[^:#\r\n]|::|:\S)*:(?:[ \t]+(.*))?\r?$`)

// wrongIndentation reports a key that starts in another column than the key above it.
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
	before := keyStart().FindSubmatchIndex(lineAt(r.doc.src, above))
	if before == nil || c.problem != noKeyHere && at != start {
		return false
	}
	if bytes.HasPrefix(r.doc.src[start:], []byte("- ")) {
		if c.problem != noNextKey {
			return false
		}
		r.fail(r.doc.posAt(start), "yaml_syntax", "expected a key of the hash above, found an element of a list",
			"remove the '- ', or put the list under a key of its own",
			diag.Note{Pos: c.start, Message: "the hash starts here"})
		return true
	}
	now := keyStart().FindSubmatchIndex(lineAt(r.doc.src, line))
	if now == nil || now[2] != start-line || c.problem == noKeyHere && !hasPlainValue(lineAt(r.doc.src, above), before) {
		return false
	}
	key := r.nearestKey(above, start-line)
	want, found := r.doc.posAt(key).Col, r.doc.posAt(start).Col
	if want == found {
		return false
	}
	r.fail(r.doc.posAt(start), "yaml_syntax",
		"expected this line to start in column "+strconv.Itoa(want)+", found it in column "+strconv.Itoa(found),
		"start all keys of a hash in the same column", diag.Note{Pos: r.doc.posAt(key), Message: "this key starts there"})
	return true
}

// nearestKey returns the offset of a key in the line at above, or of a key that it is nested in: the one whose column
// is nearest to indent.
func (r *report) nearestKey(above, indent int) int {
	best, column := -1, math.MaxInt
	for line := above; line >= 0 && column > 0; line = r.entryAbove(line) {
		key := keyStart().FindSubmatchIndex(lineAt(r.doc.src, line))
		if key == nil || key[2] >= column {
			continue
		}
		column = key[2]
		if best >= 0 && distance(column, indent) >= distance(best-r.lineStart(best), indent) {
			break
		}
		best = line + column
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// hasPlainValue reports whether a line, which keyStart matches as in groups, has a value that may go on in the next
// line.
func hasPlainValue(line []byte, groups []int) bool {
	if groups[4] < 0 {
		return false
	}
	value := bytes.TrimSpace(line[groups[4]:groups[5]])
	return len(value) > 0 && !plainStops.Match(value)
}

// plainStops matches values that end in their line: block scalars, anchors and comments.
var plainStops = regexp.MustCompile(`^[#|>&*!]`)
