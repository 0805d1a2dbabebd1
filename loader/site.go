// Package loader reads a site: its configuration, layers and schemes, Hiera-2 directories and structured bindings
// (language.md, sections 2 to 5 and 10). Load yields what is written there, with a source position on everything; who
// wins is decided by package compile.
package loader

import (
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/datafile"
	"bindc/internal/expr"
	"bindc/internal/relation"
)

// Site is everything a site says.
type Site struct {
	Dimensions []Dimension    // the categories but common, highest first, then guards
	Layers     []Layer        // highest first
	Conditions []Condition    // what bindings refer to by index; the first is the empty one
	Inputs     []Input        // every file that was read, sorted by path
	InputOf    map[string]int // index in Inputs of a file, by its name in positions

	Paths map[string][]int // the dimensions that are paths of Hiera 5, by module: "" for the site and the global one

	Hierarchies []Hierarchy // of Hiera 5, in the order in which lookups ask them

	Keys   []string // what bindings refer to by number; there may be more than are bound
	Values []string // likewise, compiled: see package recipe
}

// Dimension is what a request has one value of: a category, or a guard.
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

// Term asks a dimension to have a value, which is folded to lower case unless the dimension is exact.
type Term = relation.Term

// Layer is a group of contributions. Of a hierarchy of Hiera 5 each path is a layer by itself, in order; these have one
// name.
type Layer struct {
	Name          string
	Hiera         HieraPart // which part of what Hiera 5 looks through it is
	Entry         int       // number of the hierarchy's entry, of such a layer
	OnlyPath      bool      // that has no other path or glob
	OnlyEntry     bool      // the hierarchy has no other entry
	Contributions []Contribution
}

// HieraPart is a part of what Hiera 5 looks through: it merges part by part, and in a part entry by entry.
type HieraPart uint8

// The parts, highest first; what is structured is none.
const (
	NoHiera HieraPart = iota
	HieraGlobal
	HieraEnvironment
	HieraModule
	HieraDefaults // default_hierarchy of modules, which counts where nothing else binds a key
)

// Contribution is what one URI adds to a layer: the files of a Hiera-2 directory, or structured bindings.
type Contribution struct {
	URI      string
	Config   string // the file that configures it, of a hierarchy of Hiera 5
	Files    []DataFile
	Bindings []Binding

	Transfers []Transfer
}

// DataFile is a data file with the condition it stands for. Its bindings are compiled already; a site may have
// millions.
type DataFile struct {
	Path      string // in messages
	Condition int    // index in Site.Conditions
	Hidden    bool   // an earlier backend has these keys for the same requests; they are never used
	Entries   []datafile.Entry
	Options   []datafile.Entry // see datafile.File
}

// Pos is where entry i is written.
func (f *DataFile) Pos(i int) diag.Pos {
	return diag.Pos{File: f.Path, Line: int(f.Entries[i].Line), Col: int(f.Entries[i].Col)}
}

// Binding is a structured binding: it binds a key, or contributes to a multibinding.
type Binding struct {
	Key    string // "" for a contribution without a name
	When   []int  // alternatives, indexes in Site.Conditions; at least one
	Pos    diag.Pos
	Number uint32                 // of the key in Site.Keys; not of a contribution's
	Value  uint32                 // in Site.Values; of a contribution, none
	More   *bindingsfile.Compiled // what only the long form says, or nil
}

// Input is a file that was read. Path does not depend on where the site is.
type Input struct {
	Path string
	Size int64
	Hash uint64 // xxhash64
	Made bool   // by an extension: there is no such file
}

// Fold is how values of categories are compared: without regard to case.
func Fold(s string) string { return relation.Fold(s) }

// Transfer binds parameters of one target to those of another. Which they are is known when all of the site is: those
// of the map that is given, or else of the one that is bound, or else those that both have.
type Transfer struct {
	When []int // alternatives, indexes in Site.Conditions; at least one
	Pos  diag.Pos

	Target, From   string    // as they are written
	Keys, FromKeys string    // what the keys of their parameters begin with
	TypeKeys       string    // those of the type that Target is an instance of
	Map            string    // the key of the map of both types
	Given          []Renamed // the map; nil: none is given

	Like *bindingsfile.Compiled // what is said of each parameter beside its key; of its recipe, type and sensitivity
}

// Renamed is a parameter, and the one of the other target that it is bound to.
type Renamed struct {
	Name, From string
	Pos        diag.Pos
}
