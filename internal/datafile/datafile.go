// Package datafile reads the data files of Hiera-2 directories and compiles each by itself: every key with its compiled
// value. Which binding wins is decided when the files of a site are composed. The entries of a file depend on no other
// file and not on its place, so a Cache can keep them from one build to the next.
package datafile

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/cespare/xxhash/v2"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/literal"
	"bindc/internal/pool"
	"bindc/internal/yaml"
)

// Entry binds a key to a value. Both are numbers in Pools; the place is that of the key.
type Entry struct {
	Key, Value uint32
	Line, Col  uint32
}

// Pools hold the keys and the compiled values (package recipe) of many files.
type Pools struct{ Keys, Values pool.Pool }

// Format says how a file is parsed.
type Format uint8

const (
	YAML          Format = iota // a repeated key is a warning
	JSON                        // likewise
	ExtensionJSON               // a repeated key is an error
	Hiera5YAML                  // of Hiera 5, as are the following: %{...} interpolates
	Hiera5JSON
	Hiera5EYAML // and texts may be encrypted
	Classified  // the output of a classifier for a node
	Kinds       // the number of formats
)

// IsHiera5 reports whether a file is data of Hiera 5.
func (k Format) IsHiera5() bool { return k >= Hiera5YAML && k <= Hiera5EYAML }

// File has the entries of a data file.
type File struct {
	Size    int64
	Hash    uint64 // xxhash64 of the source
	Entries []Entry
	Options []Entry // the names in lookup_options of Hiera 5 with their places, and the whole value
	Broken  string  // of a lenient Reader: where and why the file cannot be read; it has no entries then

	kind   Format
	digest [sha256.Size]byte // of the source
	id     fsx.FileID        // zero: the file is not recognised by it
	silent bool              // no diagnostics; otherwise the next build parses the file again
	cached bool
}

// Reader reads data files. Its methods may be called by several goroutines.
type Reader struct {
	Pools   *Pools
	Lenient bool   // errors in a file of Hiera 5 are warnings, see File.Broken
	cache   *Cache // or nil
	disk    fsx.Disk
	scratch sync.Pool // of *scratch
}

// scratch is memory that is used again for each file.
type scratch struct {
	source       []byte
	tree         yaml.Scratch
	keys, values pool.Batch
	texts        literal.Memo
}

func (r *Reader) takeScratch() *scratch {
	if s, ok := r.scratch.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

// giveBack keeps the memory for the next file, unless an unusually large file made it large.
func (r *Reader) giveBack(s *scratch) {
	if cap(s.source) <= keptSource {
		r.scratch.Put(s)
	}
}

const keptSource = 1 << 20

// NewReader returns a reader of files on d with a cache, which may be nil.
func NewReader(cache *Cache, d fsx.Disk) *Reader {
	if cache == nil {
		return &Reader{Pools: &Pools{}, disk: d}
	}
	return &Reader{Pools: &cache.pools, cache: cache, disk: d}
}

// Read reads the file at path. It returns errors of the file system, and reports errors in the file to diags. Callers
// must not change the result.
func (r *Reader) Read(path string, kind Format, diags *diag.List) (*File, error) {
	if r.cache != nil {
		if f, ok := r.cache.unchanged(r.cache.identify(fsx.FileIDAt(path)), kind); ok {
			r.disk.Seen.Content(path, f.id, f.Hash)
			return f, nil
		}
	}
	s := r.takeScratch()
	defer r.giveBack(s)
	// The identity is that of the open file, because the path may lead to another one by now.
	src, id, err := r.disk.ReadInto(s.source, path)
	if err != nil {
		return nil, err
	}
	s.source = src
	f := r.read(path, src, kind, s, diags)
	if r.cache != nil {
		f.id = r.cache.identify(id, true)
	}
	return &f, nil
}

// Source reads a file with the content src, which messages call path.
func (r *Reader) Source(path string, src []byte, kind Format, diags *diag.List) File {
	return r.read(path, src, kind, &scratch{}, diags)
}

func (r *Reader) read(path string, src []byte, kind Format, s *scratch, diags *diag.List) File {
	f := File{Size: int64(len(src)), Hash: xxhash.Sum64(src), kind: kind}
	if r.cache != nil {
		f.digest = sha256.Sum256(src)
		if same, ok := r.cache.equal(f.digest, kind); ok {
			return same
		}
	}
	own := diag.List{All: diags.All}
	f.Entries, f.Options = r.compile(path, src, kind, s, &own)
	f.silent = own.Empty()
	if r.Lenient && kind.IsHiera5() && own.Failed() {
		f.Entries, f.Options = nil, nil
		f.Broken = warnOfBroken(&own, diags)
	} else {
		diags.AddAll(&own)
	}
	return f
}

// warnOfBroken reports the errors in a file as warnings. It returns the place and the code of the first one. The
// message may quote a sensitive value.
func warnOfBroken(found, diags *diag.List) (first string) {
	for _, d := range found.Sorted() {
		if d.Severity == diag.Error {
			d.Severity = diag.Warning
			d.Message += "; every lookup that reaches this file fails"
			if first == "" {
				first = fmt.Sprintf("line %d: %s", d.Pos.Line, d.Code)
			}
		}
		diags.Add(d)
	}
	return first
}

// notHash returns the diagnostic for a data file that is not a hash. Hiera 5 takes such a file for an empty one.
func notHash(doc *yaml.Document, kind Format) diag.Diagnostic {
	d := diag.Diagnostic{Pos: doc.Pos(doc.Root), Code: "data",
		Message: "expected a hash of keys to values in a data file, found " + doc.Root.Describe()}
	if kind.IsHiera5() {
		d.Severity = diag.Warning
		d.Message += "; to Hiera the file is empty"
	}
	text, _ := doc.Root.Text()
	d.Hint = yaml.KeyHint(text)
	return d
}

// compile compiles the entries of a file that has a hash of keys to values, or nothing.
func (r *Reader) compile(path string, src []byte, kind Format, s *scratch, diags *diag.List) (out, options []Entry) {
	s.keys.Reset()
	s.values.Reset()
	parse := yaml.ParseJSON
	if kind == YAML || kind == Hiera5YAML || kind == Hiera5EYAML || kind == Classified {
		parse = yaml.Parse
	}
	doc, ok := parse(path, src, yaml.Options{LastKeyWins: kind != ExtensionJSON, Hiera5: kind.IsHiera5(),
		Scratch: &s.tree}, diags)
	if ok && kind == Classified {
		return compileClassified(doc, path, s, r.Pools, diags), nil
	}
	if ok && doc.Root == nil && kind == YAML {
		diags.Add(diag.Diagnostic{Pos: diag.Pos{File: doc.File}, Severity: diag.Info, Code: "empty",
			Message: "this file binds nothing", Hint: "write {} if that is meant"})
	}
	if !ok || doc.Root == nil {
		return nil, nil
	}
	if doc.Root.Kind != yaml.Mapping {
		diags.Add(notHash(doc, kind))
		return nil, nil
	}
	if kind.IsHiera5() {
		return compileHiera5(doc, kind, s, r.Pools, diags)
	}
	literal.WarnOfHiera(doc, doc.Root, diags)
	out = make([]Entry, 0, len(doc.Root.Kids)/2)
	slashed := false
	for key, val := range doc.Root.Pairs() {
		if name, ok := literal.Key(doc, key, diags); ok {
			warnOfLookupOptions(doc, key, name, diags)
			literal.CheckReserved(name, doc.Pos(key), &slashed, diags)
			out = append(out, Entry{Line: key.Line, Col: key.Col})
			s.keys.Add(func(dst []byte) []byte { return append(dst, name...) })
			s.values.Add(func(dst []byte) []byte { return s.texts.Append(dst, doc, val, diags) })
		}
	}
	return s.number(out, r.Pools), nil
}

// number sets the numbers of keys and values in entries.
func (s *scratch) number(out []Entry, pools *Pools) []Entry {
	keyNumbers, valueNumbers := pools.Keys.Numbers(&s.keys), pools.Values.Numbers(&s.values)
	for i := range out {
		out[i].Key, out[i].Value = keyNumbers[i], valueNumbers[i]
	}
	return out
}

// warnOfLookupOptions warns about the key 'lookup_options', which has no special meaning outside of Hiera 5.
func warnOfLookupOptions(doc *yaml.Document, key *yaml.Node, name string, diags *diag.List) {
	if name == "lookup_options" {
		diags.Add(diag.Diagnostic{Pos: doc.Pos(key), Severity: diag.Warning, Code: "lookup_options",
			Message: "'lookup_options' is a key as any other: it does not say how values are merged",
			Hint:    "collect what is to be merged in a multibinding"})
	}
}
