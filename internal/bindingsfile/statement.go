// Package set is a set of bindings as it is written (language.md, section 5): a tree of statements, the same whatever
// the syntax. A reader makes it of YAML; what the statements come to in a site is decided where it is compiled.
package bindingsfile

import (
	"bindc/internal/diag"
)

// Set is what one file of bindings says.
type Set struct {
	Pos        diag.Pos
	Name       *Literal // as it says itself, nil if it does not; undef where that cannot be read
	Statements []Statement
}

// Statement is one thing that a set says: a *When, a *Plain, or a *Binding; or a *Classes, *Parameters, *Variables,
// *Map or *Dependency, which come to bindings of several keys, or of keys that are reserved.
type Statement interface{ statement() }

// When has statements that are effective where any of several alternatives holds.
type When struct {
	Pos          diag.Pos // of what it asks
	Alternatives [][]Pair // of each, all pairs hold
	Statements   []Statement
}

// Pair asks a category to have one of several values.
type Pair struct {
	Category Literal
	Pos      diag.Pos // of the values
	Values   []string // as they are written
}

// Plain binds a key to a value, of which nothing else is said.
type Plain struct {
	Pos   diag.Pos
	Key   string
	Value []byte // compiled: see package recipe
}

// Binding is a binding that says more.
type Binding struct{ Attributes }

// Classes includes classes, or excludes them.
type Classes struct {
	Pos     diag.Pos
	Exclude bool
	Names   []Literal
}

// Parameters binds the parameters of a target, which is a class, a type or an instance. Its producer is `to`: a hash of
// parameters, or the text of a target.
type Parameters struct {
	Target Literal
	Attributes
}

// Variables binds variables. Its producer is `to`: a hash of them, or a list of names where it is abstract.
type Variables struct{ Attributes }

// Map says which parameter of one target is which of another. Its producer is `to`: a hash.
type Map struct {
	From, To Literal
	Attributes
}

// Dependency says that From comes before To.
type Dependency struct {
	Pos      diag.Pos
	From, To Producer // both `to`
	Kind     string   // -> or ~>
}

func (*When) statement()       {}
func (*Plain) statement()      {}
func (*Binding) statement()    {}
func (*Classes) statement()    {}
func (*Parameters) statement() {}
func (*Variables) statement()  {}
func (*Map) statement()        {}
func (*Dependency) statement() {}
