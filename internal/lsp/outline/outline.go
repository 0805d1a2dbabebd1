// Package outline reads YAML files that may be broken, as they are while a user types. If a file does not parse, it
// parses each entry separately, so that an error hides only one entry.
package outline

import (
	"bytes"
	"slices"

	"bindc/diag"
	"bindc/internal/pattern"
	"bindc/internal/yaml"
)

// Entry is an entry of the top-level hash, or a binding in the list 'bind' of a bindings file.
type Entry struct {
	From, To int        // range of the entry's lines
	Key      string     // "" for a binding in a list
	Pos      diag.Pos   // position of the key, or of the dash
	Value    *yaml.Node // nil if the entry does not parse
	InBind   bool       // the entry is a binding in the list 'bind'
}

// File is a file, read entry by entry.
type File struct {
	Entries []Entry

	// If the file does not parse, Broken holds its errors, and Recovered is the file with blanks in place of broken
	// entries. Recovered is nil if it does not parse either.
	Broken    []diag.Diagnostic
	Recovered []byte
}

// Whole reports whether the file parses.
func (f *File) Whole() bool { return len(f.Broken) == 0 }

// Read reads a YAML file.
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
	// An alias may need the anchor of another entry, so an entry may fail only when it is parsed separately. Then the
	// file's own error is shown.
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

// addTree adds the entries of a file that parses.
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

// bindings returns the bindings in e if it is the list 'bind'.
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
		b.To = max(b.From, b.To) // an alias node has the line of its anchor
		out = append(out, b)
	}
	return out
}

// offsetsOf returns a function that maps lines to their offsets.
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

// reader reads a broken file.
type reader struct {
	path      string
	src       []byte
	opts      yaml.Options
	recovered []byte
	out       []Entry
	broken    []diag.Diagnostic
}

// entries reads the entries between two offsets: those of the top-level hash or, with inBind, those of the list 'bind'.
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

// cut returns the offsets at which entries begin. In the list 'bind', entries begin at the dashes with the indentation
// of the first dash.
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

// beginsEntry reports whether an entry of the top-level hash begins in a line. Such a line is not indented. It is not a
// comment, a document marker, a list element, or the end of a list or hash.
func beginsEntry(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	if len(line) == 0 || bytes.ContainsAny(line[:1], " \t\r\n#]}-%.,") {
		return len(line) > 1 && line[0] == '-' && !bytes.ContainsAny(line[1:2], "- \t\r\n")
	}
	return true
}

// keyOfLine matches the key at the start of an entry.
var keyOfLine = pattern.Lazy(`^(?:\x{feff})?(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([^\s#'"{\[][^\n]*?))\s*:(?:\s|$)`)

// entry parses an entry separately.
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

// isBind reports whether an entry is the list 'bind' of a bindings file.
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

// blank records an entry that does not parse, and blanks it in the recovered file.
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

// withoutColon returns the error of an entry that is only text. YAML misses its colon only next to other entries.
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

// moved returns a copy of n, moved down by lines.
func moved(n *yaml.Node, lines int) *yaml.Node {
	out := *n
	out.Line += uint32(lines)
	out.Kids = make([]yaml.Node, len(n.Kids))
	for i := range n.Kids {
		out.Kids[i] = *moved(&n.Kids[i], lines)
	}
	return &out
}
