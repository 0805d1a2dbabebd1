// Package outline reads YAML files that can have syntax errors because the user is typing. It parses the entries of a
// broken file one by one, so that an error hides only one entry.
package outline

import (
	"bytes"
	"slices"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/yaml"
)

// Entry is an entry of the top-level hash, or an element of the list 'bind' in a bindings file.
type Entry struct {
	From, To int        // byte offsets of the entry's lines
	Key      string     // "" for an element of a list
	Pos      diag.Pos   // position of the key, or of the list element's dash
	Value    *yaml.Node // nil if the entry has a syntax error
	InBind   bool       // the entry is an element of the list 'bind'
}

type File struct {
	Entries []Entry

	// If the file has syntax errors, Broken lists them, and Recovered is the file with spaces in place of the broken
	// entries. Recovered is nil if even that cannot be parsed.
	Broken    []diag.Diagnostic
	Recovered []byte
}

// Whole reports whether the file has no syntax errors.
func (f *File) Whole() bool { return len(f.Broken) == 0 }

// Read parses the YAML file at path, whose contents are src.
func Read(path string, src []byte, opts yaml.Options) *File {
	var diags diag.List
	f := &File{}
	doc, ok := yaml.Parse(path, src, opts, &diags)
	if ok {
		f.addTree(doc, src)
		return f
	}
	r := reader{path: path, src: src, opts: opts, recovered: bytes.Clone(src)}
	r.entries(0, len(src), false)
	f.Entries = r.out
	own := diag.List{}
	if _, ok := yaml.Parse(path, r.recovered, opts, &own); ok {
		f.Recovered = r.recovered
	}
	// Parsed alone, an entry fails if it uses an alias to an anchor in another entry. So if there are anchors, show the
	// errors of the whole file.
	if f.Broken = r.broken; len(r.broken) == 0 || f.Recovered == nil || bytes.Contains(src, []byte("&")) {
		f.Broken = errorsOf(&diags)
	}
	return f
}

func errorsOf(diags *diag.List) (out []diag.Diagnostic) {
	for _, d := range diags.Sorted() {
		if d.Severity == diag.Error {
			out = append(out, d)
		}
	}
	return out
}

// addTree adds the entries of a file without syntax errors.
func (f *File) addTree(doc *yaml.Document, src []byte) {
	if doc.Root == nil || doc.Root.Kind != yaml.Mapping {
		return
	}
	at := offsetsOf(src)
	kids := doc.Root.Kids
	for i := 0; i+1 < len(kids); i += 2 {
		e := Entry{From: at(kids[i].Line), To: len(src), Pos: doc.Pos(&kids[i]), Value: &kids[i+1]}
		if i+2 < len(kids) && kids[i+2].Line >= kids[i].Line {
			e.To = at(kids[i+2].Line)
		}
		e.Key, _ = kids[i].Text()
		f.Entries = append(append(f.Entries, e), e.bindings(at)...)
	}
}

// bindings returns the elements of e if e is the list 'bind'.
func (e *Entry) bindings(at func(line uint32) int) (out []Entry) {
	if e.Key != "bind" || e.Value.Kind != yaml.Sequence {
		return nil
	}
	list := e.Value.Kids
	for i := range list {
		b := Entry{From: at(list[i].Line), To: e.To, Value: &list[i], InBind: true,
			Pos: diag.Pos{File: e.Pos.File, Line: int(list[i].Line), Col: int(list[i].Col)}}
		if i+1 < len(list) {
			b.To = at(list[i+1].Line)
		}
		b.To = max(b.From, b.To) // an alias has the line of its anchor, which may be above
		out = append(out, b)
	}
	return out
}

// offsetsOf returns a function that maps a line number to the offset of that line.
func offsetsOf(src []byte) func(line uint32) int {
	starts := lineStarts(src)
	return func(line uint32) int {
		if int64(line) > int64(len(starts)) {
			return len(src)
		}
		return starts[line-1]
	}
}

func lineStarts(src []byte) []int {
	starts := []int{0}
	for i, c := range src {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// reader reads the entries of a file with syntax errors.
type reader struct {
	path      string
	src       []byte
	opts      yaml.Options
	recovered []byte
	out       []Entry
	broken    []diag.Diagnostic
}

// entries reads the entries between two offsets. They belong to the list 'bind' if inBind is set, and otherwise to the
// top-level hash.
func (r *reader) entries(from, to int, inBind bool) {
	starts := r.cut(from, to, inBind)
	for i, start := range starts {
		end := to
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		r.entry(start, end, inBind)
	}
}

// cut returns the offsets at which entries begin. In the list 'bind', these are the dashes with the same indentation as
// the first dash.
func (r *reader) cut(from, to int, inBind bool) (starts []int) {
	indent := -1
	for at := from; at < to; {
		line := r.src[at:to]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		text := bytes.TrimLeft(line, " ")
		switch {
		case !inBind && beginsEntry(line):
			starts = append(starts, at)
		case inBind && bytes.HasPrefix(text, []byte("-")) && (indent < 0 || len(line)-len(text) == indent):
			indent = len(line) - len(text)
			starts = append(starts, at)
		}
		at += len(line)
	}
	return starts
}

// beginsEntry reports whether an entry of the top-level hash begins on the line. Indented lines, comments, document
// markers, list elements and closing brackets do not begin an entry.
func beginsEntry(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	if len(line) == 0 || bytes.ContainsAny(line[:1], " \t\r\n#]}-%.,") {
		return len(line) > 1 && line[0] == '-' && !bytes.ContainsAny(line[1:2], "- \t\r\n")
	}
	return true
}

// keyOfLine matches the key at the beginning of an entry. Its groups are the key in double quotes, in single quotes, or
// without quotes.
var keyOfLine = pattern.Lazy(`^(?:\x{feff})?(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([^\s#'"{\[][^\n]*?))\s*:(?:\s|$)`)

// entry parses the entry between two offsets on its own.
func (r *reader) entry(from, to int, inBind bool) {
	line := 1 + bytes.Count(r.src[:from], []byte("\n"))
	e := Entry{From: from, To: to, InBind: inBind, Pos: diag.Pos{File: r.path, Line: line, Col: 1}}
	var diags diag.List
	doc, ok := yaml.Parse(r.path, r.src[from:to], r.opts, &diags)
	switch {
	case ok && inBind && doc.Root != nil && doc.Root.Kind == yaml.Sequence && len(doc.Root.Kids) == 1:
		e.Value = moved(&doc.Root.Kids[0], line-1)
	case ok && !inBind && doc.Root != nil && doc.Root.Kind == yaml.Mapping && len(doc.Root.Kids) == 2:
		e.Key, _ = doc.Root.Kids[0].Text()
		e.Value = moved(&doc.Root.Kids[1], line-1)
		r.out = append(append(r.out, e), e.bindings(offsetsOf(r.src))...)
		return
	case !inBind && r.isBind(from, to):
		r.out = append(r.out, Entry{From: from, To: to, Key: "bind", Pos: e.Pos})
		r.entries(r.nextLine(from), to, true)
		return
	default:
		r.blank(&e, ok, &diags)
	}
	r.out = append(r.out, e)
}

// isBind reports whether the entry between two offsets is the list 'bind'.
func (r *reader) isBind(from, to int) bool {
	text := r.src[from:r.nextLine(from)]
	return bytes.Equal(bytes.TrimSpace(text), []byte("bind:")) && r.nextLine(from) < to
}

func (r *reader) nextLine(at int) int {
	if i := bytes.IndexByte(r.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(r.src)
}

// blank records a broken entry and overwrites it with spaces in r.recovered.
func (r *reader) blank(e *Entry, parsed bool, diags *diag.List) {
	if m := keyOfLine().FindSubmatch(r.src[e.From:e.To]); m != nil && !e.InBind {
		e.Key = string(m[1]) + string(m[2]) + string(m[3])
	}
	for i := e.From; i < e.To; i++ {
		if c := r.src[i]; c != '\n' && c != '\r' {
			r.recovered[i] = ' '
		}
	}
	errs := errorsOf(diags)
	if parsed && !e.InBind {
		errs = r.withoutColon(e.From, e.To)
	}
	if len(errs) == 0 {
		hint := "write 'key: value'"
		if e.InBind {
			hint = "write '- [KEY, VALUE]' or '- {name: KEY, to: VALUE}'"
		}
		errs = []diag.Diagnostic{{Pos: diag.Pos{File: r.path, Line: 1, Col: 1}, Code: "yaml_syntax",
			Message: "incomplete entry", Hint: hint}}
	}
	for _, d := range errs {
		d.Pos.Line += e.Pos.Line - 1
		for i := range d.Notes {
			d.Notes[i].Pos.Line += e.Pos.Line - 1
		}
		r.broken = append(r.broken, d)
	}
}

// withoutColon returns the errors for an entry that lacks a colon. On its own, such an entry is valid YAML, so it is
// parsed with entries before and after it.
func (r *reader) withoutColon(from, to int) (errs []diag.Diagnostic) {
	text := slices.Concat([]byte("before:\n"), bytes.TrimRight(r.src[from:to], "\r\n"), []byte("\nafter:\n"))
	last := bytes.Count(text, []byte("\n")) - 2
	var diags diag.List
	yaml.Parse(r.path, text, r.opts, &diags)
	for _, d := range errorsOf(&diags) {
		if d.Pos.Line--; d.Pos.Line >= 1 && d.Pos.Line <= last {
			errs = append(errs, diag.Diagnostic{Pos: d.Pos, Code: d.Code, Message: d.Message, Hint: d.Hint, Fix: d.Fix})
		}
	}
	return errs
}

// moved returns a copy of n that is moved down by the given number of lines.
func moved(n *yaml.Node, lines int) *yaml.Node {
	out := *n
	out.Line += uint32(lines)
	out.Kids = make([]yaml.Node, len(n.Kids))
	for i := range n.Kids {
		out.Kids[i] = *moved(&n.Kids[i], lines)
	}
	return &out
}
