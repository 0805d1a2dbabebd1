// Package snapshot implements the file format: an immutable, checksummed file that maps keys to values, depending on
// category values. format.md specifies every byte. Write stores a Content in a file. Open maps a file into memory,
// where lookups read it in place.
//
// The package knows keys, dimensions, levels and encoded values. It does not know facts or YAML.
package snapshot

// Content is a composed site in the form that snapshots store. Package compile creates it and Write stores it.
type Content struct {
	Layers     []string     // labels, highest first
	Hiera      []HieraPlace // each layer's place in the Hiera 5 hierarchies; nil if no layer belongs to Hiera 5
	Dimensions []Dimension  // the categories, highest first, then the guards
	Levels     []Level      // in order of precedence, highest first
	Keys       []Key        // sorted by name, unique
	Values     []Stored     // keys and entries refer to these by index
	Inputs     []Input      // the files the site was read from, sorted by path
	Strict     bool         // using an unknown variable is an error
	Bindings   int          // number of bindings, including hidden ones
	Sensitive  bool         // contains sensitive values; only the owner and the group may read the file
	Slice      []Term       // if set, the file only answers requests with these values
	ARM8       bool         // some recipes use ARM-8 operations
	Seal       []byte       // the encrypted key that opens the sealed recipes; nil if no recipe is sealed
}

// HieraPart is one part of a Hiera 5 lookup, such as the global hierarchy.
type HieraPart uint8

// The parts, highest first. NoHiera means that a layer does not belong to Hiera 5.
const (
	NoHiera HieraPart = iota
	HieraGlobal
	HieraEnvironment
	HieraModule
	HieraDefaults // the default_hierarchy of a module, used for keys that nothing else binds
	hieraParts
)

// HieraPlace is the position of a layer in the Hiera 5 hierarchies. Hiera 5 merges part by part and, within a part,
// entry by entry.
type HieraPlace struct {
	Part  HieraPart
	Entry int

	OnlyPath  bool // the entry has no other path or glob
	OnlyEntry bool // the hierarchy has no other entry
}

// Dimension is a property with one value per request: a category, or a guard that a Hiera 2 path adds to a category.
type Dimension struct {
	Name     string
	Guard    bool
	Category int    // index of a guard's category, or -1; if the category has no value, the guard has none
	Exact    bool   // values are case-sensitive
	Program  []byte // an encoded expression that returns the value as text
}

// Level is one step in the order of precedence: a layer and the dimensions that a condition names. A request is in at
// most one scope of a level.
type Level struct {
	Layer      int
	Entry      int   // the layer's entry in its hierarchy, for merges that work by entry
	Dimensions []int // ascending; empty for the unconditional level of a layer
	Scopes     []Scope
}

// Scope is a condition: one value for each dimension of the level. Values are in lower case unless the dimension is
// exact.
type Scope struct {
	Values  []string
	Entries []Entry  // sorted by key, unique
	Origins []Origin // origins of the entries, in the same order
}

// origin returns the origin of entry i, or the zero Origin if the content has no origins.
func (s *Scope) origin(i int) Origin {
	if i < len(s.Origins) {
		return s.Origins[i]
	}
	return Origin{}
}

// Entry binds Keys[Key] to Values[Value] in a scope.
type Entry struct{ Key, Value uint32 }

// Key is a name that can be looked up. A name that begins with a NUL byte is internal. For example, the contributions
// to a multibinding have such a name.
//
// Lookups do not read the bindings in Cold, which are compressed. Candidates reads them if the key has hidden
// candidates. A key whose bindings are merged has no Default, because its lookups need all candidates. All its
// bindings are in scopes, the unconditional ones in levels without dimensions.
type Key struct {
	Name    string
	Default int    // index in Values of the unconditional binding, or -1
	Cold    []Cold // in order of precedence; the first one without terms is the binding of Default, if there is one
}

// Cold is a binding that is in no scope. It is the unconditional binding, a binding that higher bindings hide in
// every request, or a contribution. A contribution is one part of the value that an internal key has in a scope.
type Cold struct {
	Above        int // number of levels above the binding
	Layer        int
	Terms        []Term
	Origin       Origin
	Contribution bool
	Value        uint32 // index in Values; set for hidden bindings, and by Snapshot.Content also for the default
}

// Term requires a request to have Value in a dimension.
type Term struct {
	Dimension int
	Value     string
}

// Origin is the source position of a binding: an index into Inputs, and a line and a column that count from 1. Line 0
// means that the position is unknown.
type Origin struct{ Input, Line, Col uint32 }

// Stored is an encoded value (see package value), or the recipe of a computed value (see package recipe).
type Stored struct {
	Computed bool
	Bytes    string
}

// Input is a file that was read. Path is relative to the site.
type Input struct {
	Path string
	Size int64
	Hash uint64 // xxhash64 of the content
}
