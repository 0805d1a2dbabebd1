package loader

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

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
	l := &load{dir: dir, opts: opts, diags: diags, files: map[string]*file{}, conditions: map[string]int{},
		guards: map[string]int{}, listings: map[string][]listed{}, hieraDirs: map[string]*hieraDir{}}
	l.site.Conditions = []Condition{nil}
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
	files      map[string]*file // by path
	queue      []*file          // files to parse, in the order they were found
	conditions map[string]int
	guards     map[string]int       // dimensions of guards, by category and expression
	listings   map[string][]listed  // directories that were walked
	hieraDirs  map[string]*hieraDir // by directory; nil: there is one and it cannot be used
}

// file is one file of the site.
type file struct {
	path  string // to open it, and in messages
	label string // the same on every machine
	mode  yaml.Options
	json  bool
	read  func() ([]byte, error) // of an extension; nil: path is read
	at    diag.Pos               // what asked an extension
	doc   *yaml.Document         // nil until read, or if it cannot be
	input Input
}

// want queues a file to be parsed and returns it; a file is read once, however often it is wanted.
func (l *load) want(path string, mode yaml.Options) *file {
	if f, ok := l.files[path]; ok {
		return f
	}
	f := &file{path: path, label: l.label(path), mode: mode, json: strings.HasSuffix(path, ".json")}
	l.files[path] = f
	l.queue = append(l.queue, f)
	return f
}

// readNow parses a file that decides what else is read.
func (l *load) readNow(path string, mode yaml.Options) *yaml.Document {
	f := l.want(path, mode)
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
	if doc, ok := parse(f.path, src, f.mode, l.diags); ok {
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
	return out
}
