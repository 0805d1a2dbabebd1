// Package hiera5 reads Hiera 5 hierarchies. For each path and glob, it finds the matching data files and the condition
// under which a request reads each file.
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

// Hierarchy is the Hiera 5 hierarchy of a site or a module, or the global hierarchy. Versions 3 and 4 are converted to
// version 5.
type Hierarchy struct {
	Doc      site.Document
	Module   string // name of the module, which has data only for its own keys; "" for the site
	Entries  []Entry
	Defaults []Entry // default_hierarchy; only in modules
	Paths    []int   // dimensions whose values are paths in Entries and Defaults
	Broken   bool    // an error in the configuration may have dropped paths

	named []namedPath
}

// Entry is an entry of a hierarchy. Puppet merges the data of an entry before it merges entries.
type Entry struct {
	Name      string
	at        diag.Pos
	Locations []Location // highest first
}

// Location is a path or a glob of an entry, with its files by condition. A path has one file per condition. A glob may
// have several files that apply together, highest first.
type Location struct {
	// Only limits the location to requests in which the mapped_paths variable has exactly one element. No other
	// location of the entry applies to these requests.
	Only bool

	conditions []int
	files      map[int][]*site.File
	written    []WrittenLocation
}

// dataSource describes how to read the data of an entry.
type dataSource struct {
	kind    datafile.Format
	datadir string
	level   string // name of the entry

	inDefaults diag.Pos // position of the datadir in defaults; the zero position if it is not from there
	ok         bool     // false if bindc does not read the entry
}

// Reader reads Hiera 5 hierarchies, each configuration file only once.
type Reader struct {
	*site.Inputs
	*site.Dimensions
	Dirs map[string]*Hierarchy // by path of the configuration file; nil if the file has an error

	globbed    map[*site.File]bool // files that at least one glob matches
	foundAgain int                 // starts at maxFoundAgain and counts down

	global  string            // hiera.yaml of Puppet's global layer
	codedir string            // Puppet's code directory
	absent  []diag.Diagnostic // warnings about missing directories; reported only if the site has no errors
	checked map[string]bool   // datadirs that were checked for existence
	Trees   map[string]*site.Tree
}

// NewReader returns a reader for the hierarchies of a site. global is the hiera.yaml of Puppet's global layer, or "" if
// there is none. codedir is Puppet's code directory. A foundAgain other than 0 replaces maxFoundAgain.
func NewReader(in *site.Inputs, dims *site.Dimensions, global, codedir string, foundAgain int) *Reader {
	return &Reader{Inputs: in, Dimensions: dims, Dirs: map[string]*Hierarchy{}, Trees: map[string]*site.Tree{},
		globbed: map[*site.File]bool{}, checked: map[string]bool{}, global: global, codedir: codedir,
		foundAgain: cmp.Or(foundAgain, maxFoundAgain)}
}

// ConfigNames lists the names of a Hiera 5 configuration file, the preferred name first. If both files exist, only
// Puppet reads hiera.yaml.
var ConfigNames = []string{"hiera5.yaml", "hiera.yaml"}

// snapshotFunctions maps keys of a hierarchy entry to the functions that let Puppet look up keys in a snapshot.
var snapshotFunctions = map[string]string{"data_hash": "bindc::data_hash", "lookup_key": "bindc::lookup_key"}

// ConfigIn returns the Hiera 5 configuration file in dir, or "" if there is none. A version 2 hiera.yaml does not
// count.
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

// isHiera5 reports whether a file has a version that Puppet accepts in an environment or a module. The file must exist.
func (r *Reader) isHiera5(path string) bool {
	src, err := r.Disk.ReadFile(path)
	if err != nil {
		r.Failed(path, err) // src is empty, so the file has no version
	}
	doc, ok := yaml.Parse(path, src, yaml.Options{}, &diag.List{})
	return ok && doc.Root != nil && VersionOf(doc) >= 4
}

// VersionOf returns the version in a Hiera configuration, or 0 if it has none. Keys that begin with a colon mean
// version 3.
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

// Read reads the configuration file path. module is the module's name, or "" for a site. Read returns nil if the
// configuration has an error.
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
			doc.Errorf(doc.Root, "version", "expected a Hiera 5 configuration, with 'version: 5'")
		}
		return nil
	}
	return h
}

// config is a configuration file while it is being read.
type config struct {
	*Reader
	*Hierarchy
	root         string     // directory of the file
	defaultsNode *yaml.Node // the file's defaults, which replace Puppet's; may be nil
}

var (
	configKeys  = []string{"version", "defaults", "hierarchy", "default_hierarchy", "plan_hierarchy"}
	defaultKeys = []string{"datadir", "options", "data_hash", "lookup_key", "data_dig"}
	backendKeys = []string{"data_hash", "lookup_key", "data_dig", "hiera3_backend"}
	pathKeys    = []string{"path", "paths", "glob", "globs", "mapped_paths"}
	placeKeys   = []string{"path", "paths", "glob", "globs", "uri", "uris", "mapped_paths"}

	entryKeys = slices.Concat([]string{"name", "datadir", "options"}, backendKeys, placeKeys)
)

func (c config) version5() {
	c.Doc.OnlyKeys(c.Doc.Root, "hiera", "key of a Hiera 5 configuration", configKeys)
	key, defaults, _ := c.Doc.Root.Lookup("defaults")
	switch {
	case defaults != nil && defaults.Kind == yaml.Mapping:
		c.defaultsNode = key
		c.Doc.OnlyKeys(defaults, "hiera", "key of 'defaults'", defaultKeys)
	case defaults != nil && !isUnset(defaults):
		c.Doc.Errorf(defaults, "hiera", "expected a hash for 'defaults', found %s", defaults.Describe())
		fallthrough
	default:
		defaults = &yaml.Node{Kind: yaml.Mapping}
	}
	c.Entries = c.hierarchy("hierarchy", defaults)
	if _, n, ok := c.Doc.Root.Lookup("default_hierarchy"); ok && c.Module == "" {
		c.Doc.Errorf(n, "hiera", "expected 'default_hierarchy' only in the hiera.yaml of a module")
	} else if ok && n.Kind != yaml.Sequence { // null is an error too, because Puppet has no default for it
		c.Doc.Errorf(n, "hierarchy", "expected a list of entries for 'default_hierarchy', found %s", n.Describe())
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

// isUnset reports whether n is null or false. Puppet then uses its default.
func isUnset(n *yaml.Node) bool {
	kind := n.Value.Kind()
	return n.Kind == yaml.Scalar && (kind == value.Undef || kind == value.Bool && !n.Value.Bool())
}

// list returns the entries at a key, or none after an error. given is false if the key is missing or unset.
func (c config) list(key string) (entries []yaml.Node, given bool) {
	_, n, ok := c.Doc.Root.Lookup(key)
	if !ok || isUnset(n) {
		return nil, false
	}
	if n.Kind != yaml.Sequence {
		c.Doc.Errorf(n, "hierarchy", "expected a list of entries for '%s', found %s", key, n.Describe())
		return nil, true
	}
	return n.Kids, true
}

// HasPlans reports whether the configuration has a plan_hierarchy.
func (h *Hierarchy) HasPlans() bool {
	_, _, ok := h.Doc.Root.Lookup("plan_hierarchy")
	return ok
}
