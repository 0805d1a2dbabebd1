package loader

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/value"
	"bindc/internal/yaml"
)

// hiera5Dir is a hierarchy of Hiera 5: of a site, of a module, or the global one. Those of the versions 3 and 4 are
// read as what they come to in version 5.
type hiera5Dir struct {
	doc      document
	module   string // whose keys alone count; "" for none
	entries  []hiera5Entry
	defaults []hiera5Entry // default_hierarchy, of a module
	paths    []int         // the dimensions that are paths of these
}

// hiera5Entry is an entry of a hierarchy. What is merged is merged entry by entry.
type hiera5Entry struct {
	name      string
	at        diag.Pos
	locations []hiera5Location // highest first
}

// hiera5Location is one of the paths or globs of an entry. Of its files those under one condition are effective
// together, the highest first; of a path that is one.
type hiera5Location struct {
	only       bool // there is no other where it is one: the path of the only element of mapped_paths
	conditions []int
	files      map[int][]*input
	written    []HierarchyLocation
}

// hiera5Source is how the data of an entry is read, and from where.
type hiera5Source struct {
	kind    datafile.Kind
	datadir string
	level   string // the name of the entry
	ok      bool   // it is one that bindc reads
}

// hiera5Reader reads hierarchies of Hiera 5.
type hiera5Reader struct {
	*inputs
	*dimensions
	dirs map[string]*hiera5Dir // by file; nil: it cannot be used

	globbed    map[*input]bool // files that some glob has found
	foundAgain int             // how often other globs may still find them, see maxFoundAgain

	global  string            // the hiera.yaml of the global layer
	codedir string            // of Puppet
	absent  []diag.Diagnostic // of directories with data, to be told where nothing else is wrong
	checked map[string]bool   // datadirs that such a warning names
	trees   map[string]*tree
}

// hiera5Files are the names of the configuration. Beside the first, the other is Puppet's.
var hiera5Files = []string{"hiera5.yaml", "hiera.yaml"}

// snapshotFunctions are the functions of the Puppet module that a hiera.yaml uses to ask a snapshot, by their keys.
var snapshotFunctions = map[string]string{"data_hash": "bindc::data_hash", "lookup_key": "bindc::lookup_key"}

// hiera5File is the configuration of Hiera 5 in a directory, "" if there is none. A hiera.yaml of version 2 is none.
func (r *hiera5Reader) hiera5File(dir string) string {
	for i, name := range hiera5Files {
		path := filepath.Join(dir, name)
		there, ok := r.isFile(path)
		switch {
		case !ok:
			return ""
		case there && (i == 0 || r.isHiera5(path)):
			return path
		}
	}
	return ""
}

// isHiera5 tells whether the file at path, which is there, is of a version that Puppet reads in a site or a module.
func (r *hiera5Reader) isHiera5(path string) bool {
	src, err := r.disk.ReadFile(path)
	if err != nil {
		r.failed(path, err) // nothing is of no version
	}
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diag.List{})
	return ok && doc.Root != nil && versionOf(doc) >= 4
}

// versionOf is the version of a configuration of Hiera. One without is of version 3 if it has a key of that.
func versionOf(doc *yaml.Document) int64 {
	for _, key := range []string{"version", ":version"} {
		if _, v, ok := doc.Root.Lookup(key); ok && v.Value.Kind() == value.Int {
			return v.Value.Int()
		}
	}
	for _, key := range []string{":backends", ":hierarchy"} {
		if _, _, ok := doc.Root.Lookup(key); ok {
			return 3
		}
	}
	return 0
}

// read reads the configuration at path; nil if it cannot be used. module is whose it is, "" for none.
func (r *hiera5Reader) read(path, module string) *hiera5Dir {
	h, seen := r.dirs[path]
	if !seen {
		h = r.readFile(path, module)
		r.dirs[path] = h
	}
	return h
}

func (r *hiera5Reader) readFile(path, module string) *hiera5Dir {
	doc, ok := r.readNow(path)
	if !ok {
		return nil
	}
	if !doc.isHash() {
		r.diags.Errorf(diag.Pos{File: path, Line: 1, Col: 1}, "hiera", "expected a hash with 'version: 5'")
		return nil
	}
	h := &hiera5Dir{doc: doc, module: module}
	c := hiera5Config{hiera5Reader: r, hiera5Dir: h, root: filepath.Dir(path)}
	switch v := versionOf(doc.Document); v {
	case 5:
		c.version5()
	case 4:
		c.version4()
	case 3:
		c.version3()
	default:
		doc.errorf(doc.Root, "version", "expected a configuration of Hiera 5, with 'version: 5'")
		return nil
	}
	return h
}

// hiera5Config reads one configuration.
type hiera5Config struct {
	*hiera5Reader
	*hiera5Dir
	root string // its directory
	says bool   // there are defaults, which stand for those of Puppet
}

var (
	hiera5Keys     = []string{"version", "defaults", "hierarchy", "default_hierarchy", "plan_hierarchy"}
	hiera5Defaults = []string{"datadir", "options", "data_hash", "lookup_key", "data_dig"}
	hiera5Backends = []string{"data_hash", "lookup_key", "data_dig", "hiera3_backend"}
	hiera5Places   = []string{"path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"}

	hiera5EntryKeys = slices.Concat([]string{"name", "datadir", "options"}, hiera5Backends, hiera5Places)
)

func (c hiera5Config) version5() {
	c.doc.onlyKeys(c.doc.Root, "hiera", "key of a configuration of Hiera 5", hiera5Keys)
	_, defaults, _ := c.doc.Root.Lookup("defaults")
	if c.says = defaults != nil && defaults.Kind == yaml.Mapping; c.says {
		c.doc.onlyKeys(defaults, "hiera", "key of 'defaults'", hiera5Defaults)
	} else {
		defaults = &yaml.Node{Kind: yaml.Mapping} // without a value they are as if they were not there
	}
	c.entries = c.hierarchy("hierarchy", defaults)
	if _, n, ok := c.doc.Root.Lookup("default_hierarchy"); ok && c.module == "" {
		c.doc.errorf(n, "hiera", "expected 'default_hierarchy' in the hiera.yaml of a module only")
	} else if ok {
		c.defaults = c.hierarchy("default_hierarchy", defaults)
	}
}

func (c hiera5Config) hierarchy(key string, defaults *yaml.Node) []hiera5Entry {
	list, given := c.list(key)
	if !given {
		at := c.doc.Pos(c.doc.Root)
		l := c.path(at, c.source(defaults, defaults, at), "common.yaml")
		return []hiera5Entry{{name: "Common", at: at, locations: []hiera5Location{l}}}
	}
	var out []hiera5Entry
	for i := range list {
		out = append(out, c.entry(&list[i], defaults, out))
	}
	return out
}

// list is the entries at a key, none after an error. Where they are not given, or are nothing, Puppet has a default.
func (c hiera5Config) list(key string) (entries []yaml.Node, given bool) {
	_, n, ok := c.doc.Root.Lookup(key)
	if !ok || n.Kind == yaml.Scalar && n.Value.IsUndef() {
		return nil, false
	}
	if n.Kind != yaml.Sequence {
		c.doc.errorf(n, "hierarchy", "expected a list of entries as '%s', found %s", key, n.Describe())
		return nil, true
	}
	return n.Kids, true
}

// entry reads an entry. One of which nothing can be read keeps its number.
func (c hiera5Config) entry(n, defaults *yaml.Node, before []hiera5Entry) hiera5Entry {
	if n.Kind != yaml.Mapping {
		c.doc.errorf(n, "hierarchy", "expected an entry as a hash with 'name' and 'path', found %s", n.Describe())
		return hiera5Entry{}
	}
	unknown := c.doc.UnknownKeys(n, "hierarchy", "key of an entry", hiera5EntryKeys)
	for _, d := range unknown {
		c.diags.Add(d)
	}
	e := hiera5Entry{at: c.doc.Pos(n)}
	e.name, _ = c.text(n, "name")
	if e.name == "" {
		c.doc.errorf(n, "hierarchy", "expected the name of the entry as 'name'")
		return hiera5Entry{}
	}
	for _, b := range before {
		if b.name == e.name {
			c.diags.Add(diag.Diagnostic{Pos: e.at, Code: "hierarchy",
				Message: "two entries are named '" + e.name + "', which Puppet refuses",
				Notes:   []diag.Note{{Pos: b.at, Message: "the first"}}})
			return hiera5Entry{}
		}
	}
	source := c.source(n, defaults, e.at)
	places := presentKeys(n, hiera5Places)
	switch {
	case len(places) > 1:
		c.doc.errorf(n, "hierarchy", "expected one of %s, found %s", diag.Quoted(hiera5Places), diag.Quoted(places))
	case !source.ok:
	case len(places) == 0 && len(unknown) > 0: // one of these may be the path
	case len(places) == 0 || strings.HasPrefix(places[0], "uri"):
		c.foreign(e.at, "an entry without a path", "")
	default:
		source.level = e.name
		if _, paths, _ := n.Lookup(places[0]); hasRelative(paths) {
			c.checkDatadir(e.at, source)
		}
		e.locations = c.locations(n, places[0], source)
	}
	return e
}

// text is the text at a key; not ok if there is none.
func (c hiera5Config) text(n *yaml.Node, key string) (string, bool) {
	_, v, ok := n.Lookup(key)
	if !ok {
		return "", false
	}
	text, ok := v.Text()
	if !ok {
		c.doc.errorf(v, "hierarchy", "expected a string as '%s', found %s", key, v.Describe())
	}
	return text, ok
}

func presentKeys(n *yaml.Node, keys []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		_, _, ok := n.Lookup(key)
		return !ok
	})
}

// source is how an entry is read. What bindc does not read is Puppet's, and is told.
func (c hiera5Config) source(n, defaults *yaml.Node, at diag.Pos) hiera5Source {
	s := hiera5Source{datadir: "data", ok: true}
	for _, from := range []*yaml.Node{n, defaults} {
		if dir, ok := c.text(from, "datadir"); ok {
			s.datadir = dir
			break
		}
	}
	function := ""
	for _, from := range []*yaml.Node{n, defaults} {
		keys := presentKeys(from, hiera5Backends)
		if len(keys) > 1 {
			c.doc.errorf(n, "hierarchy", "expected one of %s, found %s", diag.Quoted(hiera5Backends), diag.Quoted(keys))
			return hiera5Source{}
		}
		if len(keys) == 1 {
			function, _ = c.text(from, keys[0])
			break
		}
	}
	if function == "" && c.says {
		c.doc.errorf(n, "hierarchy", "expected one of %s here or in 'defaults', as Puppet does: with 'defaults' of one's own "+
			"there is none", diag.Quoted(hiera5Backends))
		return hiera5Source{}
	}
	function = cmp.Or(function, "yaml_data")
	_, options, has := n.Lookup("options")
	if !has {
		_, options, has = defaults.Lookup("options")
	}
	if has && options.Kind != yaml.Mapping {
		c.doc.errorf(options, "hierarchy", "expected a hash as 'options', found %s", options.Describe())
		return hiera5Source{}
	}
	switch function {
	case "yaml_data":
		s.kind = datafile.Hiera5YAML
	case "json_data":
		s.kind = datafile.Hiera5JSON
	case "eyaml_lookup_key":
		s.kind = datafile.Hiera5EYAML
		return s
	case snapshotFunctions["data_hash"], snapshotFunctions["lookup_key"]:
		return hiera5Source{}
	default:
		c.foreign(at, "'"+function+"'", diag.DidYouMean(function, hiera5Functions))
		return hiera5Source{}
	}
	if has && len(options.Kids) != 0 {
		c.doc.errorf(options, "hierarchy", "'%s' takes no options: Puppet refuses every lookup that comes to this entry; "+
			"remove them", function)
	}
	return s
}

// hiera5Functions are those whose entries are read.
var hiera5Functions = []string{"yaml_data", "json_data", "eyaml_lookup_key"}

// foreign tells that an entry is none that can be compiled; hint may name what is meant.
func (c hiera5Config) foreign(at diag.Pos, what, hint string) {
	c.diags.Add(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "hiera_foreign",
		Message: what + " is not compiled: what this entry has to say only Puppet knows",
		Hint:    cmp.Or(hint, "'bindq hiera-config' prints a hiera.yaml in which this entry stays Puppet's")})
}

func (c hiera5Config) locations(n *yaml.Node, key string, source hiera5Source) []hiera5Location {
	_, v, _ := n.Lookup(key)
	texts := []string{}
	nodes := []*yaml.Node{}
	if text, _ := v.Text(); !strings.HasSuffix(key, "s") { // what is no text is empty
		texts, nodes = append(texts, text), append(nodes, v)
	} else {
		texts = stringsOf(v)
		for i := range v.Kids {
			nodes = append(nodes, &v.Kids[i])
		}
	}
	if len(texts) == 0 || slices.Contains(texts, "") || key == "mapped_paths" && len(texts) != 3 {
		c.doc.errorf(v, "hierarchy", "expected %s as '%s', found %s", expectedPlace(key), key, v.Describe())
		return nil
	}
	if key == "mapped_paths" {
		return c.mapped(c.doc.Pos(v), source, texts)
	}
	var out []hiera5Location
	for i, text := range texts {
		at := c.doc.Pos(nodes[i])
		if !strings.HasPrefix(key, "glob") {
			out = append(out, c.path(at, source, text))
			continue
		}
		globs, ok := unbraced(text)
		if !ok {
			c.doc.errorf(nodes[i], "hierarchy", "the braces of this glob stand for too many globs; write several entries")
			return nil
		}
		for _, glob := range globs {
			out = joined(out, c.glob(at, source, glob))
		}
	}
	return out
}

// joined adds a glob. One that has nothing to interpolate goes with the one before it, if that has nothing either: then
// it is known how many files they find together.
func joined(out []hiera5Location, l hiera5Location) []hiera5Location {
	constant := func(l hiera5Location) bool {
		return !slices.ContainsFunc(l.conditions, func(c int) bool { return c != 0 })
	}
	last := len(out) - 1
	if last < 0 || !constant(l) || !constant(out[last]) {
		return append(out, l)
	}
	for _, f := range l.files[0] {
		out[last].add(0, f)
	}
	out[last].written = append(out[last].written, l.written...)
	return out
}

func expectedPlace(key string) string {
	switch {
	case key == "mapped_paths":
		return "[variable, name, path], three strings,"
	case strings.HasSuffix(key, "s"):
		return "a list of strings"
	}
	return "a string"
}

// version4 reads what Puppet 4 had: the backend of an entry is the extension of its paths.
func (c hiera5Config) version4() {
	datadir := "data"
	if dir, ok := c.text(c.doc.Root, "datadir"); ok {
		datadir = dir
	}
	list, given := c.list("hierarchy")
	if !given {
		s := hiera5Source{kind: datafile.Hiera5YAML, datadir: datadir}
		c.entries = []hiera5Entry{{name: "common", locations: []hiera5Location{c.path(c.doc.Pos(c.doc.Root), s,
			"common.yaml")}}}
		return
	}
	for i := range list {
		c.entries = append(c.entries, c.entry4(&list[i], datadir))
	}
}

func (c hiera5Config) entry4(n *yaml.Node, datadir string) hiera5Entry {
	e := hiera5Entry{at: c.doc.Pos(n)}
	if n.Kind != yaml.Mapping {
		c.doc.errorf(n, "hierarchy", "expected an entry as a hash with 'name' and 'backend', found %s", n.Describe())
		return hiera5Entry{}
	}
	e.name, _ = c.text(n, "name")
	if dir, ok := c.text(n, "datadir"); ok {
		datadir = dir
	}
	backend, _ := c.text(n, "backend")
	kind, ok := hiera3Kinds[backend]
	if !ok || backend == "eyaml" {
		c.foreign(e.at, "'"+backend+"'", "")
		return hiera5Entry{}
	}
	paths := []string{e.name}
	if path, ok := c.text(n, "path"); ok {
		paths = []string{path}
	}
	if _, list, ok := n.Lookup("paths"); ok {
		paths = stringsOf(list)
	}
	s := hiera5Source{kind: kind, datadir: datadir, level: e.name}
	c.checkDatadir(e.at, s)
	for _, path := range paths {
		e.locations = append(e.locations, c.path(e.at, s, withExtension(path, backend)))
	}
	return e
}

func withExtension(path, ext string) string { return strings.TrimSuffix(path, "."+ext) + "." + ext }

// hiera3Kinds are the backends of the versions before 5 that are read.
var hiera3Kinds = map[string]datafile.Kind{"yaml": datafile.Hiera5YAML, "json": datafile.Hiera5JSON,
	"eyaml": datafile.Hiera5EYAML}

// version3 reads the configuration of Hiera 3: all backends have the one hierarchy, and each is as an entry.
func (c hiera5Config) version3() {
	backends, hierarchy := []string{"yaml"}, []string{"nodes/%{::trusted.certname}", "common"}
	if list := c.list3("backends"); list != nil {
		backends = list
	}
	if list := c.list3("hierarchy"); list != nil {
		hierarchy = list
	}
	for _, b := range backends {
		e := hiera5Entry{name: b, at: c.doc.Pos(c.doc.Root)}
		kind, ok := hiera3Kinds[b]
		if !ok {
			c.foreign(e.at, "'"+b+"'", "")
		}
		datadir, ext := path.Join(c.codedir, "environments", ownEnvironment[0], "hieradata"), b
		if n, there := lookup3(c.doc.Root, b); there {
			if v, there := lookup3(n, "datadir"); there {
				datadir, _ = v.Text()
			}
			if v, there := lookup3(n, "extension"); there {
				ext, _ = v.Text()
			}
		}
		s := hiera5Source{kind: kind, datadir: datadir, level: b}
		if ok {
			c.checkDatadir(e.at, s)
		}
		for _, path := range hierarchy {
			if ok {
				e.locations = append(e.locations, c.path(e.at, s, withExtension(path, ext)))
			}
		}
		c.entries = append(c.entries, e)
	}
}

// lookup3 is the value at a key, which may be written as a symbol.
func lookup3(n *yaml.Node, key string) (v *yaml.Node, ok bool) {
	if _, v, ok = n.Lookup(":" + key); !ok {
		_, v, ok = n.Lookup(key)
	}
	return v, ok
}

// list3 is the text or texts at a top-level key; nil if there are none.
func (c hiera5Config) list3(key string) []string {
	n, ok := lookup3(c.doc.Root, key)
	if !ok {
		return nil
	}
	if text, ok := n.Text(); ok {
		return []string{text}
	}
	return stringsOf(n)
}
