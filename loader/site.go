// Package loader reads a site: its configuration, layers and schemes, Hiera-2 directories and structured bindings
// (language.md, sections 2 to 5 and 10). Load yields what is written there, with a source position on everything; who
// wins is decided by package compile.
package loader

import (
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/loader/internal/site"
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

// What the readers of a site share, under the names that the other packages use.
type (
	// Dimension is a category, or a guard. A request has one value of each.
	Dimension = site.Dimension
	// Condition is a set of terms that must all hold, sorted by dimension. The empty condition always holds.
	Condition = site.Condition
	// Term requires a value of a dimension.
	Term = site.Term
	// Input is a file that was read.
	Input = site.Input
	// DataFile is a data file with the condition it is for.
	DataFile = site.DataFile
)

// Fold folds the case of a value of a category, so that values that differ only in case are equal.
func Fold(s string) string { return site.Fold(s) }

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

// Binding is a structured binding: it binds a key, or contributes to a multibinding.
type Binding struct {
	Key    string // "" for a contribution without a name
	When   []int  // alternatives, indexes in Site.Conditions; at least one
	Pos    diag.Pos
	Number uint32                 // of the key in Site.Keys; not of a contribution's
	Value  uint32                 // in Site.Values; of a contribution, none
	More   *bindingsfile.Compiled // what only the long form says, or nil
}

// Transfer binds parameters of one target to those of another. Which they are is known when all of the site is: those
// of the map that is given, otherwise of the one that is bound, otherwise those that both have.
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
