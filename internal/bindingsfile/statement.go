// Package bindingsfile reads files of structured bindings in YAML or Puppet syntax, see
// language.md, section 5. Both syntaxes become the same statements. The package compiles the
// attributes of a binding to a recipe, and converts files from one syntax to the other. It does not
// know the rest of the site: the loader resolves conditions and targets.
package bindingsfile

import (
	"iter"

	"bindc/diag"
	"bindc/internal/expr"
)

type File struct {
	Pos        diag.Pos
	Name       *Literal // nil if the file has no name; undef if the name is invalid
	Statements []*Statement
}

type Keyword uint8

// Bind is for bindings of a single key, contributions and multibindings, and When for statements
// with a condition. All other keywords bind several keys or reserved keys.
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

var keywords = []string{"bind", "when", "include", "exclude", "parameters", "variables", "map", "dependency"}

func (k Keyword) String() string { return keywords[k] }

// Statement is a statement of a bindings file. Only the fields for its keyword are set. The fields
// are ordered to make the struct small, because a file may have millions of statements.
type Statement struct {
	Keyword   Keyword
	Abstract  bool
	Override  bool
	Sensitive bool
	Optional  bool // skip the binding if the producer has no value
	Notifies  bool // for Dependency: whether the arrow is ~> rather than ->
	Broken    bool // whether an error in an attribute was reported
	Unsure    bool // whether an unknown or invalid attribute may be a misspelt required one

	Pos    diag.Pos // position of the condition of When, of the key of a plain binding, or of the statement
	Key    string   // for Bind; "" if it has no name
	KeyPos diag.Pos // position of the key
	Value  []byte   // compiled value of a plain binding, see package recipe; otherwise nil

	// Attributes of Bind, Parameters, Variables and Map.
	Producers   []Producer // exactly one if the binding is valid and not abstract; both sides of a Dependency
	Type        *Literal   // source text
	Transformer *Lambda
	Options     *Literal
	Combinator  *expr.Lambda // lambda in Options; may be nil
	In          *Literal     // multibinding to which the binding contributes

	Subjects []Literal // classes of Include or Exclude, target of Parameters, or types of Map

	// For When. The statements apply if all pairs of an alternative match.
	Alternatives [][]Pair
	Statements   []*Statement
}

// Arrow returns the arrow of a dependency, -> or ~>.
func (s *Statement) Arrow() string {
	if s.Notifies {
		return "~>"
	}
	return "->"
}

type Lambda struct {
	*expr.Lambda
	Pos diag.Pos
}

// Producer is the attribute that determines the value of a binding.
type Producer struct {
	Name     string     // YAML attribute, such as to_lookup_of
	Argument *Literal   // argument; for 'to' and 'to_expression', the value as written
	Expr     *expr.Node // value if it is not constant; otherwise nil
}

// Pair is a condition on a category. It matches if the category has one of the values.
type Pair struct {
	Category Literal
	Pos      diag.Pos // position of the values
	Values   []string // as in the source
}

// walk returns an iterator over all statements, including nested ones. A statement precedes those
// nested in it.
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
