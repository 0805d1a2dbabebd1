package yaml

import (
	"bytes"
	"strings"
	"unicode/utf8"

	goyaml "go.yaml.in/yaml/v4"

	"bindc/diag"
	"bindc/internal/pattern"
)

// colonWithoutBlank reports a line such as 'key:value', 'key => value' or 'key value', which YAML reads as text,
// where a key is expected.
func (r *report) colonWithoutBlank(c complaint, at int) bool {
	var line int // offset of the line
	switch c.problem {
	case noColon:
		if c.start.Line == 0 {
			return false
		}
		line = r.lineStart(r.doc.offset(c.start.Line, c.start.Col))
		if arrowAsColon().Match(lineAt(r.doc.src, line)) {
			r.correct(c.start, "yaml_syntax", noColonHere, arrowHint, arrowFix)
			return true
		}
	case noKeyHere:
		if line = r.entryAbove(at); line < 0 {
			return false
		}
	default:
		return false
	}
	text := string(lineAt(r.doc.src, line))
	d, ok := missingBlank(r.doc.posAt(line), text)
	if !ok && (c.problem == noKeyHere || c.start.Line < c.pos.Line) {
		d, ok = missingColon(r.doc.posAt(line), text)
	}
	if ok {
		r.failed = true
		r.diags.Add(d)
	}
	return ok
}

// keyWithoutColon reports a line that contains only a key, without a colon.
func (r *report) keyWithoutColon(c complaint, at int) bool {
	switch {
	case c.problem == noKeyHere:
		indent := indentOf(lineAt(r.doc.src, r.lineStart(at)))
		above := r.entryAbove(at)
		for above >= 0 && indentOf(lineAt(r.doc.src, above)) > indent {
			above = r.entryAbove(above)
		}
		return above >= 0 && r.keyAboveBlock(above)
	case c.problem == noColon && c.start.Line > 0 && c.start.Line < c.pos.Line:
		if !r.keyAboveBlock(r.lineStart(r.doc.offset(c.start.Line, c.start.Col))) {
			r.fail(c.start, "yaml_syntax", noColonHere, "write 'key: value'")
		}
		return true
	}
	return false
}

// keyAboveBlock reports the line at offset line if it contains only a key without a colon, and the next line is
// indented deeper.
func (r *report) keyAboveBlock(line int) bool {
	text := lineAt(r.doc.src, line)
	found := keyAlone().FindSubmatchIndex(text)
	if found == nil || indentOf(lineAt(r.doc.src, r.doc.nextLine(line))) <= found[2] {
		return false
	}
	if above := r.entryAbove(line); above >= 0 {
		key := r.nearestAbove(keyStart(), above, found[2])
		if key < 0 || key-r.lineStart(key) != found[2] {
			return false // the line continues the value above it
		}
	}
	key := string(text[found[2]:found[3]])
	r.correct(r.doc.posAt(line+found[2]), "yaml_syntax", noColonHere, "write '"+key+":'",
		diag.Fix{Old: key, New: key + ":", Syntax: true})
	return true
}

func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

// keyAlone matches a line that contains only a possible key. The group is the key.
var keyAlone = pattern.Lazy(`^ *((?:[A-Za-z_](?:[\w.-]|::)*))[ \t]*\r?$`)

// keyWithoutBlank matches a line such as 'key:value' or 'ntp::server:value'. The group is the colon.
var keyWithoutBlank = pattern.Lazy(`^\s*(?:- +)*[A-Za-z_](?:[^\s'"#{\[:]|::)*(:)[^\s:].*$`)

// missingBlank returns an error for a line such as 'key:value', which begins at pos.
func missingBlank(pos diag.Pos, line string) (diag.Diagnostic, bool) {
	found := keyWithoutBlank().FindStringSubmatchIndex(line)
	if found == nil {
		return diag.Diagnostic{}, false
	}
	pos.Col += utf8.RuneCountInString(line[:found[2]])
	return diag.Diagnostic{Pos: pos, Code: "yaml_syntax", Message: "expected a space after the ':' of this key",
		Hint: "write 'key: value', or quote a string that contains a ':'",
		Fix:  diag.Fix{Old: ":", New: ": ", Syntax: true}}, true
}

// noColonHere is the message for a line without a colon after its key.
const noColonHere = "expected ': ' after the key, on the same line"

// keyAndValue matches a line with a possible key and a value, without a colon between them. The groups are the key, the
// text in place of ': ', and the value.
var keyAndValue = pattern.Lazy(
	`^\s*(?:- +)*([A-Za-z_](?:[\w.-]|::)*|"[^"\\]*"|'[^']*')(\s*=>?\s*| +)([^\s:=>][^\r\n]*)`)

// missingColon returns an error for a line such as 'key value', which begins at pos.
func missingColon(pos diag.Pos, line string) (diag.Diagnostic, bool) {
	found := keyAndValue().FindStringSubmatchIndex(line)
	if found == nil {
		return diag.Diagnostic{}, false
	}
	pos.Col += utf8.RuneCountInString(line[:found[2]])
	key := line[found[2]:found[3]]
	return diag.Diagnostic{Pos: pos, Code: "yaml_syntax", Message: noColonHere, Hint: "write 'key: value'",
		Fix: diag.Fix{Old: line[found[2]:found[5]], New: key + ": ", Syntax: true}}, true
}

// AsEntry returns a hint, and if possible a fix, if n is a string such as 'key:value' or 'key = value', which was
// probably meant as a key and a value.
func (d *Document) AsEntry(n *Node) (hint string, fix diag.Fix) {
	text, _ := n.Text()
	key, _, assigned := strings.Cut(text, "=")
	assigned = assigned && !strings.ContainsAny(strings.TrimSpace(key), " \t\n")
	found, ok := missingColon(d.Pos(n), text)
	switch {
	case keyWithoutBlank().MatchString(text):
		found, _ = missingBlank(d.Pos(n), text)
		hint = "put a space after the ':' of the key: 'key: value'"
	case assigned, ok && strings.Contains(found.Fix.New, "::"):
		hint = "write 'key: value'"
	default:
		return "", diag.Fix{}
	}
	if string(bytes.TrimSpace(lineAt(d.src, d.offset(int(n.Line), int(n.Col))))) == text { // the text is not in quotes
		fix = found.Fix
	}
	return hint, fix
}

// warnOfLostColon warns about lines below a value that have a key and a value, but no colon, as in
//
//	a: b
//	  port 80
//
// YAML reads them as part of the value. It only warns if the value is one word, because prose rarely has a line of one
// word above a line of two.
func (c *converter) warnOfLostColon(key, val *goyaml.Node) {
	if !isPlain(val) || val.Line != key.Line {
		return
	}
	first, rest, several := strings.Cut(val.Value, " ")
	keyAt, at := c.position(key), c.position(val)
	if !several || first != c.trimmedLine(c.doc.offset(at.Line, at.Col)) {
		return
	}
	var found []diag.Diagnostic
	for line := at.Line + 1; rest != ""; line++ {
		text := c.trimmedLine(c.doc.offset(line, 1))
		next, more := strings.CutPrefix(rest, text+" ")
		if !more {
			text, next = rest, ""
		}
		words := twoWords().FindStringSubmatch(text)
		if words == nil || words[2] == ":" && !strings.Contains(words[1], "::") {
			return
		}
		rest = next
		found = append(found, c.lostColon(diag.Pos{File: at.File, Line: line, Col: keyAt.Col}, words[1], words[2]))
	}
	for _, d := range found {
		c.diags.Add(d)
	}
}

func isPlain(n *goyaml.Node) bool { return n.Kind == goyaml.ScalarNode && n.Style&quoted == 0 }

// warnOfKeyAlone warns about an entry in braces that has a key and a value, but no colon, like port in {a: b, port
// 80}. YAML reads it as a key without a value. Only data needs this warning: in other files, an unknown key is an
// error.
func (c *converter) warnOfKeyAlone(key, val *goyaml.Node) {
	if !c.opts.LastKeyWins || !isPlain(key) || !isPlain(val) || val.Value != "" {
		return
	}
	words := twoWords().FindStringSubmatch(key.Value)
	pos := c.position(key)
	rest, same := strings.CutPrefix(c.trimmedLine(c.doc.offset(pos.Line, pos.Col)), key.Value)
	if rest = strings.TrimLeft(rest, " "); words == nil || words[2] == ":" || !same || rest != "" && rest[0] == ':' {
		return
	}
	c.diags.Add(diag.Diagnostic{Pos: pos, Severity: diag.Warning, Code: "yaml_colon",
		Message: "this is a key without a value, because '" + words[1] + "' has no ': '",
		Hint:    "write '" + words[1] + ": ', or put the whole key in quotes",
		Fix:     diag.Fix{Old: words[1] + words[2], New: words[1] + ": ", Syntax: true}})
}

// lostColon returns the warning that the line at pos continues the value above it. The column of pos is that of the
// value's key.
func (r *report) lostColon(pos diag.Pos, name, separator string) diag.Diagnostic {
	from := r.doc.offset(pos.Line, pos.Col)
	indent := strings.Repeat(" ", indentOf(r.doc.src[from:]))
	return diag.Diagnostic{Pos: pos, Severity: diag.Warning, Code: "yaml_colon",
		Message: "this line continues the value above it, because '" + name + "' has no ': '",
		Hint:    "write '" + name + ": ' without the indentation, or put the whole value in quotes",
		Fix:     diag.Fix{Old: indent + name + separator, New: name + ": ", Syntax: true}}
}

// trimmedLine returns the text from offset to the end of its line, without blanks at its ends.
func (r *report) trimmedLine(offset int) string {
	return string(bytes.TrimSpace(lineAt(r.doc.src, offset)))
}

// twoWords matches a text that consists of a key and one word, list or quoted text. The groups are the key and the
// text in place of ': '.
var twoWords = pattern.Lazy(`^([A-Za-z_][\w-]*(?:::+\w+)*)( +(?:=>? +)?|:)(?:[^\s:=]\S*|\[[^\]]*\]|"[^"]*"|'[^']*')$`)
