// Package snapshot is the file format: an immutable, checksummed file that answers "which value has this key for these
// category values" in place. format.md states every byte. Write makes a file of a Content; Open maps one.
//
// The package knows keys, dimensions, levels and encoded values; it knows neither facts nor YAML.
package snapshot

// Content is what a snapshot holds: the composed site. Package compile makes it, Write stores it.
type Content struct {
	Layers     []string     // labels, highest first
	Hiera      []HieraPlace // what each layer is to Hiera 5; nil: none is of it
	Dimensions []Dimension  // the categories, highest first, then the guards
	Levels     []Level      // in order of precedence, highest first
	Keys       []Key        // sorted by name, unique
	Values     []Stored     // what keys and entries refer to by index
	Inputs     []Input      // the files the site was read from, sorted by path
	Strict     bool         // the use of an unknown variable is an error
	Bindings   int          // how many bindings were composed, hidden ones included
	Sensitive  bool         // some of the values are: not everybody may read the file
	Slice      []Term       // the requests it is for, if not for all: those with these values
	ARM8       bool         // some recipes are those of operations that only ARM-8 has
	Seal       []byte       // what opens those that are encrypted, for who may; nil: none is
}

// HieraPart is a part of what Hiera 5 looks through.
type HieraPart uint8

// The parts, highest first. What is no part is bound by itself.
const (
	NoHiera HieraPart = iota
	HieraGlobal
	HieraEnvironment
	HieraModule
	HieraDefaults // the default_hierarchy of modules, which counts where nothing else binds a key
	hieraParts
)

// HieraPlace is where a layer stands in the hierarchies of Hiera 5, which merges part by part, and in a part entry by
// entry.
type HieraPlace struct {
	Part  HieraPart
	Entry int

	OnlyPath  bool // the entry has no other path or glob
	OnlyEntry bool // the hierarchy has no other entry
}

// Dimension is what a request has one value of: a category, or a guard that a Hiera-2 path adds to one.
type Dimension struct {
	Name     string
	Guard    bool
	Category int    // for a guard, that of its category, without a value of which it has none; else -1
	Exact    bool   // values are compared as they are; else they are folded to lower case
	Program  []byte // an encoded expression that yields the value as text
}

// Level is one place in the order of precedence: a layer and the dimensions a condition names. Among the scopes of a
// level a request is in one at most.
type Level struct {
	Layer      int
	Entry      int   // number of the entry of the layer's hierarchy that it comes from, for merges that go by entries
	Dimensions []int // ascending; empty for the unconditional level of a layer
	Scopes     []Scope
}

// Scope is one condition: a value for each of the level's dimensions, folded to lower case unless the dimension is
// exact.
type Scope struct {
	Values  []string
	Entries []Entry  // sorted by key, unique
	Origins []Origin // of the entries
}

// origin is that of entry i; of a content without origins they are not known.
func (s *Scope) origin(i int) Origin {
	if i < len(s.Origins) {
		return s.Origins[i]
	}
	return Origin{}
}

// Entry binds Keys[Key] to Values[Value] in a scope.
type Entry struct{ Key, Value uint32 }

// Key is a name that can be looked up. Names that begin with a NUL byte are internal: the contributions to a
// multibinding.
//
// What Default hides is cold: a lookup never asks for it, and Candidates decompresses it. A key of which all
// candidates are wanted often, because something merges them, has them all in scopes, the unconditional ones in
// levels without dimensions, and no Default.
type Key struct {
	Name    string
	Default int    // index in Values of the unconditional binding, or -1
	Cold    []Cold // in order of precedence; with a Default, the first that has no terms is its binding
}

// Cold is a binding that is in no scope: the unconditional one, one that something higher hides in every request, or a
// contribution, which is part of what a scope binds an internal key to.
type Cold struct {
	Above        int // how many levels stand above it
	Layer        int
	Terms        []Term
	Origin       Origin
	Contribution bool
	Value        uint32 // of a hidden one, index in Values; Snapshot.Content has it of the unconditional one too
}

// Term asks a dimension for a value.
type Term struct {
	Dimension int
	Value     string
}

// Origin is where a binding is written: a place in one of the Inputs, by index, line and column from 1. Where the
// line is 0 it is not known.
type Origin struct{ Input, Line, Col uint32 }

// Stored is an encoded value (package value), or the recipe of a computed one (package recipe).
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
