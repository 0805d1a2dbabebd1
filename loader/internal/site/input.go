package site

import (
	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/expr"
	"bindc/internal/relation"
)

// Dimension is a category or a guard. Each request has one value for it.
type Dimension struct {
	Name     string
	Category int // for a guard, its file's category, or -1 for common; for a category, its own index
	Guard    bool
	Exact    bool       // values are case-sensitive
	Value    *expr.Node // expression for the value, as text
	Pos      diag.Pos   // for a category, the position of its name
	ValuePos diag.Pos   // position of the text from which Value was parsed
}

// Condition is a conjunction of terms, sorted by dimension. The empty condition always holds.
type Condition = relation.Condition

// Term holds for requests with a given value of a dimension. Value is in lower case unless the dimension is exact.
type Term = relation.Term

// DataFile is a data file with the condition under which it applies. Its entries are already compiled to save memory,
// because a site may have millions.
type DataFile struct {
	Path      string // path for messages
	Condition int    // index in Site.Conditions
	Hidden    bool   // the file is never used, because an earlier backend has the same keys under the same condition
	Entries   []datafile.Entry
	Options   []datafile.Entry // see datafile.File
}

// Pos returns the position of entry i.
func (f *DataFile) Pos(i int) diag.Pos {
	return diag.Pos{File: f.Path, Line: int(f.Entries[i].Line), Col: int(f.Entries[i].Col)}
}

// Input is a file that was read. Path does not depend on where the site is.
type Input struct {
	Path string
	Size int64
	Hash uint64 // xxhash64 of the content
	Made bool   // output of an extension, not a file
}

// Fold folds the case of a category's value. Values that differ only in case are equal.
func Fold(s string) string { return relation.Fold(s) }
