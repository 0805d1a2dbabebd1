package loader

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"bindc/internal/datafile"
	"bindc/internal/diag"
	"bindc/internal/yaml"
)

// Options say how to read a site. The zero value works.
type Options struct {
	ModulePath   []string // directories of modules; default: modules in the site
	BinderConfig string   // file to read in place of binder_config.yaml
	Jobs         int      // files parsed at a time; default: one per processor

	AllowExtensions bool // let programs run that the configuration names as extensions
	Backends        map[string]Backend
	SchemeHandlers  map[string]SchemeHandler
}

// Load reads the site in dir. What is wrong goes to diags; the Site is of use only if diags has not failed.
func Load(dir string, opts Options, diags *diag.List) *Site {
	l := &load{dir: dir, opts: opts, diags: diags, files: map[fileKey]*file{}, conditions: map[string]int{},
		guards: map[string]int{}, listings: map[string][]listed{}, hieraDirs: map[string]*hieraDir{}}
	l.site.Conditions = []Condition{nil}
	l.site.Pools = &datafile.Pools{}
	l.conditions[""] = 0
	cfg := l.config()
	if cfg == nil {
		return &l.site
	}
	l.modules = l.findModules()
	layers := l.plan(cfg)
	l.parseFiles()
	l.assemble(layers)
	l.site.Inputs = l.inputs()
	return &l.site
}

// load is one run of Load.
type load struct {
	dir        string
	opts       Options
	diags      *diag.List
	site       Site
	ext        registry
	modules    []module
	files      map[fileKey]*file
	queue      []*file // files to parse, in the order they were found
	conditions map[string]int
	guards     map[string]int       // dimensions of guards, by category and expression
	listings   map[string][]listed  // directories that were walked
	hieraDirs  map[string]*hieraDir // by directory; nil: there is one and it cannot be used
}

// fileKey identifies a file. One that is data and something else besides is read as both.
type fileKey struct {
	path string
	data bool
}

// file is one file of the site.
type file struct {
	path  string // to open it, and in messages
	label string // the same on every machine
	mode  yaml.Options
	json  bool
	read  func() ([]byte, error) // of an extension; nil: path is read
	at    diag.Pos               // what asked an extension
	input Input

	// What comes of it: for a data file its entries, for other files the document, nil until read, or if it cannot be.
	data    bool
	entries []datafile.Entry
	doc     *yaml.Document
}

// want queues a file to be parsed and returns it; a file is read once, however often it is wanted.
func (l *load) want(path string) *file {
	if f, ok := l.files[fileKey{path, false}]; ok {
		return f
	}
	return l.enqueue(&file{path: path, label: l.label(path), json: strings.HasSuffix(path, ".json")})
}

// wantData queues the data file that is at path in a Hiera-2 directory.
func (l *load) wantData(h *hieraDir, path string) *file {
	full := filepath.Join(h.dir, filepath.FromSlash(path))
	if f, ok := l.files[fileKey{full, true}]; ok {
		return f
	}
	return l.enqueue(&file{path: full, label: h.label + path, data: true, mode: yaml.Options{LastKeyWins: true}, json: strings.HasSuffix(path, ".json")})
}

func (l *load) enqueue(f *file) *file {
	l.files[fileKey{f.path, f.data}] = f
	l.queue = append(l.queue, f)
	return f
}

// readNow parses a file that decides what else is read.
func (l *load) readNow(path string) *yaml.Document {
	f := l.want(path)
	if f.doc == nil {
		l.queue = slices.DeleteFunc(l.queue, func(q *file) bool { return q == f })
		l.parse(f)
	}
	return f.doc
}

// parseFiles parses the queue, several files at a time.
func (l *load) parseFiles() {
	jobs := l.opts.Jobs
	if jobs <= 0 {
		jobs = goruntime.GOMAXPROCS(0)
	}
	next := make(chan *file)
	var done sync.WaitGroup
	for range jobs {
		done.Go(func() {
			for f := range next {
				l.parse(f)
			}
		})
	}
	for _, f := range l.queue {
		next <- f
	}
	close(next)
	done.Wait()
}

func (l *load) parse(f *file) {
	if f.read != nil {
		l.parseExtension(f)
		return
	}
	src, err := os.ReadFile(f.path)
	if err != nil {
		l.diags.Errorf(diag.Pos{File: f.path}, "read", "cannot read the file: %v", reason(err))
		return
	}
	l.parseSource(f, src)
}

func (l *load) parseSource(f *file, src []byte) {
	f.input = Input{Path: f.label, Size: int64(len(src)), Hash: xxhash.Sum64(src)}
	parse := yaml.Parse
	if f.json {
		parse = yaml.ParseJSON
	}
	doc, ok := parse(f.path, src, f.mode, l.diags)
	switch {
	case !ok:
	case f.data: // compiled at once: of fifty thousand files the trees would fill the memory
		f.entries = datafile.Compile(doc, l.site.Pools, l.diags)
	default:
		f.doc = doc
	}
}

func (l *load) parseExtension(f *file) {
	src, err := f.read()
	if err != nil {
		l.extensionFailed(f, err)
		return
	}
	if len(src) > 0 {
		l.parseSource(f, src)
	}
}

// reason is an error of the file system without the path, which the message has already.
func reason(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
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

func (l *load) inputs() []Input {
	var out []Input
	for _, f := range l.files {
		if f.input.Path != "" {
			out = append(out, f.input)
		}
	}
	slices.SortFunc(out, func(a, b Input) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(out) // a file may be read twice, see fileKey
}
