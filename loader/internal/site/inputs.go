// Package site reads the files of a site once and gives them to the other packages of the loader. It also finds
// modules, and collects the dimensions and conditions that bindings depend on.
package site

import (
	"bytes"
	"errors"
	"io/fs"
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

// Inputs reads each file of the site once. It parses files while others are still being found.
type Inputs struct {
	Files
	Dir     string
	sets    string  // the directory of the site's own sets of bindings; "": bindings in dir
	Modules Modules // set by the loader when it has found the modules
	Reader  *datafile.Reader
	Share   datafile.Share // selects the data files to read

	byPath [datafile.Kinds + 1]map[string]*File // files by format and path; the last map is for files without data
	expect int                                  // capacity of a new map in byPath
	Found  []*File                              // files in the order in which they were found
	queue  chan *File                           // files waiting for a parser
	found  func()                               // called for each file that is found

	parsers workers
}

// NewInputs returns the inputs of the site in dir. sets is the directory of the site's own bindings files; "" means
// dir/bindings.
func NewInputs(f Files, dir, sets string, reader *datafile.Reader) *Inputs {
	return &Inputs{Files: f, Dir: dir, sets: sets, Reader: reader}
}

// workers starts a goroutine for each piece of work until it reaches a limit. A high limit costs nothing if there is
// little work.
type workers struct {
	sync.WaitGroup
	free int // number of goroutines that may still be started
	work func()
}

func (w *workers) startOne() {
	if w.free > 0 {
		w.free--
		w.Go(w.work)
	}
}

// filesLike returns the files that are read in the same format as f, by path. In Hiera 5, a plain and an eyaml entry
// may both read the same file.
func (in *Inputs) filesLike(f *File) map[string]*File {
	format := datafile.Kinds
	if f.Data {
		format = f.Kind
	}
	if in.byPath[format] == nil {
		in.byPath[format] = make(map[string]*File, in.expect)
	}
	return in.byPath[format]
}

// Expect allocates room for about n more files.
func (in *Inputs) Expect(n int) {
	in.expect = n
	in.Found = slices.Grow(in.Found, n)
}

// File is a file of the site, or the output of an extension.
type File struct {
	Path  string                 // path to open, also used in messages
	Label string                 // name that is the same on every machine
	read  func() ([]byte, error) // calls an extension; nil if the input is the file at Path
	at    diag.Pos               // position of the text that names the extension, for errors
	id    Input

	// Results of parsing. A data file has Content. Other files have doc, which is nil until the file is parsed or if
	// it has an error.
	Data    bool
	Kind    datafile.Format
	Content *datafile.File
	doc     *yaml.Document
	Puppet  *bindingsfile.Puppet // a bindings file in Puppet syntax

	broken []byte // content of a file with a syntax error
}

// SetsDir returns the directory of the bindings files of dir, which is the site or a module.
func (in *Inputs) SetsDir(dir string) string {
	if dir == in.Dir && in.sets != "" {
		return in.sets
	}
	return filepath.Join(dir, "bindings")
}

// Want queues a file for parsing and returns it.
func (in *Inputs) Want(path string) *File {
	return in.Enqueue(&File{Path: path, Label: in.Label(path)})
}

// WantData queues a data file for parsing.
func (in *Inputs) WantData(path, label string) *File {
	kind := datafile.YAML
	if strings.HasSuffix(path, ".json") {
		kind = datafile.JSON
	}
	return in.Enqueue(&File{Path: path, Label: label, Data: true, Kind: kind})
}

// WantFrom queues the JSON output of an extension. Errors in it are reported at the position at.
func (in *Inputs) WantFrom(at diag.Pos, id, label string, data bool, read func() ([]byte, error)) *File {
	return in.Enqueue(&File{Path: id, Label: label, Data: data, read: read, at: at})
}

// Enqueue queues f unless it is already queued, and returns the queued file.
func (in *Inputs) Enqueue(f *File) *File {
	files := in.filesLike(f)
	if same, ok := files[f.Path]; ok {
		return same
	}
	if f.Data {
		f.Content = &noContent
	}
	files[f.Path] = f
	in.Found = append(in.Found, f)
	in.found()
	in.parsers.startOne()
	in.queue <- f
	return f
}

// noContent is the content of a data file that has not been read or has an error.
var noContent datafile.File

// ReadsData reports whether the file at path is read as data, in any format.
func (in *Inputs) ReadsData(path string) bool {
	for _, files := range in.byPath[:datafile.Kinds] {
		if files[path] != nil {
			return true
		}
	}
	return false
}

// ReadNow parses a file immediately, because it determines which other files are read. ok is false if it has an error.
func (in *Inputs) ReadNow(path string) (Document, bool) {
	f := &File{Path: path, Label: in.Label(path)}
	in.Found = append(in.Found, f)
	in.parse(f)
	return Document{f.doc, in.Diags}, f.doc != nil
}

// queueLength is the number of files that may wait for a parser. It is large, so that the number of files in progress
// output grows ahead of the parsing.
const queueLength = 1 << 16

// StartParsing starts to parse queued files, up to jobs at a time. It calls found for each queued file, and parsed for
// each parsed file. The returned function waits for the last file; until then, no content may be used.
func (in *Inputs) StartParsing(jobs int, found, parsed func()) (wait func()) {
	if jobs <= 0 {
		jobs = goruntime.GOMAXPROCS(0)
	}
	if parsed == nil {
		parsed = func() {}
	}
	if in.found = found; found == nil {
		in.found = func() {}
	}
	in.queue = make(chan *File, queueLength)
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

// isDir reports whether a directory is in the place of a data file. To Puppet, such a directory is an unreadable file.
func (in *Inputs) isDir(path string) bool {
	isDir, err := in.Disk.IsDir(path)
	return isDir && err == nil
}

func (in *Inputs) parse(f *File) {
	switch {
	case f.Data && in.Share.Of > 0 && (f.read != nil || !in.Share.Has(f.Label)): // in another share of the data
	case f.read != nil:
		in.parseExtension(f)
	case f.Data:
		content, err := in.Reader.Read(f.Path, f.Kind, in.Diags)
		if err != nil && f.Kind.IsHiera5() && (in.Reader.Lenient || in.isDir(f.Path)) {
			if p, ok := err.(*fs.PathError); ok {
				err = p.Err
			}
			in.Diags.Warnf(diag.Pos{File: f.Path}, "read", "cannot read this: %v; every lookup that reaches this file fails",
				err)
			content = &datafile.File{Broken: "it cannot be read"}
		} else if err != nil {
			in.Failed(f.Path, err)
			return
		}
		if content.Broken != "" {
			failing := *content
			failing.Entries = in.failing(f.Label + ": " + content.Broken)
			content = &failing
		}
		f.setData(content)
	default:
		src, err := in.Disk.ReadFile(f.Path)
		if err != nil {
			in.Failed(f.Path, err)
			return
		}
		if strings.HasSuffix(f.Path, ".pp") {
			f.Identify(src)
			if f.Puppet = bindingsfile.ParsePuppet(f.Path, src, in.Diags); f.Puppet == nil || f.Puppet.Broken() {
				f.broken = src
			}
			return
		}
		parse := yaml.Parse
		if strings.HasSuffix(f.Path, ".json") {
			parse = yaml.ParseJSON
		}
		in.parseDocument(f, src, parse)
	}
}

// failing returns the entries for a file that cannot be read: its lookup_options fail. Puppet reads lookup_options of
// each file that a lookup can reach, so all these lookups fail.
func (in *Inputs) failing(message string) []datafile.Entry {
	r := &recipe.Recipe{Kind: recipe.Expression,
		Expr: expr.HieraFailure("this lookup reaches a file that cannot be read: " + message)}
	return []datafile.Entry{{
		Key:   in.Reader.Pools.Keys.Number([]byte(recipe.LookupOptionsKey)),
		Value: in.Reader.Pools.Values.Number(recipe.Append([]byte{recipe.CompiledRecipe}, r)),
		Line:  1, Col: 1}}
}

func (f *File) setData(content *datafile.File) {
	f.Content = content
	f.id = Input{Path: f.Label, Size: content.Size, Hash: content.Hash, Made: f.read != nil}
}

// HideSecrets hides the content of files with syntax errors that mention the id of a sensitive multibinding. Any line
// in such a file may contribute to the multibinding.
func (in *Inputs) HideSecrets(ids map[string]bool) {
	for _, f := range in.Found {
		for id := range ids {
			if id != "" && bytes.Contains(f.broken, []byte(id)) {
				in.Diags.Hide(f.Path, 0, math.MaxInt)
			}
		}
	}
}

// parser is yaml.Parse or yaml.ParseJSON.
type parser func(file string, src []byte, opts yaml.Options, diags *diag.List) (*yaml.Document, bool)

// Identify records the size and the hash of f.
func (f *File) Identify(src []byte) {
	f.id = Input{Path: f.Label, Size: int64(len(src)), Hash: xxhash.Sum64(src), Made: f.read != nil}
}

// Source returns the parsed bindings file, or nil if it has an error.
func (f *File) Source() bindingsfile.Source {
	switch {
	case f.Puppet != nil:
		return f.Puppet
	case f.doc != nil:
		return bindingsfile.YAML{Document: f.doc}
	}
	return nil
}

func (in *Inputs) parseDocument(f *File, src []byte, parse parser) {
	f.Identify(src)
	if doc, ok := parse(f.Path, src, yaml.Options{}, in.Diags); ok {
		f.doc = doc
	} else {
		f.broken = src
	}
}

var errEmpty = errors.New("it returned nothing: expected JSON, which is {} if a backend has no data")

func (in *Inputs) parseExtension(f *File) {
	src, err := f.read()
	nothing := f.Data && src == nil // no output means that a backend has no data
	if err == nil && !nothing && len(bytes.TrimSpace(src)) == 0 {
		err = errEmpty
	}
	switch {
	case err != nil:
		in.Diags.Add(diag.Diagnostic{Pos: f.at, Code: "extension", Message: f.Path + ": " + err.Error()})
	case nothing:
	case f.Data:
		content := in.Reader.Source(f.Path, src, datafile.ExtensionJSON, in.Diags)
		f.setData(&content)
	default:
		in.parseDocument(f, src, yaml.ParseJSON)
	}
}

// KeepForNextBuild stores the compiled data files in the cache.
func (in *Inputs) KeepForNextBuild(cache *datafile.Cache) {
	if cache == nil {
		return
	}
	files := make([]*datafile.File, 0, len(in.Found))
	for _, f := range in.Found {
		if f.Data {
			files = append(files, f.Content)
		}
	}
	cache.Keep(files)
}

// Label returns the name of a file within its site or module, which is the same on every machine.
func (in *Inputs) Label(path string) string {
	if m, ok := in.Modules.Find(path); ok {
		rel, _ := Below(m.Dir, path)
		return "modules/" + m.Name + "/" + rel
	}
	if rel, ok := Below(in.Dir, path); ok {
		return rel
	}
	return filepath.Base(path)
}

// Sorted returns the files that were read, sorted by path, and the index of each by its file name in positions.
func (in *Inputs) Sorted() (list []Input, at map[string]int) {
	read := make([]*File, 0, len(in.Found))
	for _, f := range in.Found {
		if f.id.Path != "" {
			read = append(read, f)
		}
	}
	slices.SortFunc(read, func(a, b *File) int { return strings.Compare(a.id.Path, b.id.Path) })
	list, at = make([]Input, 0, len(read)), make(map[string]int, len(read))
	for _, f := range read {
		if n := len(list); n == 0 || list[n-1] != f.id { // a file may be read twice, see filesLike and ReadNow
			list = append(list, f.id)
		}
		at[f.Path] = len(list) - 1
	}
	return list, at
}
