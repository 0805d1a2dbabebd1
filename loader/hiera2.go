package loader

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/expr"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/loader/internal/hiera5"
	"bindc/loader/internal/site"
)

// hiera2Dir is a Hiera 2 directory: the entries of its configuration and the data files that match them (language.md,
// section 4).
type hiera2Dir struct {
	tree         *site.Tree
	label        string // prefix for file names in snapshots, with a trailing slash
	doc          site.Document
	otherVersion string // if the file is not for Hiera 2, a phrase for messages that says so
	backends     []string
	entries      []hiera2Entry
	data         []dataFile // data files in the order of the hierarchy
}

// dataFile is a hierarchy path with its variables replaced, and the condition under which a request has this path.
type dataFile struct {
	condition int
	files     []*site.File // the file of each backend that has the path, in backend order
}

// hiera2Entry is an entry [category, value, path] of a Hiera 2 hierarchy.
type hiera2Entry struct {
	category    int // index of the category's dimension, or -1 for common
	value, path template
	differs     bool // the value differs from the category's expression
	at, pathAt  diag.Pos
}

var hiera2Keys = []string{"version", "hierarchy", "backends"}

// hiera2Reader reads Hiera 2 directories, each only once.
type hiera2Reader struct {
	*site.Inputs
	*site.Dimensions
	extensions registry
	dirs       map[string]*hiera2Dir // by path of the configuration file; nil if the file has an error
}

// dir returns the Hiera 2 directory whose configuration file is path, or nil if the file has an error.
func (r *hiera2Reader) dir(path string) *hiera2Dir {
	h, seen := r.dirs[path]
	if !seen {
		h = r.read(path)
		r.dirs[path] = h
	}
	return h
}

// hiera2Files lists the names of a Hiera 2 configuration file, the preferred name first. If both files exist, only
// Puppet reads hiera.yaml.
var hiera2Files = []string{"hiera2.yaml", "hiera.yaml"}

// hiera2File returns the Hiera 2 configuration file in dir, or "" if there is none. ok is false after an error.
func hiera2File(f site.Files, dir string) (path string, ok bool) {
	for _, name := range hiera2Files {
		path := filepath.Join(dir, name)
		if there, ok := f.IsFile(path); there || !ok {
			return path, ok
		}
	}
	return "", true
}

func (r *hiera2Reader) read(path string) *hiera2Dir {
	dir := filepath.Dir(path)
	real, ok := r.Real(dir)
	if !ok {
		return nil
	}
	doc, ok := r.ReadNow(path)
	if !ok {
		return nil
	}
	if !doc.IsHash() {
		r.Diags.Errorf(diag.Pos{File: path, Line: 1, Col: 1}, "hiera", "expected a hash with at least 'version: 2'")
		return nil
	}
	if filepath.Base(path) == hiera2Files[0] {
		r.reportSecondConfig(path, filepath.Join(dir, hiera2Files[1]))
	} else if other := otherHiera(doc); other != "" {
		return &hiera2Dir{doc: doc, otherVersion: other}
	}
	want := int64(2)
	if _, v, ok := doc.Root.Lookup("version"); ok && (v.Value.Text() == "5" || v.Value.Float() == 5) {
		want = 5
	}
	if !doc.IsVersion("version", want) {
		return nil
	}
	doc.OnlyKeys(doc.Root, "hiera", "key of a Hiera 2 configuration", hiera2Keys)
	h := &hiera2Dir{label: strings.TrimSuffix(r.Label(path), filepath.Base(path)), doc: doc, backends: r.backends(doc)}
	h.tree = &site.Tree{Files: r.Files, Dir: dir, Real: real, Roots: r.Modules.Roots}
	h.entries = r.hierarchy(doc)
	for _, e := range h.entries {
		h.data = append(h.data, r.entryFiles(h, e)...)
	}
	return h
}

// reportSecondConfig reports a version 2 hiera.yaml next to hiera2.yaml. A hiera.yaml of another version is for Puppet.
func (r *hiera2Reader) reportSecondConfig(path, second string) {
	if there, _ := r.IsFile(second); !there {
		return
	}
	doc, ok := r.ReadNow(second)
	if !ok || !doc.IsHash() {
		return
	}
	if _, v, ok := doc.Root.Lookup("version"); ok && v.Value.Kind() == value.Int && v.Value.Int() == 2 {
		r.Diags.Add(diag.Diagnostic{Pos: doc.Pos(v), Code: "hiera",
			Message: "this directory has two Hiera 2 configurations",
			Notes:   []diag.Note{{Pos: diag.Pos{File: path}, Message: "this file is used"}},
			Hint:    "remove this one: next to hiera2.yaml, a hiera.yaml is only for Puppet"})
	}
}

// otherHiera returns a phrase for messages if a configuration is not for Hiera 2, such as "is a Hiera 3
// configuration". It returns "" for Hiera 2.
func otherHiera(doc site.Document) string {
	_, v, ok := doc.Root.Lookup("version")
	switch {
	case hiera5.VersionOf(doc.Document) == 3:
		return "is a Hiera 3 configuration"
	case !ok && !hasTriples(doc):
		return "has no version, as a Hiera 1 configuration"
	case !ok: // a Hiera 2 file; the missing version is reported later
		return ""
	case v.Value.Kind() == value.Int && v.Value.Int() != 2:
		return "is a configuration for another version of Hiera"
	}
	return ""
}

// seemsHiera5 reports whether a configuration without a version uses features of Hiera 5.
func seemsHiera5(doc site.Document) bool {
	if _, _, ok := doc.Root.Lookup("version"); ok {
		return false
	}
	_, list, _ := doc.Root.Lookup("hierarchy")
	_, _, defaults := doc.Root.Lookup("defaults")
	return defaults || list != nil &&
		slices.ContainsFunc(list.Kids, func(e yaml.Node) bool { return e.Kind == yaml.Mapping })
}

// hasTriples reports whether an entry of the hierarchy is a list. Only Hiera 2 has such entries.
func hasTriples(doc site.Document) bool {
	_, n, ok := doc.Root.Lookup("hierarchy")
	return ok && n.Kind == yaml.Sequence &&
		slices.ContainsFunc(n.Kids, func(e yaml.Node) bool { return e.Kind == yaml.Sequence })
}

func (r *hiera2Reader) backends(doc site.Document) []string {
	_, n, ok := doc.Root.Lookup("backends")
	if !ok {
		return []string{"yaml", "json"}
	}
	if n.Kind != yaml.Sequence {
		d := diag.Diagnostic{Pos: doc.Pos(n), Code: "backend",
			Message: "expected a list of names for 'backends', found " + n.Describe()}
		if name, _ := n.Text(); builtinBackend(name) {
			d.Hint = "write backends: [" + name + "]"
			d.Fix = diag.Fix{Old: name, New: "[" + name + "]", Syntax: true}
		} else {
			d.Hint = backendHint(name)
		}
		r.Diags.Add(d)
		return nil
	}
	var out []string
	for i := range n.Kids {
		name, _ := n.Kids[i].Text()
		if !builtinBackend(name) && r.extensions.backends[name] == nil {
			names := extensionNames([]string{"yaml", "json"}, r.extensions.backends)
			hint, fix := backendHint(name), diag.Fix{}
			if hint == "" {
				fix = r.Diags.Correct(name, names)
				hint = fix.Hint()
			}
			r.Diags.Add(diag.Diagnostic{Pos: doc.Pos(&n.Kids[i]), Code: "backend", Hint: hint, Fix: fix,
				Message: "unknown backend: " + n.Kids[i].Describe() + "; expected " + diag.QuotedFor(hint, names)})
			continue
		}
		out = append(out, name)
	}
	return out
}

func backendHint(name string) string {
	if name == "eyaml" {
		return "write [yaml]: lookups decrypt encrypted values in any data file if bindq gets the key " +
			"with --eyaml-key"
	}
	return ""
}

func builtinBackend(name string) bool { return name == "yaml" || name == "json" }

// hierarchy reads the entries of a hierarchy. Each category may occur only once, in the same order as in the site's
// list.
func (r *hiera2Reader) hierarchy(doc site.Document) []hiera2Entry {
	_, n, ok := doc.Root.Lookup("hierarchy")
	if !ok {
		return r.defaultHierarchy(doc)
	}
	if n.Kind != yaml.Sequence {
		doc.Errorf(n, "hierarchy", "expected a list of [category, value, path] for 'hierarchy', found %s", n.Describe())
		return nil
	}
	isHash := func(e yaml.Node) bool { return e.Kind == yaml.Mapping }
	if i := slices.IndexFunc(n.Kids, isHash); i >= 0 {
		r.Diags.Add(diag.Diagnostic{Pos: doc.Pos(&n.Kids[i]), Code: "hierarchy",
			Message: "expected an entry as [category, value, path], three strings, found a hash",
			Hint:    "hashes are entries of Hiera 5: write 'version: 5', or write lists"})
	}
	var out []hiera2Entry
	for i := range n.Kids {
		if isHash(n.Kids[i]) {
			continue
		}
		e, ok := r.entry(doc, &n.Kids[i])
		if ok && r.inOrder(out, e) {
			out = append(out, e)
		}
	}
	return out
}

func (r *hiera2Reader) defaultHierarchy(doc site.Document) []hiera2Entry {
	osfamily := &expr.Node{Op: expr.Var, Name: "osfamily"}
	text := func(s string) *expr.Node { return &expr.Node{Op: expr.Const, Value: value.FromString(s)} }
	at := doc.Pos(doc.Root)
	out := []hiera2Entry{{category: -1, value: templateOf(text("true")), path: templateOf(text("data/common")),
		at: at, pathAt: at}}
	if c, ok := r.Category("osfamily"); ok {
		value := &expr.Node{Op: expr.Concat, Kids: []*expr.Node{osfamily}}
		path := &expr.Node{Op: expr.Concat, Kids: []*expr.Node{text("data/osfamily/"), osfamily}}
		e := hiera2Entry{category: c, value: templateOf(value), path: templateOf(path), at: at, pathAt: at}
		r.compareValue(&e, at)
		out = slices.Insert(out, 0, e)
	}
	return out
}

func (r *hiera2Reader) entry(doc site.Document, n *yaml.Node) (hiera2Entry, bool) {
	texts := site.StringsOf(n)
	if len(texts) != 3 {
		d := diag.Diagnostic{Pos: doc.Pos(n), Code: "hierarchy", Hint: site.QuoteHint(n),
			Message: "expected an entry as [category, value, path], three strings, found " + n.Describe()}
		if texts != nil {
			d.Message += " of " + strconv.Itoa(len(texts))
			d.Hint = "write all three, such as [osfamily, '${osfamily}', 'data/osfamily/${osfamily}']"
		}
		r.Diags.Add(d)
		return hiera2Entry{}, false
	}
	c, ok := r.Category(texts[0])
	if !ok {
		r.Unknown(value.FromString(texts[0]), doc.Pos(&n.Kids[0]))
		return hiera2Entry{}, false
	}
	val, path := doc.Interpolated(&n.Kids[1], texts[1]), doc.Interpolated(&n.Kids[2], texts[2])
	if val == nil || path == nil {
		return hiera2Entry{}, false
	}
	e := hiera2Entry{category: c, value: templateOf(val), path: pathTemplate(path),
		at: doc.Pos(&n.Kids[0]), pathAt: doc.Pos(&n.Kids[2])}
	r.compareValue(&e, doc.Pos(&n.Kids[1]))
	return e, r.checkDataPath(doc, &n.Kids[2], texts[2])
}

func (r *hiera2Reader) checkDataPath(doc site.Document, n *yaml.Node, path string) bool {
	parts := strings.Split(path, "/")
	if strings.HasSuffix(path, "/") || parts[len(parts)-1] == "." {
		doc.Errorf(n, "data_path", "expected the path of a file without its extension, found '%s'", path)
		return false
	}
	if parts[0] == "" || slices.Contains(parts, "..") {
		doc.Errorf(n, "data_path", "expected a path inside the directory of this hiera.yaml, found '%s'", path)
		return false
	}
	if strings.Contains(path, `\$`) {
		doc.Diags.Add(diag.Diagnostic{Pos: doc.Pos(n), Severity: diag.Warning, Code: "data_path",
			Message: `'\$' stands for a dollar sign in a file name, and does not begin a variable`,
			Hint:    "write " + strings.ReplaceAll(path, `\$`, "$"), Fix: diag.Fix{Old: `\$`, New: "$", Syntax: true}})
	}
	return true
}

// inOrder reports whether the category of e has a lower precedence than the categories of all entries before it. If
// not, it adds an error.
func (r *hiera2Reader) inOrder(before []hiera2Entry, e hiera2Entry) bool {
	rank := func(e hiera2Entry) int {
		if e.category < 0 {
			return len(r.Dimensions.All)
		}
		return e.category
	}
	if n := len(before); n == 0 || rank(before[n-1]) < rank(e) { // before is sorted by rank
		return true
	}
	for _, b := range before {
		switch {
		case b.category == e.category:
			r.Diags.Add(diag.Diagnostic{Pos: e.at, Code: "hierarchy",
				Message: "the category '" + r.NameOf(e.category) + "' is in this hierarchy twice",
				Notes:   []diag.Note{{Pos: b.at, Message: "the first"}}})
			return false
		case rank(b) > rank(e):
			r.Diags.Add(diag.Diagnostic{Pos: e.at, Code: "hierarchy",
				Message: "this hierarchy has '" + r.NameOf(b.category) + "' above '" + r.NameOf(e.category) +
					"', but the site has them the other way round: " + diag.Quoted(r.CategoryNames()),
				Notes: []diag.Note{{Pos: b.at, Message: "'" + r.NameOf(b.category) + "' is here"}}})
			return false
		}
	}
	return true
}

// dataFiles returns the data files of h that are not empty. If several backends have a file for the same path and key,
// the first backend wins, and the entries of the others are returned as hidden.
func (h *hiera2Dir) dataFiles() []DataFile {
	out := make([]DataFile, 0, len(h.data))
	for _, d := range h.data {
		taken := map[uint32]bool{}
		for i, f := range d.files {
			entries, hidden := f.Content.Entries, []datafile.Entry(nil)
			if slices.Contains(d.files[:i], f) {
				continue // this backend is listed twice
			}
			if i > 0 {
				entries, hidden = splitTaken(entries, taken)
			}
			if i+1 < len(d.files) {
				for _, e := range entries {
					taken[e.Key] = true
				}
			}
			if len(entries) > 0 {
				out = append(out, DataFile{Path: f.Path, Condition: d.condition, Entries: entries})
			}
			if len(hidden) > 0 {
				out = append(out, DataFile{Path: f.Path, Condition: d.condition, Hidden: true, Entries: hidden})
			}
		}
	}
	return out
}

func splitTaken(entries []datafile.Entry, taken map[uint32]bool) (free, others []datafile.Entry) {
	for _, e := range entries {
		if taken[e.Key] {
			others = append(others, e)
		} else {
			free = append(free, e)
		}
	}
	return free, others
}
