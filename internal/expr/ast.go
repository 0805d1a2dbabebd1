// Package expr implements the expression language of the bindings (language.md, section 7): its
// syntax tree, the encoding of the tree in a snapshot, and the evaluator. Package syntax parses
// source text into these trees; a lookup only evaluates. Callers pass the functions that an
// expression can call in Options, usually the table of package stdlib.
package expr

import (
	"slices"

	"bindc/internal/value"
)

// Op is the kind of a Node. It determines the meaning of the node's Kids.
type Op uint8

const (
	Const    Op = iota // Value; also undef, default and regular expressions
	Var                // Name; in a lambda it may begin with ::, which skips all parameters
	Concat             // Kids are joined as text: a string with interpolations
	ArrayLit           // Kids are elements
	HashLit            // Kids are key, value, key, value...
	Splat              // Kids[0], spread into the surrounding list
	Access             // Kids[0][Kids[1], ...]; on a TypeName this parameterizes a type
	TypeName           // Name: Integer, Foo::Bar
	Call               // Name(Kids...) with Lambda if not nil; a.f(b) is Call f with Kids a, b
	Unary              // Name is ! or -; Kids[0]
	Binary             // Name is the operator (+ - * / % << >> == != < <= > >= =~ !~ in and or); Kids[0], Kids[1]
	If                 // Kids: condition, then, else; unless is If with the branches swapped
	Case               // Kids[0] is the control, the others are Option nodes
	Selector           // Kids[0] is the control, the others are Option nodes
	Option             // Kids: the values that match, then the result
	Assign             // Name = Kids[0]; without Name the targets are Kids[1:]: Vars and ArrayLits of targets
	Block              // Kids in order; the value is that of the last, or undef without Kids
)

// Node is one node of the tree. Nodes are immutable once parsed and may be evaluated concurrently.
type Node struct {
	Op     Op
	Off    int // byte offset in the source text, for messages
	Name   string
	Value  value.Value
	Kids   []*Node
	Lambda *Lambda
}

// Lambda is a lambda: |$a, $b = 1, *$rest| { ... }.
type Lambda struct {
	Params []Param
	Body   *Node
}

// Param is a parameter of a lambda. Type and Default may be nil. Rest marks *$name, which must be
// the last.
type Param struct {
	Name    string
	Type    *Node
	Default *Node
	Rest    bool
}

// Placeless returns n without offsets, so that equal expressions at different offsets compare as
// equal. It returns nil for nil.
func (n *Node) Placeless() *Node {
	if n == nil {
		return nil
	}
	out := *n
	out.Off = 0
	out.Kids = make([]*Node, len(n.Kids))
	for i, kid := range n.Kids {
		out.Kids[i] = kid.Placeless()
	}
	out.Lambda = n.Lambda.Placeless()
	return &out
}

// Placeless returns l without offsets.
func (l *Lambda) Placeless() *Lambda {
	if l == nil {
		return nil
	}
	out := &Lambda{Params: slices.Clone(l.Params), Body: l.Body.Placeless()}
	for i := range out.Params {
		p := &out.Params[i]
		p.Type, p.Default = p.Type.Placeless(), p.Default.Placeless()
	}
	return out
}

// Constant returns the value of n, and reports whether n is a literal.
func (n *Node) Constant() (value.Value, bool) {
	if n.Op == Const {
		return n.Value, true
	}
	return value.Value{}, false
}
