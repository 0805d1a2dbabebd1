// Package loader reads a site: its configuration, layers and schemes, Hiera-2 directories and structured bindings
// (language.md, sections 2 to 5 and 10). Load returns the bindings as written, with source positions; package compile
// decides which one wins.
package loader

import (
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/loader/internal/site"
)

// Site has everything that a site binds.
type Site struct {
	Dimensions []Dimension    // the categories except common, highest first, then guards
	Layers     []Layer        // highest first
	Conditions []Condition    // bindings refer to them by index; the first one is empty
	Inputs     []Input        // every file that was read, sorted by path
	InputOf    map[string]int // index in Inputs of a file, by its name in positions

	Paths map[string][]int // the dimensions that are paths of Hiera 5, by module: "" for the site and the global one

	Hierarchies []Hierarchy // of Hiera 5, in the order in which lookups ask them

	Keys   []string // bindings refer to them by number; some may not be bound
	Values []string // likewise, compiled: see package recipe
}

// Types of loader/internal/site, under the names that other packages use.
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

// Layer is a group of contributions. Each path of a hierarchy of Hiera 5 is a layer, in order; they share one name.
type Layer struct {
	Name          string
	Hiera         HieraPart // the part of Hiera 5 that it belongs to
	Entry         int       // of such a layer: the number of the entry in its hierarchy
	OnlyPath      bool      // the entry has no other path or glob
	OnlyEntry     bool      // the hierarchy has no other entry
	Contributions []Contribution
}

// HieraPart is a part of Hiera 5. Lookups merge part by part, and in a part entry by entry.
type HieraPart uint8

// The parts, highest first. Layers of structured bindings have none.
const (
	NoHiera HieraPart = iota
	HieraGlobal
	HieraEnvironment
	HieraModule
	HieraDefaults // default_hierarchy of modules, used if nothing else binds a key
)

// Contribution is what one URI adds to a layer: the files of a Hiera-2 directory, or structured bindings.
type Contribution struct {
	URI      string
	Config   string // of a hierarchy of Hiera 5: its configuration file
	Files    []DataFile
	Bindings []Binding

	Transfers []Transfer
}

// Binding is a structured binding: it binds a key, or contributes to a multibinding.
type Binding struct {
	Key    string // "" for a contribution without a name
	When   []int  // alternatives, indexes in Site.Conditions; at least one
	Pos    diag.Pos
	Number uint32                 // the key in Site.Keys; not for contributions
	Value  uint32                 // the value in Site.Values; not for contributions
	More   *bindingsfile.Compiled // the parts that only the long form has, or nil
}

// Transfer binds parameters of one target to those of another. Which ones is known when the whole site is: those of the
// given map, of the map that is bound, or those that both targets have.
type Transfer struct {
	When []int // alternatives, indexes in Site.Conditions; at least one
	Pos  diag.Pos

	Target, From   string    // as written
	Keys, FromKeys string    // the prefixes of the keys of their parameters
	TypeKeys       string    // the prefix for the type that Target is an instance of
	Map            string    // the key of the map of both types
	Given          []Renamed // the given map, or nil

	Like *bindingsfile.Compiled // the attributes of each parameter: type, sensitivity and others
}

// Renamed is a parameter, and the parameter of the other target that it is bound to.
type Renamed struct {
	Name, From string
	Pos        diag.Pos
}
