package migrate

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"bindc/diag"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

type source struct {
	path string
	text []byte
	json bool // whether the file is JSON, or YAML that begins with a brace
	doc  *yaml.Document
}

// pairAt returns the top-level key at the given position and its value. It returns nil if there is
// none.
func (s *source) pairAt(line, col uint32) (k, v *yaml.Node) {
	if s.doc.Root == nil {
		return nil, nil
	}
	for k, v := range s.doc.Root.Pairs() {
		if k.Line == line && k.Col == col {
			return k, v
		}
	}
	return nil, nil
}

// filtered returns the text of the file with only the keys for which keep returns true. If
// translate is not nil, it also changes the strings. Where possible, it keeps the formatting and
// the comments. It returns nil if no key remains.
func (s *source) filtered(keep func(key string) bool, translate func(string) []edit) ([]byte, error) {
	var want value.Builder
	for k, v := range s.doc.Root.Pairs() {
		if name, ok := k.Text(); ok && keep(name) {
			want.Set(k.Value, withEdits(v.Literal(), translate))
		}
	}
	if want.Len() == 0 {
		return nil, nil
	}
	if text, ok := s.editedText(keep, translate); ok && s.readsAs(text, want.Hash()) {
		return text, nil
	}
	if s.json && translate == nil {
		return append(value.AppendJSON(nil, want.Hash()), '\n'), nil
	}
	return yaml.Write(want.Hash())
}

func withEdits(v value.Value, translate func(string) []edit) value.Value {
	if translate == nil {
		return v
	}
	return mapTexts(v, func(text string) string { return apply(text, translate(text)) })
}

func mapTexts(v value.Value, change func(string) string) value.Value {
	switch v.Kind() {
	case value.String:
		return value.FromString(change(v.Text()))
	case value.Array:
		var out []value.Value
		for e := range v.Elems() {
			out = append(out, mapTexts(e, change))
		}
		return value.FromSlice(out)
	case value.Hash:
		var b value.Builder
		for k, e := range v.Pairs() {
			b.Set(mapTexts(k, change), mapTexts(e, change))
		}
		return b.Hash()
	}
	return v
}

// readsAs reports whether text is YAML for the value want.
func (s *source) readsAs(text []byte, want value.Value) bool {
	doc, ok := yaml.Parse(s.path, slices.Clone(text), yaml.Options{LastKeyWins: true}, &diag.List{})
	if !ok || doc.Root == nil {
		return false
	}
	return bytes.Equal(value.AppendJSON(nil, doc.Root.Literal()), value.AppendJSON(nil, want))
}

// editedText returns the text of a block-style file with the edits applied. It returns false if they cannot be applied.
func (s *source) editedText(keep func(string) bool, translate func(string) []edit) ([]byte, bool) {
	if s.json {
		return nil, false
	}
	lines := bytes.SplitAfter(s.text, []byte("\n"))
	w := writtenFile{doc: s.doc, lines: lines}
	kids := s.doc.Root.Kids
	for i := 0; i < len(kids); i += 2 {
		k, v := &kids[i], &kids[i+1]
		if k.Col != 1 || int(k.Line) > len(lines) {
			return nil, false
		}
		name, _ := k.Text()
		switch {
		case !keep(name):
			end := len(lines)
			if i+2 < len(kids) {
				end = w.firstLineOf(int(kids[i+2].Line))
			}
			w.remove(w.firstLineOf(int(k.Line)), end)
		case translate != nil:
			if !w.edit(v, translate) {
				return nil, false
			}
		}
	}
	return bytes.Join(w.lines, nil), true
}

type writtenFile struct {
	doc   *yaml.Document
	lines [][]byte
}

// firstLineOf returns the index of the first line that belongs to the key on the given line.
// Comments directly above the key belong to it.
func (w *writtenFile) firstLineOf(line int) int {
	at := line - 1
	for at > 0 && bytes.HasPrefix(w.lines[at-1], []byte("#")) {
		at--
	}
	return at
}

func (w *writtenFile) remove(from, to int) {
	for i := from; i < to; i++ {
		w.lines[i] = nil
	}
}

// edit applies the translations to all strings in n, the last string first, so that the positions
// of the others stay valid. It returns false if it cannot apply one.
func (w *writtenFile) edit(n *yaml.Node, translate func(string) []edit) bool {
	for i := len(n.Kids) - 1; i >= 0; i-- {
		if !w.edit(&n.Kids[i], translate) {
			return false
		}
	}
	text, ok := n.Text()
	if !ok {
		return true
	}
	edits := translate(text)
	for i := len(edits) - 1; i >= 0; i-- {
		if !w.replace(n, edits[i]) {
			return false
		}
	}
	return true
}

func (w *writtenFile) replace(n *yaml.Node, e edit) bool {
	if e.old == e.new {
		return true
	}
	start, at := w.doc.Pos(n), w.doc.PosIn(n, e.off)
	first, ok := w.restOfLine(start)
	if !ok || len(first) == 0 {
		return false
	}
	old, changed := e.old, e.new
	switch first[0] {
	case '\'':
		old, changed = strings.ReplaceAll(old, "'", "''"), strings.ReplaceAll(changed, "'", "''")
	case '"':
		quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
		old, changed = quote.Replace(old), quote.Replace(changed)
	}
	rest, ok := w.restOfLine(at)
	if !ok || !bytes.HasPrefix(rest, []byte(old)) {
		return false
	}
	line := w.lines[at.Line-1]
	before := line[:len(line)-len(rest)]
	w.lines[at.Line-1] = slices.Concat(before, []byte(changed), rest[len(old):])
	return true
}

// restOfLine returns the text of a line from a position to the end of the line. It returns false if
// the position does not exist.
func (w *writtenFile) restOfLine(at diag.Pos) ([]byte, bool) {
	if at.Line < 1 || at.Line > len(w.lines) {
		return nil, false
	}
	rest := w.lines[at.Line-1]
	for range at.Col - 1 {
		_, n := utf8.DecodeRune(rest)
		if n == 0 {
			return nil, false
		}
		rest = rest[n:]
	}
	return rest, true
}
