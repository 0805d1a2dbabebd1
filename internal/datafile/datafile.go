// Package datafile compiles the data files of Hiera-2 directories, each by itself: every key with its compiled value. What
// wins is decided when the files of a site are composed; what a file says does not depend on any other, nor on where it is.
package datafile

import (
	"bindc/internal/diag"
	"bindc/internal/literal"
	"bindc/internal/pool"
	"bindc/internal/yaml"
)

// Entry binds a key to a value. Both are numbers in Pools; the place is that of the key.
type Entry struct {
	Key, Value uint32
	Line, Col  uint32
}

// Pools hold the keys and the compiled values (package literal) of many files.
type Pools struct{ Keys, Values pool.Pool }

// Compile makes entries of a parsed file: a hash of keys to values, or nothing. What is wrong goes to diags.
func Compile(doc *yaml.Document, pools *Pools, diags *diag.List) []Entry {
	if doc.Root == nil {
		return nil
	}
	if doc.Root.Kind != yaml.Mapping {
		diags.Errorf(doc.Pos(doc.Root), "data", "expected a hash of keys to values in a data file, found %s", doc.Root.Describe())
		return nil
	}
	out := make([]Entry, 0, len(doc.Root.Kids)/2)
	var buf []byte
	for key, val := range doc.Root.Pairs() {
		name, ok := literal.Key(doc, key, diags)
		if !ok {
			continue
		}
		buf = append(buf[:0], name...)
		e := Entry{Key: pools.Keys.Number(buf), Line: key.Line, Col: key.Col}
		buf = literal.Append(buf[:0], doc, val, diags)
		e.Value = pools.Values.Number(buf)
		out = append(out, e)
	}
	return out
}
