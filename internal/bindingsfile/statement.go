// Package bindingsfile reads files of structured bindings (language.md, section 5). YAML and the syntax of Puppet
// become the same tree of statements. The package compiles the attributes of a binding to a recipe, and converts a file
// to the other syntax. It does not know the site around a file: the loader resolves conditions and targets.
package bindingsfile

import (
	"iter"

	"bindc/diag"
	"bindc/internal/expr"
)

// File is one file of bindings.
type File struct {
	Pos        diag.Pos
	Name       *Literal // the name written in the file, or nil; undef after an error
	Statements []*Statement
}

// Keyword is the kind of a statement.
type Keyword uint8

// Bind binds a key, contributes to a multibinding, or collects contributions. When has statements that depend on a
// condition. The other statements bind several keys, or reserved ones.
const (
	Bind Keyword = iota
	When
	Include
	Exclude
	Parameters
	Variables
	Map
	Dependency
)

// keywords has the words of the constants above, in their order.
var keywords = []string{"bind", "when", "include", "exclude", "parameters", "variables", "map", "dependency"}

func (k Keyword) String() string { return keywords[k] }

// Statement is one statement. Fields that its keyword does not use are zero. The order of the fields keeps it small, as
// a file may have very many.
type Statement struct {
	Keyword   Keyword
	Abstract  bool
	Override  bool
	Sensitive bool
	Optional  bool // the producer may yield nothing
	Notifies  bool // of Dependency: ~>, not ->
	Broken    bool // an attribute could not be read; the error is reported
	Unsure    bool // an attribute is unknown or unreadable, and may be the one that seems to be missing

	Pos    diag.Pos // of When, where the condition is; of a binding without attributes, where the key is
	Key    string   // of Bind; "" if no name is given
	KeyPos diag.Pos // where the name is
	Value  []byte   // of Bind without attributes: the compiled value, see package recipe; nil otherwise

	// The attributes of Bind, Parameters, Variables and Map.
	Producers   []Producer // there should be one; of Dependency both sides
	Type        *Literal   // the text of a type
	Transformer *Lambda
	Options     *Literal
	Combinator  *expr.Lambda // the combinator in Options, or nil
	In          *Literal     // the multibinding that the binding contributes to

	Subjects []Literal // the classes of Include and Exclude, the target of Parameters, the two types of Map

	// Of When: the statements apply where all pairs of any alternative match.
	Alternatives [][]Pair
	Statements   []*Statement
}

// Arrow returns the arrow between the sides of a dependency.
func (s *Statement) Arrow() string {
	if s.Notifies {
		return "~>"
	}
	return "->"
}

// Lambda is a lambda and its place.
type Lambda struct {
	*expr.Lambda
	Pos diag.Pos
}

// Producer is an attribute that produces the value.
type Producer struct {
	Name     string     // the attribute in YAML, such as to_lookup_of; `rebind` names the key itself
	Argument *Literal   // its argument; of `to` and `to_expression` the value, if it is known now
	Expr     *expr.Node // of these two, the expression of a value that is not known; Argument is its source
}

// Pair matches a category that has one of several values.
type Pair struct {
	Category Literal
	Pos      diag.Pos // of the values
	Values   []string // as written
}

// walk ranges over the statements and those nested in them, each before its own.
func walk(list []*Statement) iter.Seq[*Statement] {
	return func(yield func(*Statement) bool) { visit(list, yield) }
}

func visit(list []*Statement, yield func(*Statement) bool) bool {
	for _, s := range list {
		if !yield(s) || !visit(s.Statements, yield) {
			return false
		}
	}
	return true
}
