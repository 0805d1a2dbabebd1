// Package datafile reads data files and compiles them one by one, to a list of keys with their compiled values. The
// result depends on no other file and not on the path, so a Cache can keep it for the next build. Package compile
// decides later which binding of a key wins.
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

// Entry binds a key to a value, which are both indexes in Pools. The position is that of the key.
type Entry struct {
	Key, Value uint32
	Line, Col  uint32
}

// Pools collect the keys and the compiled values (see package recipe) of all files.
type Pools struct{ Keys, Values pool.Pool }

// Format is the format of a data file.
type Format uint8

const (
	YAML          Format = iota // a duplicate key is a warning
	JSON                        // a duplicate key is a warning
	ExtensionJSON               // a duplicate key is an error
	Hiera5YAML                  // the Hiera 5 formats, in which %{...} interpolates, begin here
	Hiera5JSON
	Hiera5EYAML // encrypted strings are decrypted, too
	Classified  // classifier output for one node
	Kinds       // number of formats
)

// IsHiera5 reports whether a format is for Hiera 5.
func (k Format) IsHiera5() bool { return k >= Hiera5YAML && k <= Hiera5EYAML }

// File is a compiled data file.
type File struct {
	Size    int64
	Hash    uint64 // xxhash64 of the content
	Entries []Entry
	Options []Entry // for Hiera 5, the names in lookup_options with their positions, and their whole value
	Broken  string  // position and code of the first error, if the Reader is lenient; the file then has no entries

	kind   Format
	digest [sha256.Size]byte // digest of the content
	id     fsx.FileID        // identity in the file system; zero if it is not reliable
	silent bool              // the file had no diagnostics, so the next build need not parse it again
	cached bool
}

// Reader reads data files. It is safe for concurrent use.
type Reader struct {
	Pools   *Pools
	Lenient bool   // report errors in Hiera 5 files as warnings, see File.Broken
	cache   *Cache // may be nil
	disk    fsx.Disk
	scratch sync.Pool // contains *scratch
}

// scratch is memory that is reused for each file.
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

// giveBack keeps the memory for the next file, unless a large file has made it too large.
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

// Read reads a file. It returns file system errors, and adds errors in the file to diags. Callers must not modify the
// result.
func (r *Reader) Read(path string, kind Format, diags *diag.List) (*File, error) {
	if _, overlaid := r.disk.Overlay.Text(path); r.cache != nil && !overlaid && r.disk.Fence.Allows(path) {
		if f, ok := r.cache.unchanged(r.cache.identify(fsx.FileIDAt(path)), kind); ok {
			r.disk.Seen.Content(path, f.id, f.Hash)
			return f, nil
		}
	}
	s := r.takeScratch()
	defer r.giveBack(s)
	// The identity is that of the open file, because another file may have been renamed to path by now.
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

// Source compiles a file with the content src. path is its name in messages.
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

// warnOfBroken reports the errors of a file as warnings. It returns the position and the code of the first error.
// Messages are not used, because they may quote a sensitive value.
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

// notHash returns a diagnostic for a data file that is not a hash. Hiera 5 treats it like an empty file.
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

// compile compiles a file that has a hash of keys to values, or no data.
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
			s.keys.Add(func(dst []byte) []byte { return append(dst, name...) })
			s.values.Add(func(dst []byte) []byte { return s.texts.Append(dst, doc, val, diags) })
		}
	}
	return s.number(out, r.Pools), nil
}

// number replaces keys and values in entries by their indexes in pools.
func (s *scratch) number(out []Entry, pools *Pools) []Entry {
	keyNumbers, valueNumbers := pools.Keys.Numbers(&s.keys), pools.Values.Numbers(&s.values)
	for i := range out {
		out[i].Key, out[i].Value = keyNumbers[i], valueNumbers[i]
	}
	return out
}

// warnOfLookupOptions warns about the key 'lookup_options', which only has a special meaning in Hiera 5.
func warnOfLookupOptions(doc *yaml.Document, key *yaml.Node, name string, diags *diag.List) {
	if name == "lookup_options" {
		diags.Add(diag.Diagnostic{Pos: doc.Pos(key), Severity: diag.Warning, Code: "lookup_options",
			Message: "'lookup_options' has no special meaning here: it does not determine how values are merged",
			Hint:    "use a multibinding for values that must be merged"})
	}
}
