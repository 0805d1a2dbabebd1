// Package bindingsfile reads files of structured bindings (language.md, section 5). YAML and Puppet syntax become the
// same tree of statements. The package compiles the attributes of a binding to a recipe, and converts a file to the
// other syntax. It does not know the site around a file: the loader resolves conditions and targets.
package bindingsfile

import (
	"iter"

	"bindc/diag"
	"bindc/internal/expr"
)

// File is a parsed bindings file.
type File struct {
	Pos        diag.Pos
	Name       *Literal // the name in the file, or nil if there is none; undef after an error
	Statements []*Statement
}

// Keyword is the kind of a statement.
type Keyword uint8

// Bind is for bindings of one key, contributions and multibindings. When is for statements in a condition. All other
// keywords bind several keys, or reserved keys.
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

// keywords lists the words in the order of the constants.
var keywords = []string{"bind", "when", "include", "exclude", "parameters", "variables", "map", "dependency"}

func (k Keyword) String() string { return keywords[k] }

// Statement is one statement of a bindings file. Only the fields for the keyword are set. The order of fields minimizes
// the size of the struct, because a file may have millions of statements.
type Statement struct {
	Keyword   Keyword
	Abstract  bool
	Override  bool
	Sensitive bool
	Optional  bool // the binding is skipped if the producer has no value
	Notifies  bool // for Dependency: the arrow is ~>, not ->
	Broken    bool // an attribute has an error, which is reported
	Unsure    bool // an unknown or invalid attribute may be a misspelt required attribute

	Pos    diag.Pos // position of a condition, or of the key of a plain binding; otherwise of the statement
	Key    string   // of Bind; "" if no name is given
	KeyPos diag.Pos // position of the key
	Value  []byte   // compiled value of a plain binding (see package recipe); otherwise nil

	// Attributes of Bind, Parameters, Variables and Map.
	Producers   []Producer // one in a valid binding, or none if it is abstract; the two sides of a Dependency
	Type        *Literal   // source text of the type
	Transformer *Lambda
	Options     *Literal
	Combinator  *expr.Lambda // combinator in Options, or nil
	In          *Literal     // the multibinding that a contribution is for

	Subjects []Literal // classes of Include and Exclude, target of Parameters, types of Map

	// Of When: the statements apply if all pairs of one alternative match.
	Alternatives [][]Pair
	Statements   []*Statement
}

// Arrow returns the arrow of a dependency.
func (s *Statement) Arrow() string {
	if s.Notifies {
		return "~>"
	}
	return "->"
}

// Lambda is a lambda with its position.
type Lambda struct {
	*expr.Lambda
	Pos diag.Pos
}

// Producer is an attribute that produces a binding's value.
type Producer struct {
	Name     string     // the YAML attribute, such as to_lookup_of, or 'rebind'
	Argument *Literal   // argument; for 'to' and 'to_expression', the value if it is constant
	Expr     *expr.Node // the value, if it is not constant; Argument is then its source
}

// Pair matches requests in which a category has one of several values.
type Pair struct {
	Category Literal
	Pos      diag.Pos // position of the values
	Values   []string // the values as in the source
}

// walk yields each statement before the statements nested in it.
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
