// Package datafile reads the data files of Hiera-2 directories and compiles each by itself: every key with its compiled
// value. Which binding wins is decided when the files of a site are composed. The entries of a file depend on no other
// file and not on its place, so a Cache can keep them from one build to the next.
package datafile

import (
	"crypto/sha256"
	"fmt"

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
}

// NewReader returns a reader of files on d with a cache, which may be nil.
func NewReader(cache *Cache, d fsx.Disk) *Reader {
	if cache == nil {
		return &Reader{Pools: &Pools{}, disk: d}
	}
	return &Reader{Pools: &cache.pools, cache: cache, disk: d}
}

// Read reads the file at path. It returns errors of the file system, and reports errors in the file to diags.
func (r *Reader) Read(path string, kind Format, diags *diag.List) (File, error) {
	if r.cache == nil {
		src, err := r.disk.ReadFile(path)
		if err != nil {
			return File{}, err
		}
		return r.Source(path, src, kind, diags), nil
	}
	if f, ok := r.cache.unchanged(r.cache.identify(fsx.FileIDAt(path)), kind); ok {
		r.disk.Seen.Content(path, f.id, f.Hash)
		return f, nil
	}
	open, err := r.disk.Open(path)
	if err != nil {
		return File{}, err
	}
	defer open.Close()
	// The identity is that of the open file, because the path may lead to another one by now. It is read before the
	// content: if the content changes afterwards, the two do not match.
	id := r.cache.identify(fsx.FileIDOf(open))
	src, err := r.disk.Content(open)
	if err != nil {
		return File{}, err
	}
	f := r.Source(path, src, kind, diags)
	f.id = id
	return f, nil
}

// Source reads a file with the content src, which messages call path.
func (r *Reader) Source(path string, src []byte, kind Format, diags *diag.List) File {
	f := File{Size: int64(len(src)), Hash: xxhash.Sum64(src), kind: kind}
	if r.cache != nil {
		f.digest = sha256.Sum256(src)
		if same, ok := r.cache.equal(f.digest, kind); ok {
			return same
		}
	}
	own := diag.List{All: diags.All}
	f.Entries, f.Options = compile(path, src, kind, r.Pools, &own)
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
func compile(path string, src []byte, kind Format, pools *Pools, diags *diag.List) (out, options []Entry) {
	parse := yaml.ParseJSON
	if kind == YAML || kind == Hiera5YAML || kind == Hiera5EYAML || kind == Classified {
		parse = yaml.Parse
	}
	doc, ok := parse(path, src, yaml.Options{LastKeyWins: kind != ExtensionJSON, Hiera5: kind.IsHiera5()}, diags)
	if ok && kind == Classified {
		return compileClassified(doc, path, len(src), pools, diags), nil
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
		return compileHiera5(doc, kind, len(src), pools, diags)
	}
	literal.WarnOfHiera(doc, doc.Root, diags)
	count := len(doc.Root.Kids) / 2
	keys, values := pool.NewBatch(count, len(src)), pool.NewBatch(count, len(src))
	out = make([]Entry, 0, count)
	slashed := false
	for key, val := range doc.Root.Pairs() {
		if name, ok := literal.Key(doc, key, diags); ok {
			warnOfLookupOptions(doc, key, name, diags)
			literal.CheckReserved(name, doc.Pos(key), &slashed, diags)
			out = append(out, Entry{Line: key.Line, Col: key.Col})
			keys.Add(func(dst []byte) []byte { return append(dst, name...) })
			values.Add(func(dst []byte) []byte { return literal.Append(dst, doc, val, diags) })
		}
	}
	return number(out, keys, values, pools), nil
}

// number sets the numbers of keys and values in entries.
func number(out []Entry, keys, values *pool.Batch, pools *Pools) []Entry {
	keyNumbers, valueNumbers := pools.Keys.Numbers(keys), pools.Values.Numbers(values)
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
