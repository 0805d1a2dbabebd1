// Package loader reads a site: its configuration, layers and schemes, Hiera 2 directories and structured bindings
// (language.md, sections 2 to 5 and 10). Load returns the bindings as written, with source positions; package compile
// decides which binding wins.
package loader

import (
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/loader/internal/site"
)

// Site is the content of a site: all its bindings and data.
type Site struct {
	Dimensions []Dimension    // categories except common, highest first, followed by guards
	Layers     []Layer        // highest first
	Conditions []Condition    // bindings refer to them by index; the first is empty
	Inputs     []Input        // all files that were read, sorted by path
	InputOf    map[string]int // index in Inputs, by the file name in positions

	Paths map[string][]int // by module, the dimensions that are Hiera 5 paths; "": the site and the global hierarchy

	Hierarchies []Hierarchy // Hiera 5 hierarchies, in lookup order

	Modules   []Module // the modules on the module path, sorted by name
	Manifests string   // the file or directory with the site's manifests; it may be missing
	Types     string   // the directory with the site's type aliases; it may be missing

	Keys   []string // bindings refer to them by index; some may not be bound
	Values []string // compiled values (see package recipe); bindings refer to them by index
}

// Aliases that export types of loader/internal/site.
type (
	// Dimension is a category or a guard. Each request has one value for it.
	Dimension = site.Dimension
	// Condition is a conjunction of terms, sorted by dimension. The empty condition always holds.
	Condition = site.Condition
	// Term holds for requests that have a given value of a dimension.
	Term = site.Term
	// Input is a file that was read.
	Input = site.Input
	// Module is a Puppet module.
	Module = site.Module
	// DataFile is a data file with the condition under which it applies.
	DataFile = site.DataFile
)

// Fold folds the case of a category's value. Values that differ only in case are equal.
func Fold(s string) string { return site.Fold(s) }

// Layer is a group of contributions. In Hiera 5, each path in a hierarchy is a separate layer, and several layers have
// the same name.
type Layer struct {
	Name          string
	Hiera         HieraPart // the part of the Hiera 5 hierarchy, or NoHiera
	Entry         int       // in Hiera 5, the index of the entry in its hierarchy
	OnlyPath      bool      // in Hiera 5, the entry has no other path or glob
	OnlyEntry     bool      // in Hiera 5, the hierarchy has no other entry
	Contributions []Contribution
}

// HieraPart is a level of Hiera 5: global, environment or module. Lookups use the parts in order, and within a part the
// entries in order.
type HieraPart uint8

// The parts of Hiera 5, highest first. NoHiera is for layers outside Hiera 5.
const (
	NoHiera HieraPart = iota
	HieraGlobal
	HieraEnvironment
	HieraModule
	HieraDefaults // default_hierarchy of modules, used for keys that nothing else binds
)

// Contribution is the result of one URI: the files of a Hiera 2 directory or a Hiera 5 path, or structured bindings.
type Contribution struct {
	URI      string
	Config   string // the hiera.yaml of a Hiera 5 hierarchy
	Files    []DataFile
	Bindings []Binding

	Transfers []Transfer
}

// Binding binds a key, or contributes to a multibinding.
type Binding struct {
	Key    string // "" for a contribution without a name
	When   []int  // alternative conditions, as indexes in Site.Conditions; at least one
	Pos    diag.Pos
	Number uint32                 // index of the key in Site.Keys; unused for contributions
	Value  uint32                 // index of the value in Site.Values; unused for contributions
	More   *bindingsfile.Compiled // attributes of a binding in the long form, or nil
}

// Transfer binds parameters of one target to parameters of another. Given lists these parameters. If it is nil, the
// map that the site binds to the key Map lists them. Without such a map, they are the parameters that both targets
// have. They are known only when the whole site has been read.
type Transfer struct {
	When []int // alternative conditions, as indexes in Site.Conditions; at least one
	Pos  diag.Pos

	Target, From   string    // names as in the source
	Keys, FromKeys string    // key prefixes of the parameters of Target and From
	TypeKeys       string    // key prefix of the parameters of Target's type
	Map            string    // key of the parameter map between the types of From and Target
	Given          []Renamed // the parameter map in the statement, or nil

	Like *bindingsfile.Compiled // attributes of the resulting bindings, such as type and sensitivity
}

// Renamed binds the parameter Name of one target to the parameter From of the other.
type Renamed struct {
	Name, From string
	Pos        diag.Pos
}
