package loader

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/datafile"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/yaml"
)

// inputs are the files of a site that are read, each once. They are parsed while others are still being found.
type inputs struct {
	files
	dir     string
	sets    string  // the directory of the site's own sets of bindings; "": bindings in dir
	modules modules // as far as they are known
	reader  *datafile.Reader

	byPath map[inputKey]*input
	found  []*input    // in the order they were found
	queue  chan *input // those that are not parsed yet

	parsers workers
}

// newInputs returns the inputs of the site in dir, which has its own sets of bindings in sets, or in bindings if that is
// "".
func newInputs(f files, dir, sets string, reader *datafile.Reader) *inputs {
	return &inputs{files: f, dir: dir, sets: sets, reader: reader, byPath: map[inputKey]*input{}}
}

// workers starts goroutines as work arrives, up to a limit, so that a high limit costs nothing by itself.
type workers struct {
	sync.WaitGroup
	free int // how many may still be started
	work func()
}

func (w *workers) startOne() {
	if w.free > 0 {
		w.free--
		w.Go(w.work)
	}
}

// inputKey identifies a file and the way it is read. A file that a plain and an eyaml entry of Hiera 5 can reach is
// read as both kinds.
type inputKey struct {
	path string
	data bool
	kind datafile.Kind
}

// input is one file of the site.
type input struct {
	path  string                 // to open it, and in messages
	label string                 // the same on every machine
	read  func() ([]byte, error) // of an extension; nil: path is read
	at    diag.Pos               // what asked an extension
	id    Input

	// What comes of it: of a data file its entries, of other files the document, nil until read, or if it cannot be.
	data   bool
	kind   datafile.Kind
	says   datafile.File
	doc    *yaml.Document
	puppet *bindingsfile.Puppet // of a file in the syntax of Puppet

	broken []byte // what could not be read, or not all of it
}

// setsDir is the directory of the sets of bindings that belong to dir, the site or a module.
func (in *inputs) setsDir(dir string) string {
	if dir == in.dir && in.sets != "" {
		return in.sets
	}
	return filepath.Join(dir, "bindings")
}

// want queues a file to be parsed and returns it.
func (in *inputs) want(path string) *input {
	return in.enqueue(&input{path: path, label: in.label(path)})
}

// wantData queues a data file.
func (in *inputs) wantData(path, label string) *input {
	kind := datafile.YAML
	if strings.HasSuffix(path, ".json") {
		kind = datafile.JSON
	}
	return in.enqueue(&input{path: path, label: label, data: true, kind: kind})
}

// wantFrom queues JSON that an extension yields. What is wrong with it is reported at the place that asked for it.
func (in *inputs) wantFrom(at diag.Pos, id, label string, data bool, read func() ([]byte, error)) *input {
	return in.enqueue(&input{path: id, label: label, data: data, read: read, at: at})
}

// enqueue queues f, unless it is already.
func (in *inputs) enqueue(f *input) *input {
	key := inputKey{f.path, f.data, f.kind}
	if known, ok := in.byPath[key]; ok {
		return known
	}
	in.byPath[key] = f
	in.found = append(in.found, f)
	in.parsers.startOne()
	in.queue <- f
	return f
}

// readsData reports whether the file at path is read as data of any kind.
func (in *inputs) readsData(path string) bool {
	for kind := range datafile.Kinds {
		if in.byPath[inputKey{path, true, kind}] != nil {
			return true
		}
	}
	return false
}

// readNow parses a file that decides what else is read. Not ok: it is none.
func (in *inputs) readNow(path string) (document, bool) {
	f := &input{path: path, label: in.label(path)}
	in.found = append(in.found, f)
	in.parse(f)
	return document{f.doc, in.diags}, f.doc != nil
}

// startParsing has files parsed as they are found, several at a time. The function it returns waits for the last one;
// what files say is not looked at before.
func (in *inputs) startParsing(jobs int, parsed func()) (wait func()) {
	if jobs <= 0 {
		jobs = goruntime.GOMAXPROCS(0)
	}
	if parsed == nil {
		parsed = func() {}
	}
	in.queue = make(chan *input, 1024)
	in.parsers.free = jobs
	in.parsers.work = func() {
		for f := range in.queue {
			in.parse(f)
			parsed()
		}
	}
	return func() {
		close(in.queue)
		in.parsers.Wait()
	}
}

func (in *inputs) parse(f *input) {
	switch {
	case f.read != nil:
		in.parseExtension(f)
	case f.data:
		says, err := in.reader.Read(f.path, f.kind, in.diags)
		if err != nil && in.reader.Lenient && f.kind.IsHiera5() {
			in.diags.Warnf(diag.Pos{File: f.path}, "read", "cannot read this: %v; every lookup that reaches this file fails",
				err)
			says.Broken = "it cannot be read"
		} else if err != nil {
			in.failed(f.path, err)
			return
		}
		if says.Broken != "" {
			says.Entries = in.failing(f.label + ": " + says.Broken)
		}
		f.setData(says)
	default:
		src, err := in.disk.ReadFile(f.path)
		if err != nil {
			in.failed(f.path, err)
			return
		}
		if strings.HasSuffix(f.path, ".pp") {
			f.identify(src)
			if f.puppet = bindingsfile.ParsePuppet(f.path, src, in.diags); f.puppet == nil || f.puppet.Broken() {
				f.broken = src
			}
			return
		}
		parse := yaml.Parse
		if strings.HasSuffix(f.path, ".json") {
			parse = yaml.ParseJSON
		}
		in.parseDocument(f, src, parse)
	}
}

// failing returns the entries of a file that cannot be read. Puppet reads the lookup_options of every file that a
// lookup can reach, so lookup_options that fail are what such a file means to it.
func (in *inputs) failing(message string) []datafile.Entry {
	r := &recipe.Recipe{Kind: recipe.Expression,
		Expr: expr.HieraFailure("this lookup reaches a file that cannot be read: " + message)}
	return []datafile.Entry{{
		Key:   in.reader.Pools.Keys.Number([]byte(recipe.LookupOptionsKey)),
		Value: in.reader.Pools.Values.Number(recipe.Append([]byte{recipe.CompiledRecipe}, r)),
		Line:  1, Col: 1}}
}

func (f *input) setData(says datafile.File) {
	f.says = says
	f.id = Input{Path: f.label, Size: says.Size, Hash: says.Hash, Made: f.read != nil}
}

// hideSecrets keeps files out of messages that could not be read and have the id of a multibinding that is sensitive in
// them: which lines contribute to that cannot be told.
func (in *inputs) hideSecrets(ids map[string]bool) {
	for _, f := range in.found {
		for id := range ids {
			if id != "" && bytes.Contains(f.broken, []byte(id)) {
				in.diags.Hide(f.path, 0, math.MaxInt)
			}
		}
	}
}

// parser is yaml.Parse or yaml.ParseJSON.
type parser func(file string, src []byte, opts yaml.Options, diags *diag.List) (*yaml.Document, bool)

// identify notes which file f is.
func (f *input) identify(src []byte) {
	f.id = Input{Path: f.label, Size: int64(len(src)), Hash: xxhash.Sum64(src), Made: f.read != nil}
}

// source is the set of bindings in f, nil if it cannot be read.
func (f *input) source() bindingsfile.Source {
	switch {
	case f.puppet != nil:
		return f.puppet
	case f.doc != nil:
		return bindingsfile.YAML{Document: f.doc}
	}
	return nil
}

func (in *inputs) parseDocument(f *input, src []byte, parse parser) {
	f.identify(src)
	if doc, ok := parse(f.path, src, yaml.Options{}, in.diags); ok {
		f.doc = doc
	} else {
		f.broken = src
	}
}

var errEmpty = errors.New("it gave nothing: expected JSON, which is {} where a backend has no data")

func (in *inputs) parseExtension(f *input) {
	src, err := f.read()
	nothing := f.data && src == nil // a backend has nothing here
	if err == nil && !nothing && len(bytes.TrimSpace(src)) == 0 {
		err = errEmpty
	}
	switch {
	case err != nil:
		in.diags.Add(diag.Diagnostic{Pos: f.at, Code: "extension", Message: f.path + ": " + err.Error()})
	case nothing:
	case f.data:
		f.setData(in.reader.Source(f.path, src, datafile.ExtensionJSON, in.diags))
	default:
		in.parseDocument(f, src, yaml.ParseJSON)
	}
}

// keepForNextBuild gives the cache what the data files say.
func (in *inputs) keepForNextBuild(cache *datafile.Cache) {
	if cache == nil {
		return
	}
	files := make([]datafile.File, 0, len(in.found))
	for _, f := range in.found {
		if f.data {
			files = append(files, f.says)
		}
	}
	cache.Keep(files)
}

// label names a file by its place in the site or in its module, not by where those are.
func (in *inputs) label(path string) string {
	if m, ok := in.modules.of(path); ok {
		rel, _ := below(m.dir, path)
		return "modules/" + m.name + "/" + rel
	}
	if rel, ok := below(in.dir, path); ok {
		return rel
	}
	return filepath.Base(path)
}

// sorted lists what was read, and where in the list a file is by the name it has in positions.
func (in *inputs) sorted() (list []Input, at map[string]int) {
	read := make([]*input, 0, len(in.found))
	for _, f := range in.found {
		if f.id.Path != "" {
			read = append(read, f)
		}
	}
	slices.SortFunc(read, func(a, b *input) int { return strings.Compare(a.id.Path, b.id.Path) })
	list, at = make([]Input, 0, len(read)), make(map[string]int, len(read))
	for _, f := range read {
		if n := len(list); n == 0 || list[n-1] != f.id { // a file may be read twice, see inputKey and readNow
			list = append(list, f.id)
		}
		at[f.path] = len(list) - 1
	}
	return list, at
}
