// Package hiera5 reads the hierarchies of Hiera 5: the files that each path and glob can name, and the condition under
// which a request reads each of them.
package hiera5

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

// Hierarchy is a hierarchy of Hiera 5: of the site, of a module, or the global one. Versions 3 and 4 are converted to
// version 5.
type Hierarchy struct {
	Doc      site.Document
	Module   string // the module, of whose keys alone it has data; or ""
	Entries  []Entry
	Defaults []Entry // default_hierarchy, of a module
	Paths    []int   // the dimensions that are paths of these
	Broken   bool    // there is an error in it, so that paths may be missing
}

// Entry is an entry of a hierarchy. Hiera 5 merges entry by entry.
type Entry struct {
	Name      string
	at        diag.Pos
	Locations []Location // highest first
}

// Location is a path or a glob of an entry. Its files under one condition are effective together, the highest first. A
// path has one file per condition.
type Location struct {
	Only       bool // the entry has no other location in the same request: the path of the only element of mapped_paths
	conditions []int
	files      map[int][]*site.File
	written    []WrittenLocation
}

// dataSource says how to read the data of an entry, and from where.
type dataSource struct {
	kind    datafile.Format
	datadir string
	level   string // the name of the entry
	ok      bool   // bindc reads it
}

// Reader reads hierarchies of Hiera 5.
type Reader struct {
	*site.Inputs
	*site.Dimensions
	Dirs map[string]*Hierarchy // by file; nil: it cannot be used

	globbed    map[*site.File]bool // files that some glob has found
	foundAgain int                 // how often other globs may still find them, see maxFoundAgain

	global  string            // the hiera.yaml of the global layer
	codedir string            // of Puppet
	absent  []diag.Diagnostic // of directories with data; reported if the site has no errors
	checked map[string]bool   // datadirs with such a warning
	Trees   map[string]*site.Tree
}

// NewReader returns a reader of the hierarchies of a site. global is the hiera.yaml of the global layer, "" for
// none; codedir is where Puppet has environments. foundAgain replaces maxFoundAgain unless it is 0.
func NewReader(in *site.Inputs, dims *site.Dimensions, global, codedir string, foundAgain int) *Reader {
	return &Reader{Inputs: in, Dimensions: dims, Dirs: map[string]*Hierarchy{}, Trees: map[string]*site.Tree{},
		globbed: map[*site.File]bool{}, checked: map[string]bool{}, global: global, codedir: codedir,
		foundAgain: cmp.Or(foundAgain, maxFoundAgain)}
}

// ConfigNames has the names of the configuration. Next to a file with the first name, a file with the second is for
// Puppet only.
var ConfigNames = []string{"hiera5.yaml", "hiera.yaml"}

// snapshotFunctions has the functions of the Puppet module that a hiera.yaml uses to ask a snapshot, by their keys.
var snapshotFunctions = map[string]string{"data_hash": "bindc::data_hash", "lookup_key": "bindc::lookup_key"}

// ConfigIn returns the configuration of Hiera 5 in a directory; "" if there is none. A hiera.yaml of version 2 does
// not count.
func (r *Reader) ConfigIn(dir string) string {
	for i, name := range ConfigNames {
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

// isHiera5 reports whether the existing file at path has a version that Puppet reads in a site or a module.
func (r *Reader) isHiera5(path string) bool {
	src, err := r.Disk.ReadFile(path)
	if err != nil {
		r.Failed(path, err) // an empty file has no version
	}
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diag.List{})
	return ok && doc.Root != nil && VersionOf(doc) >= 4
}

// VersionOf returns the version of a configuration of Hiera; 0 if it has none. A file with the keys of version 3 is
// of version 3.
func VersionOf(doc *yaml.Document) int64 {
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

// Read reads the configuration at path, of a module unless module is "". It returns nil if the configuration cannot
// be used.
func (r *Reader) Read(path, module string) *Hierarchy {
	h, seen := r.Dirs[path]
	if !seen {
		h = r.readFile(path, module)
		r.Dirs[path] = h
	}
	return h
}

func (r *Reader) readFile(path, module string) *Hierarchy {
	doc, ok := r.ReadNow(path)
	if !ok {
		return nil
	}
	if !doc.IsHash() {
		r.Diags.Errorf(diag.Pos{File: path, Line: 1, Col: 1}, "hiera", "expected a hash with 'version: 5'")
		return nil
	}
	own := &diag.List{All: r.Diags.All}
	h := &Hierarchy{Doc: site.Document{Document: doc.Document, Diags: own}, Module: module}
	defer func() {
		h.Doc, h.Broken = doc, own.Failed()
		r.Diags.AddAll(own)
	}()
	c := config{Reader: r, Hierarchy: h, root: filepath.Dir(path)}
	switch v := VersionOf(doc.Document); v {
	case 5:
		c.version5()
	case 4:
		c.version4()
	case 3:
		c.version3()
	default:
		if doc.IsVersion("version", 5) {
			doc.Errorf(doc.Root, "version", "expected a configuration of Hiera 5, with 'version: 5'")
		}
		return nil
	}
	return h
}

// config reads one configuration.
type config struct {
	*Reader
	*Hierarchy
	root string     // its directory
	says *yaml.Node // the defaults, which replace those of Puppet; or nil
}

var (
	configKeys  = []string{"version", "defaults", "hierarchy", "default_hierarchy", "plan_hierarchy"}
	defaultKeys = []string{"datadir", "options", "data_hash", "lookup_key", "data_dig"}
	backendKeys = []string{"data_hash", "lookup_key", "data_dig", "hiera3_backend"}
	placeKeys   = []string{"path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"}

	entryKeys = slices.Concat([]string{"name", "datadir", "options"}, backendKeys, placeKeys)
)

func (c config) version5() {
	c.Doc.OnlyKeys(c.Doc.Root, "hiera", "key of a configuration of Hiera 5", configKeys)
	key, defaults, _ := c.Doc.Root.Lookup("defaults")
	if defaults != nil && defaults.Kind == yaml.Mapping {
		c.says = key
		c.Doc.OnlyKeys(defaults, "hiera", "key of 'defaults'", defaultKeys)
	} else {
		defaults = &yaml.Node{Kind: yaml.Mapping} // without a value they have no effect
	}
	c.Entries = c.hierarchy("hierarchy", defaults)
	if _, n, ok := c.Doc.Root.Lookup("default_hierarchy"); ok && c.Module == "" {
		c.Doc.Errorf(n, "hiera", "expected 'default_hierarchy' in the hiera.yaml of a module only")
	} else if ok {
		c.Defaults = c.hierarchy("default_hierarchy", defaults)
	}
}

func (c config) hierarchy(key string, defaults *yaml.Node) []Entry {
	list, given := c.list(key)
	if !given {
		at := c.Doc.Pos(c.Doc.Root)
		l := c.path(at, c.source(defaults, defaults, at), "common.yaml")
		return []Entry{{Name: "Common", at: at, Locations: []Location{l}}}
	}
	var out []Entry
	for i := range list {
		out = append(out, c.entry(&list[i], defaults, out))
	}
	return out
}

// list returns the entries at a key, or none after an error. If the key is absent or null, Puppet uses a default.
func (c config) list(key string) (entries []yaml.Node, given bool) {
	_, n, ok := c.Doc.Root.Lookup(key)
	if !ok || n.Kind == yaml.Scalar && n.Value.IsUndef() {
		return nil, false
	}
	if n.Kind != yaml.Sequence {
		c.Doc.Errorf(n, "hierarchy", "expected a list of entries as '%s', found %s", key, n.Describe())
		return nil, true
	}
	return n.Kids, true
}

// HasPlans reports whether there is a hierarchy for plans.
func (h *Hierarchy) HasPlans() bool {
	_, _, ok := h.Doc.Root.Lookup("plan_hierarchy")
	return ok
}
