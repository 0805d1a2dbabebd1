package loader

import (
	"io/fs"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/datafile"
	"bindc/internal/diag"
	"bindc/internal/disk"
	"bindc/internal/yaml"
)

// Options say how to read a site. The zero value works.
type Options struct {
	ModulePath   []string        // directories of modules; default: modules in the site
	BinderConfig string          // file to read in place of binder_config.yaml
	Cache        *datafile.Cache // of data files, from one build to the next; may be nil
	Jobs         int             // files parsed at a time; default: one per processor

	AllowExtensions  bool          // let programs run that the configuration names as extensions
	ExtensionTimeout time.Duration // after which such a program is stopped; default: 30 s
	Backends         map[string]Backend
	SchemeHandlers   map[string]SchemeHandler

	disk disk.Disk // what is read from; tests make it fail
}

// Load reads the site in dir. What is wrong goes to diags; the Site is of use only if diags has not failed.
func Load(dir string, opts Options, diags *diag.List) *Site {
	l := &load{dir: dir, opts: opts, diags: diags, disk: opts.disk, dimensions: newDimensions(),
		files: map[fileKey]*file{}, roots: map[string]bool{}, hieraDirs: map[string]*hieraDir{}}
	l.reader = datafile.NewReader(opts.Cache, opts.disk)
	cfg := l.config()
	if cfg == nil {
		return &l.site
	}
	l.modules = l.findModules()
	wait := l.startParsing()
	layers := l.plan(cfg)
	wait()
	l.keepForNextBuild()
	l.assemble(layers)
	l.site.Keys, l.site.Values = l.reader.Pools.Keys.Texts(), l.reader.Pools.Values.Texts()
	l.warnOfNothing()
	l.listInputs()
	l.site.Dimensions, l.site.Conditions = l.all, l.dimensions.conditions
	return &l.site
}

// partsOfSites are what the directory of a site has one of at least.
var partsOfSites = []string{"binder_config.yaml", "bindings_config.yaml", "hiera.yaml", "bindings", "data", "modules"}

// warnOfNothing tells that dir is no site, which would compile to an empty snapshot: another one is meant.
func (l *load) warnOfNothing() {
	for _, name := range partsOfSites {
		if info, err := l.disk.Info(filepath.Join(l.dir, name)); info != nil || err != nil {
			return
		}
	}
	if l.opts.BinderConfig == "" && len(l.opts.ModulePath) == 0 {
		l.diags.Warnf(diag.Pos{File: l.dir}, "site", "this is no site: expected a directory with one of %s", diag.Quoted(partsOfSites))
	}
}

// load is one run of Load.
type load struct {
	dir   string
	opts  Options
	diags *diag.List
	disk  disk.Disk
	site  Site
	*dimensions
	ext       registry
	modules   []module
	reader    *datafile.Reader
	files     map[fileKey]*file
	found     []*file              // files, in the order they were found
	queue     chan *file           // those that are not parsed yet
	roots     map[string]bool      // the directories of the site and of modules, without symbolic links
	hieraDirs map[string]*hieraDir // by directory; nil: there is one and it cannot be used
}

// fileKey identifies a file. One that is data and something else besides is read as both.
type fileKey struct {
	path string
	data bool
}

// file is one file of the site.
type file struct {
	path  string                 // to open it, and in messages
	label string                 // the same on every machine
	read  func() ([]byte, error) // of an extension; nil: path is read
	at    diag.Pos               // what asked an extension
	input Input

	// What comes of it: of a data file its entries, of other files the document, nil until read, or if it cannot be.
	data bool
	kind datafile.Kind
	says datafile.File
	doc  *yaml.Document
}

// want queues a file to be parsed and returns it; a file is read once, however often it is wanted.
func (l *load) want(path string) *file {
	if f, ok := l.files[fileKey{path, false}]; ok {
		return f
	}
	return l.enqueue(&file{path: path, label: l.label(path)})
}

// wantData queues the data file that is at path in a Hiera-2 directory.
func (l *load) wantData(h *hieraDir, path string) *file {
	full := h.tree.path(path)
	if f, ok := l.files[fileKey{full, true}]; ok {
		return f
	}
	kind := datafile.YAML
	if strings.HasSuffix(path, ".json") {
		kind = datafile.JSON
	}
	return l.enqueue(&file{path: full, label: h.label + path, data: true, kind: kind})
}

func (l *load) enqueue(f *file) *file {
	l.files[fileKey{f.path, f.data}] = f
	l.found = append(l.found, f)
	l.queue <- f
	return f
}

// readNow parses a file that decides what else is read.
func (l *load) readNow(path string) *yaml.Document {
	f := &file{path: path, label: l.label(path)}
	l.found = append(l.found, f)
	l.parse(f)
	return f.doc
}

// startParsing has files parsed as they are found, several at a time. The function it returns waits for the last one; what
// files say is not looked at before.
func (l *load) startParsing() (wait func()) {
	jobs := l.opts.Jobs
	if jobs <= 0 {
		jobs = goruntime.GOMAXPROCS(0)
	}
	l.queue = make(chan *file, 1024)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for f := range l.queue {
				l.parse(f)
			}
		})
	}
	return func() {
		close(l.queue)
		workers.Wait()
	}
}

func (l *load) parse(f *file) {
	switch {
	case f.read != nil:
		l.parseExtension(f)
	case f.data:
		says, err := l.reader.Read(f.path, f.kind, l.diags)
		if err != nil {
			l.cannotRead(f.path, err)
			return
		}
		f.setData(says)
	default:
		src, err := l.disk.ReadFile(f.path)
		if err != nil {
			l.cannotRead(f.path, err)
			return
		}
		parse := yaml.Parse
		if strings.HasSuffix(f.path, ".json") {
			parse = yaml.ParseJSON
		}
		l.parseDocument(f, src, parse)
	}
}

// keepForNextBuild gives the cache what the data files say.
func (l *load) keepForNextBuild() {
	if l.opts.Cache == nil {
		return
	}
	files := make([]datafile.File, 0, len(l.found))
	for _, f := range l.found {
		if f.data {
			files = append(files, f.says)
		}
	}
	l.opts.Cache.Keep(files)
}

// cannotRead reports an error of the file system, which mostly says at which path.
func (l *load) cannotRead(path string, err error) {
	if p, ok := err.(*fs.PathError); ok {
		path, err = p.Path, p.Err
	}
	l.diags.Errorf(diag.Pos{File: path}, "read", "cannot read this: %v", err)
}

func (f *file) setData(says datafile.File) {
	f.says = says
	f.input = Input{Path: f.label, Size: says.Size, Hash: says.Hash}
}

// parser is yaml.Parse or yaml.ParseJSON.
type parser func(file string, src []byte, opts yaml.Options, diags *diag.List) (*yaml.Document, bool)

func (l *load) parseDocument(f *file, src []byte, parse parser) {
	f.input = Input{Path: f.label, Size: int64(len(src)), Hash: xxhash.Sum64(src)}
	if doc, ok := parse(f.path, src, yaml.Options{}, l.diags); ok {
		f.doc = doc
	}
}

func (l *load) parseExtension(f *file) {
	src, err := f.read()
	switch {
	case err != nil:
		l.extensionFailed(f, err)
	case len(src) == 0:
	case f.data:
		f.setData(l.reader.Source(f.path, src, datafile.ExtensionJSON, l.diags))
	default:
		l.parseDocument(f, src, yaml.ParseJSON)
	}
}

// label names a file by its place in the site or in its module, not by where those are.
func (l *load) label(path string) string {
	for _, m := range l.modules {
		if rel, ok := below(m.dir, path); ok {
			return "modules/" + m.name + "/" + rel
		}
	}
	if rel, ok := below(l.dir, path); ok {
		return rel
	}
	return filepath.Base(path)
}

// below is path relative to dir, if it is inside.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// listInputs lists what was read.
func (l *load) listInputs() {
	read := make([]*file, 0, len(l.found))
	for _, f := range l.found {
		if f.input.Path != "" {
			read = append(read, f)
		}
	}
	slices.SortFunc(read, func(a, b *file) int { return strings.Compare(a.input.Path, b.input.Path) })
	inputs := make([]Input, 0, len(read))
	l.site.InputOf = make(map[string]int, len(read))
	for _, f := range read {
		if n := len(inputs); n == 0 || inputs[n-1] != f.input { // a file may be read twice, see fileKey and readNow
			inputs = append(inputs, f.input)
		}
		l.site.InputOf[f.path] = len(inputs) - 1
	}
	l.site.Inputs = inputs
}
