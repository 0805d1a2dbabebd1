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

// source is a data file as it is written.
type source struct {
	path string
	text []byte
	json bool // it is written as JSON, which YAML is too
	doc  *yaml.Document
}

// at is the key that stands at a place, with its value; nil if none does.
func (s *source) at(line, col uint32) (k, v *yaml.Node) {
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

// kept is the file without the keys that are not to be kept, and with its texts translated where that is asked for.
// What is kept stays as it is written, with its comments, where that can be done; nil if nothing is.
func (s *source) kept(keep func(key string) bool, translate func(string) []edit) ([]byte, error) {
	var want value.Builder
	for k, v := range s.doc.Root.Pairs() {
		if name, ok := k.Text(); ok && keep(name) {
			want.Set(k.Value, edited(v.Literal(), translate))
		}
	}
	if want.Len() == 0 {
		return nil, nil
	}
	if text, ok := s.asWritten(keep, translate); ok && s.means(text, want.Hash()) {
		return text, nil
	}
	if s.json && translate == nil {
		return append(value.AppendJSON(nil, want.Hash()), '\n'), nil
	}
	return yaml.Write(want.Hash())
}

func edited(v value.Value, translate func(string) []edit) value.Value {
	if translate == nil {
		return v
	}
	return mapped(v, func(text string) string { return apply(text, translate(text)) })
}

// mapped is v with its texts changed.
func mapped(v value.Value, change func(string) string) value.Value {
	switch v.Kind() {
	case value.String:
		return value.FromString(change(v.Text()))
	case value.Array:
		var out []value.Value
		for e := range v.Elems() {
			out = append(out, mapped(e, change))
		}
		return value.FromSlice(out)
	case value.Hash:
		var b value.Builder
		for k, e := range v.Pairs() {
			b.Set(mapped(k, change), mapped(e, change))
		}
		return b.Hash()
	}
	return v
}

// means tells whether text is read as want.
func (s *source) means(text []byte, want value.Value) bool {
	doc, ok := yaml.Parse(s.path, slices.Clone(text), yaml.Options{LastKeyWins: true}, &diag.List{})
	if !ok || doc.Root == nil {
		return false
	}
	return bytes.Equal(value.AppendJSON(nil, doc.Root.Literal()), value.AppendJSON(nil, want))
}

// asWritten is the text of a file in block style with the edits made in it.
func (s *source) asWritten(keep func(string) bool, translate func(string) []edit) ([]byte, bool) {
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
				end = w.aboveOf(int(kids[i+2].Line))
			}
			w.remove(w.aboveOf(int(k.Line)), end)
		case translate != nil:
			if !w.edit(v, translate) {
				return nil, false
			}
		}
	}
	return bytes.Join(w.lines, nil), true
}

// writtenFile is a file that is edited line by line.
type writtenFile struct {
	doc   *yaml.Document
	lines [][]byte
}

// aboveOf is the first of the lines right above a line, from 1, that are comments: they belong to it.
func (w *writtenFile) aboveOf(line int) int {
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

// edit changes the texts below n. They are changed from the last to the first, so that places stay what they are.
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
	first, ok := w.rest(start)
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
	rest, ok := w.rest(at)
	if !ok || !bytes.HasPrefix(rest, []byte(old)) {
		return false
	}
	line := w.lines[at.Line-1]
	before := line[:len(line)-len(rest)]
	w.lines[at.Line-1] = slices.Concat(before, []byte(changed), rest[len(old):])
	return true
}

// rest is what stands in a line from a place on.
func (w *writtenFile) rest(at diag.Pos) ([]byte, bool) {
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
