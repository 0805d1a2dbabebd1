package loader

import (
	"cmp"
	"path/filepath"
	"slices"

	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/value"
	"bindc/internal/yaml"
	"bindc/loader/internal/site"
)

// hiera5Dir is a hierarchy of Hiera 5: of a site, of a module, or the global one. Those of the versions 3 and 4 are
// read as what they come to in version 5.
type hiera5Dir struct {
	doc      site.Document
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
	files      map[int][]*site.File
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
	*site.Inputs
	*site.Dimensions
	dirs map[string]*hiera5Dir // by file; nil: it cannot be used

	globbed    map[*site.File]bool // files that some glob has found
	foundAgain int                 // how often other globs may still find them, see maxFoundAgain

	global  string            // the hiera.yaml of the global layer
	codedir string            // of Puppet
	absent  []diag.Diagnostic // of directories with data, to be told where nothing else is wrong
	checked map[string]bool   // datadirs that such a warning names
	trees   map[string]*site.Tree
}

// newHiera5Reader returns a reader of the hierarchies of a site. global is the hiera.yaml of the global layer, "" for
// none; codedir is where Puppet has environments. foundAgain replaces maxFoundAgain unless it is 0.
func newHiera5Reader(in *site.Inputs, dims *site.Dimensions, global, codedir string, foundAgain int) *hiera5Reader {
	return &hiera5Reader{Inputs: in, Dimensions: dims, dirs: map[string]*hiera5Dir{}, trees: map[string]*site.Tree{},
		globbed: map[*site.File]bool{}, checked: map[string]bool{}, global: global, codedir: codedir,
		foundAgain: cmp.Or(foundAgain, maxFoundAgain)}
}

// hiera5Files are the names of the configuration. Beside the first, the other is Puppet's.
var hiera5Files = []string{"hiera5.yaml", "hiera.yaml"}

// snapshotFunctions are the functions of the Puppet module that a hiera.yaml uses to ask a snapshot, by their keys.
var snapshotFunctions = map[string]string{"data_hash": "bindc::data_hash", "lookup_key": "bindc::lookup_key"}

// hiera5File is the configuration of Hiera 5 in a directory, "" if there is none. A hiera.yaml of version 2 is none.
func (r *hiera5Reader) hiera5File(dir string) string {
	for i, name := range hiera5Files {
		path := filepath.Join(dir, name)
		there, ok := r.IsFile(path)
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
	src, err := r.Disk.ReadFile(path)
	if err != nil {
		r.Failed(path, err) // nothing is of no version
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
	doc, ok := r.ReadNow(path)
	if !ok {
		return nil
	}
	if !doc.IsHash() {
		r.Diags.Errorf(diag.Pos{File: path, Line: 1, Col: 1}, "hiera", "expected a hash with 'version: 5'")
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
		doc.Errorf(doc.Root, "version", "expected a configuration of Hiera 5, with 'version: 5'")
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
	c.doc.OnlyKeys(c.doc.Root, "hiera", "key of a configuration of Hiera 5", hiera5Keys)
	_, defaults, _ := c.doc.Root.Lookup("defaults")
	if c.says = defaults != nil && defaults.Kind == yaml.Mapping; c.says {
		c.doc.OnlyKeys(defaults, "hiera", "key of 'defaults'", hiera5Defaults)
	} else {
		defaults = &yaml.Node{Kind: yaml.Mapping} // without a value they are as if they were not there
	}
	c.entries = c.hierarchy("hierarchy", defaults)
	if _, n, ok := c.doc.Root.Lookup("default_hierarchy"); ok && c.module == "" {
		c.doc.Errorf(n, "hiera", "expected 'default_hierarchy' in the hiera.yaml of a module only")
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
		c.doc.Errorf(n, "hierarchy", "expected a list of entries as '%s', found %s", key, n.Describe())
		return nil, true
	}
	return n.Kids, true
}

// plans tells whether there is a hierarchy for plans.
func (h *hiera5Dir) plans() bool {
	_, _, ok := h.doc.Root.Lookup("plan_hierarchy")
	return ok
}
