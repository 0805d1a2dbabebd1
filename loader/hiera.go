package loader

import (
	"path/filepath"
	"slices"
	"strings"

	"bindc/internal/datafile"
	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// hieraDir is a Hiera-2 directory: its hiera.yaml, compiled to the files it can ever serve (language.md, section 4).
type hieraDir struct {
	tree     *tree
	label    string // of the directory, with a slash: what the labels of its files begin with
	doc      *yaml.Document
	other    string // what it is instead, if it is of another version
	backends []string
	data     []dataFile // in the order of the hierarchy
}

// dataFile is one path of a hierarchy with the values of its variables filled in.
type dataFile struct {
	condition int
	files     []*file // one per backend that has it, in their order
}

// hierarchyEntry is one [category, value, path].
type hierarchyEntry struct {
	category    int // dimension, -1 for common
	value, path template
	at          diag.Pos
}

// hieraSource finds a Hiera-2 directory.
func (l *load) hieraSource(u uri) (source, bool) {
	dir := filepath.Join(l.dir, filepath.FromSlash(u.path))
	if u.scheme == "module-hiera" {
		name, rest, _ := strings.Cut(u.path, "/")
		m, ok := l.moduleOf(u, name)
		if !ok {
			return source{}, false
		}
		dir = filepath.Join(m.dir, filepath.FromSlash(rest))
	}
	path := filepath.Join(dir, "hiera.yaml")
	there, ok := l.isFile(path)
	if !ok {
		return source{}, false
	}
	if !there {
		return l.missing(u, "there is no Hiera-2 directory %s: expected the file %s", u, path)
	}
	h, seen := l.hieraDirs[dir]
	if !seen {
		h = l.readHiera(dir, path)
		l.hieraDirs[dir] = h
	}
	if h != nil && h.other != "" {
		l.otherVersion(u, h)
		return source{}, false
	}
	return source{uri: u.String(), hiera: h}, h != nil
}

var hieraKeys = []string{"version", "hierarchy", "backends"}

func (l *load) readHiera(dir, path string) *hieraDir {
	real, err := l.disk.Resolve(dir)
	if err != nil {
		l.cannotRead(dir, err)
		return nil
	}
	doc := l.readNow(path)
	if doc == nil {
		return nil
	}
	if doc.Root == nil || doc.Root.Kind != yaml.Mapping {
		l.diags.Errorf(diag.Pos{File: path, Line: 1, Col: 1}, "hiera", "expected a hash with at least 'version: 2'")
		return nil
	}
	if other := otherHiera(doc); other != "" {
		return &hieraDir{doc: doc, other: other}
	}
	if !l.isVersion(doc, doc.Root, "version", 2) {
		return nil
	}
	l.onlyKeys(doc, doc.Root, "hiera", "key of a Hiera-2 configuration", hieraKeys)
	h := &hieraDir{label: strings.TrimSuffix(l.label(path), "hiera.yaml"), doc: doc, backends: l.readBackends(doc)}
	failed := func(err error) { l.cannotRead(dir, err) }
	h.tree = &tree{disk: l.disk, dir: dir, real: real, roots: l.roots, failed: failed}
	for _, e := range l.readHierarchy(doc) {
		h.data = append(h.data, l.entryFiles(h, e)...)
	}
	return h
}

// otherHiera says what the configuration of another Hiera is, "" for one of Hiera-2.
func otherHiera(doc *yaml.Document) string {
	_, v, ok := doc.Root.Lookup("version")
	switch {
	case !ok:
		return "has no version, as a Hiera 1 configuration"
	case v.Value.Kind() == value.Int && v.Value.Int() != 2:
		return "is a configuration of another version of Hiera"
	}
	return ""
}

// otherVersion passes the configuration of another Hiera over where one may be in use beside this: at the top of the
// site, or in a module that a wildcard found. Elsewhere it is an error.
func (l *load) otherVersion(u uri, h *hieraDir) {
	if u.scheme == "confdir-hiera" && u.path == "" || u.found {
		l.diags.Add(diag.Diagnostic{Pos: h.doc.Pos(h.doc.Root), Severity: diag.Info, Code: "hiera_version", Message: "passed over: this file " + h.other})
		return
	}
	l.isVersion(h.doc, h.doc.Root, "version", 2)
}

func (l *load) readBackends(doc *yaml.Document) []string {
	_, n, ok := doc.Root.Lookup("backends")
	if !ok {
		return []string{"yaml", "json"}
	}
	if n.Kind != yaml.Sequence {
		l.diags.Errorf(doc.Pos(n), "backend", "expected a list of names as 'backends', found %s", n.Describe())
		return nil
	}
	var out []string
	for i := range n.Kids {
		name, _ := n.Kids[i].Text()
		if !builtinBackend(name) && l.ext.backends[name] == nil {
			known := extensionNames([]string{"yaml", "json"}, l.ext.backends)
			d := diag.Diagnostic{Pos: doc.Pos(&n.Kids[i]), Code: "backend", Message: "unknown backend: " + n.Kids[i].Describe() + "; expected " + diag.Quoted(known)}
			d.Hint = diag.DidYouMean(name, known)
			l.diags.Add(d)
			continue
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func builtinBackend(name string) bool { return name == "yaml" || name == "json" }

// readHierarchy reads the entries, each category at most once and in the order the site has them.
func (l *load) readHierarchy(doc *yaml.Document) []hierarchyEntry {
	_, n, ok := doc.Root.Lookup("hierarchy")
	if !ok {
		return l.defaultHierarchy(doc)
	}
	if n.Kind != yaml.Sequence {
		l.diags.Errorf(doc.Pos(n), "hierarchy", "expected a list of [category, value, path] as 'hierarchy', found %s", n.Describe())
		return nil
	}
	var out []hierarchyEntry
	for i := range n.Kids {
		e, ok := l.readEntry(doc, &n.Kids[i])
		if ok && l.inOrder(out, e) {
			out = append(out, e)
		}
	}
	return out
}

func (l *load) defaultHierarchy(doc *yaml.Document) []hierarchyEntry {
	osfamily := &expr.Node{Op: expr.Var, Name: "osfamily"}
	text := func(s string) *expr.Node { return &expr.Node{Op: expr.Const, Value: value.FromString(s)} }
	out := []hierarchyEntry{{-1, templateOf(text("true")), templateOf(text("data/common")), doc.Pos(doc.Root)}}
	if c, ok := l.category("osfamily"); ok {
		value := &expr.Node{Op: expr.Concat, Kids: []*expr.Node{osfamily}}
		path := &expr.Node{Op: expr.Concat, Kids: []*expr.Node{text("data/osfamily/"), osfamily}}
		out = slices.Insert(out, 0, hierarchyEntry{c, templateOf(value), templateOf(path), doc.Pos(doc.Root)})
	}
	return out
}

func (l *load) readEntry(doc *yaml.Document, n *yaml.Node) (hierarchyEntry, bool) {
	texts, ok := threeTexts(n, 3)
	if !ok {
		l.diags.Errorf(doc.Pos(n), "hierarchy", "expected an entry as [category, value, path], three strings, found %s", n.Describe())
		return hierarchyEntry{}, false
	}
	c, ok := l.category(texts[0])
	if !ok {
		d := diag.Diagnostic{Pos: doc.Pos(&n.Kids[0]), Code: "category", Message: "the site has no category '" + texts[0] + "'; it has " + diag.Quoted(l.categoryNames())}
		d.Hint = diag.DidYouMean(texts[0], l.categoryNames())
		l.diags.Add(d)
		return hierarchyEntry{}, false
	}
	val, path := l.interpolated(doc, &n.Kids[1], texts[1]), l.interpolated(doc, &n.Kids[2], texts[2])
	if val == nil || path == nil {
		return hierarchyEntry{}, false
	}
	e := hierarchyEntry{c, templateOf(val), pathTemplate(path), doc.Pos(&n.Kids[0])}
	return e, l.checkDataPath(doc, &n.Kids[2], texts[2])
}

func (l *load) checkDataPath(doc *yaml.Document, n *yaml.Node, path string) bool {
	parts := strings.Split(path, "/")
	if strings.HasSuffix(path, "/") || parts[len(parts)-1] == "." {
		l.diags.Errorf(doc.Pos(n), "data_path", "expected the path of a file without its extension, found '%s'", path)
		return false
	}
	if path == "" || parts[0] == "" || slices.Contains(parts, "..") {
		l.diags.Errorf(doc.Pos(n), "data_path", "expected a path inside the directory of this hiera.yaml, found '%s'", path)
		return false
	}
	return true
}

// inOrder checks an entry against those before it: a category comes once, and below those the site has above it.
func (l *load) inOrder(before []hierarchyEntry, e hierarchyEntry) bool {
	rank := func(e hierarchyEntry) int {
		if e.category < 0 {
			return len(l.all)
		}
		return e.category
	}
	for _, b := range before {
		switch {
		case b.category == e.category:
			l.diags.Add(diag.Diagnostic{Pos: e.at, Code: "hierarchy", Message: "the category '" + l.nameOf(e.category) + "' is in this hierarchy twice",
				Notes: []diag.Note{{Pos: b.at, Message: "the first"}}})
			return false
		case rank(b) > rank(e):
			l.diags.Add(diag.Diagnostic{Pos: e.at, Code: "hierarchy",
				Message: "this hierarchy has '" + l.nameOf(b.category) + "' above '" + l.nameOf(e.category) + "', the site has them the other way round: " + diag.Quoted(l.categoryNames()),
				Notes:   []diag.Note{{Pos: b.at, Message: "'" + l.nameOf(b.category) + "' is here"}}})
			return false
		}
	}
	return true
}

// dataFiles are the files of a Hiera-2 directory that say something: of a key that several backends have, the first one's
// entry.
func (h *hieraDir) dataFiles() []DataFile {
	out := make([]DataFile, 0, len(h.data))
	for _, d := range h.data {
		taken := map[uint32]bool{}
		for i, f := range d.files {
			entries := f.says.Entries
			if i > 0 {
				entries = slices.DeleteFunc(slices.Clone(entries), func(e datafile.Entry) bool { return taken[e.Key] })
			}
			if i+1 < len(d.files) {
				for _, e := range entries {
					taken[e.Key] = true
				}
			}
			if len(entries) > 0 {
				out = append(out, DataFile{Path: f.path, Condition: d.condition, Entries: entries})
			}
		}
	}
	return out
}
