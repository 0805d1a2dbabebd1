// Package datafile reads data files and compiles each of them to a list of keys with their values.
// The result depends neither on the path nor on other files, so that a Cache can keep it for the
// next build. Keys and values are numbers in Pools, which all files share. Package compile decides later which binding
// of a key wins.
package datafile

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/cespare/xxhash/v2"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/literal"
	"bindc/internal/yaml"
)

// Entry binds a key to a value. Key and Value are indexes in Pools; Line and Col are the position
// of the key.
type Entry struct {
	Key, Value uint32
	Line, Col  uint32
}

// Pools store the keys and the compiled values of all files. Package recipe defines the form of
// compiled values.
type Pools struct{ Keys, Values Pool }

// Format is the format of a data file. It determines the syntax of the file, and what its strings can interpolate.
type Format uint8

const (
	YAML          Format = iota // a duplicate key is only a warning
	JSON                        // a duplicate key is only a warning
	ExtensionJSON               // like JSON, but a duplicate key is an error
	Hiera5YAML                  // the first of the Hiera 5 formats, in which %{...} interpolates
	Hiera5JSON
	Hiera5EYAML // like Hiera5YAML, but with encrypted strings
	Classified  // the classifier's output for one node
	Kinds       // number of formats
)

func (k Format) IsHiera5() bool { return k >= Hiera5YAML && k <= Hiera5EYAML }

// File is a compiled data file. It must not be modified.
type File struct {
	Size    int64
	Hash    uint64 // xxhash64 of the content
	Entries []Entry
	Options []Entry // for Hiera 5, an entry for each name in lookup_options; each Value is the whole of lookup_options
	// If not "", the file is invalid and has no entries. Broken is the line and the code of its
	// first error. It is only set by a lenient Reader.
	Broken string

	kind   Format
	digest [sha256.Size]byte // SHA-256 of the content
	id     fsx.FileID        // identity in the file system; zero if it may not be reliable
	silent bool              // compiling the file gave no diagnostics, so that it can be cached
	cached bool
}

// Reader reads and compiles data files. It is safe for concurrent use.
type Reader struct {
	Pools   *Pools
	Lenient bool   // report errors in Hiera 5 files as warnings and set File.Broken
	cache   *Cache // may be nil
	disk    fsx.Disk
	scratch sync.Pool // of *scratch
}

// scratch is memory for compiling one file. It is reused for other files.
type scratch struct {
	source       []byte
	tree         yaml.Scratch
	keys, values batch
	texts        literal.Memo
}

func (r *Reader) takeScratch() *scratch {
	if s, ok := r.scratch.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

// giveBack keeps s for another file, unless a large file has made its buffer too large.
func (r *Reader) giveBack(s *scratch) {
	if cap(s.source) <= keptSource {
		r.scratch.Put(s)
	}
}

const keptSource = 1 << 20

// NewReader returns a Reader for files on d. cache may be nil.
func NewReader(cache *Cache, d fsx.Disk) *Reader {
	if cache == nil {
		return &Reader{Pools: &Pools{}, disk: d}
	}
	return &Reader{Pools: &cache.pools, cache: cache, disk: d}
}

// Read reads and compiles a file, or returns it from the cache. It adds errors in the file to diags
// and returns file system errors. The caller must not modify the File.
func (r *Reader) Read(path string, kind Format, diags *diag.List) (*File, error) {
	if _, overlaid := r.disk.Overlay.Text(path); r.cache != nil && !overlaid && r.disk.Fence.Allows(path) {
		if f, ok := r.cache.unchanged(r.cache.identify(fsx.FileIDAt(path)), kind); ok {
			r.disk.Seen.Content(path, f.id, f.Hash)
			return f, nil
		}
	}
	s := r.takeScratch()
	defer r.giveBack(s)
	// This is the identity of the opened file. By now, path may be another file.
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

// Source compiles src. path is the name of the file in diagnostics.
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

// warnOfBroken adds the diagnostics of a file to diags, with errors changed to warnings. It returns
// the line and the code of the first error. It leaves out the message, which may quote a sensitive
// value.
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

// notHash returns the diagnostic for a data file that is not a hash. It is only a warning for Hiera
// 5, which treats such a file as empty.
func notHash(doc *yaml.Document, kind Format) diag.Diagnostic {
	d := diag.Diagnostic{Pos: doc.Pos(doc.Root), Code: "data",
		Message: "expected a hash of keys to values in a data file, found " + doc.Root.Describe()}
	if kind.IsHiera5() {
		d.Severity = diag.Warning
		d.Message += "; Hiera treats the file as empty"
	}
	d.Hint, d.Fix = doc.AsEntry(doc.Root)
	return d
}

// compile compiles a file. It returns no entries if the file is empty or invalid.
func (r *Reader) compile(path string, src []byte, kind Format, s *scratch, diags *diag.List) (out, options []Entry) {
	s.keys.reset()
	s.values.reset()
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
			Message: "this file binds nothing", Hint: "write {} if this is intentional"})
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
			s.keys.add(func(dst []byte) []byte { return append(dst, name...) })
			s.values.add(func(dst []byte) []byte { return s.texts.Append(dst, doc, val, diags) })
		}
	}
	return s.number(out, r.Pools), nil
}

// number sets the keys and values of entries to their indexes in pools.
func (s *scratch) number(out []Entry, pools *Pools) []Entry {
	keyNumbers, valueNumbers := pools.Keys.numbered(&s.keys), pools.Values.numbered(&s.values)
	for i := range out {
		out[i].Key, out[i].Value = keyNumbers[i], valueNumbers[i]
	}
	return out
}

// warnOfLookupOptions warns about the key lookup_options in a file that is not for Hiera 5.
func warnOfLookupOptions(doc *yaml.Document, key *yaml.Node, name string, diags *diag.List) {
	if name == "lookup_options" {
		diags.Add(diag.Diagnostic{Pos: doc.Pos(key), Severity: diag.Warning, Code: "lookup_options",
			Message: "'lookup_options' has no special meaning here: it does not determine how values are merged",
			Hint:    "use a multibinding for values that must be merged"})
	}
}
