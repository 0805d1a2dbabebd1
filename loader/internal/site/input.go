package site

import (
	"bindc/diag"
	"bindc/internal/datafile"
	"bindc/internal/expr"
	"bindc/internal/relation"
)

// Dimension is a category or a guard. A request has one value of it.
type Dimension struct {
	Name     string
	Category int // for a guard, the dimension of its file's category, -1 if that is common; for a category itself
	Guard    bool
	Exact    bool       // the case of values counts
	Value    *expr.Node // yields the value as text
	Pos      diag.Pos   // of a category: the position of its name
	ValuePos diag.Pos   // the position of the text that Value is from
}

// Condition is a set of terms that must all hold, sorted by dimension. The empty condition always holds.
type Condition = relation.Condition

// Term requires a value of a dimension. The value is in lower case unless the dimension is exact.
type Term = relation.Term

// DataFile is a data file with the condition it is for. Its bindings are compiled already, because a site may have
// millions.
type DataFile struct {
	Path      string // in messages
	Condition int    // index in Site.Conditions
	Hidden    bool   // an earlier backend has these keys for the same requests; they are never used
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
	Hash uint64 // xxhash64
	Made bool   // by an extension: there is no such file
}

// Fold folds the case of a value of a category: values that differ only in case are equal.
func Fold(s string) string { return relation.Fold(s) }
