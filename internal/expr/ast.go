// Package expr implements the expressions of bindings (language.md, section 7): their syntax tree, its encoding in
// snapshots, and its evaluation. Package syntax parses source text. Lookups evaluate decoded trees and never parse.
// Callers specify in Options which functions an expression may call, usually those of package stdlib.
package expr

import (
	"slices"

	"bindc/internal/value"
)

// Op identifies what a Node does, and therefore what its Kids mean.
type Op uint8

const (
	Const    Op = iota // Value, which may also be undef, default or a regular expression
	Var                // the variable Name; a leading :: skips the parameters of lambdas
	Concat             // the texts of Kids joined: a string with interpolations
	ArrayLit           // an array of Kids
	HashLit            // a hash; Kids alternate between keys and values
	Splat              // the elements of Kids[0], added to the surrounding list
	Access             // Kids[0][Kids[1], ...]; for a TypeName, the other Kids are parameters
	TypeName           // the type Name, for example Integer or Foo::Bar
	Call               // Name(Kids...), with Lambda unless nil; a.f(b) is f(a, b)
	Unary              // the operator Name, ! or -, applied to Kids[0]
	Binary             // Name is the operator (+ - * / % << >> == != < <= > >= =~ !~ in and or); Kids[0], Kids[1]
	If                 // Kids are condition, then, else; unless has the branches swapped
	Case               // Kids[0] is the control expression; the others are Options
	Selector           // like Case
	Option             // the values to match, then the result
	Assign             // Name = Kids[0]; without Name, Kids[1:] are the targets: Vars, or ArrayLits of targets
	Block              // evaluates Kids in order and returns the last value; undef without Kids
)

// Node is a node of the syntax tree. Nodes do not change after parsing and may be evaluated concurrently.
type Node struct {
	Op     Op
	Off    int // byte offset in the source text, for messages
	Name   string
	Value  value.Value
	Kids   []*Node
	Lambda *Lambda
}

// Lambda is a lambda such as |$a, $b = 1, *$rest| { ... }.
type Lambda struct {
	Params []Param
	Body   *Node
}

// Param is a parameter of a lambda. Type and Default may be nil. Rest means *$name, which must come last.
type Param struct {
	Name    string
	Type    *Node
	Default *Node
	Rest    bool
}

// Placeless returns a copy of n without source offsets, so that equal expressions from different places are equal. If
// n is nil, it returns nil.
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

// Placeless returns a copy of l without source offsets. If l is nil, it returns nil.
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

// Constant returns the value of n if n is a literal. Otherwise it returns false.
func (n *Node) Constant() (value.Value, bool) {
	if n.Op == Const {
		return n.Value, true
	}
	return value.Value{}, false
}

// Callee returns the name and the arguments of the function that n, a Call, calls. For call('size', $x), these are
// size and $x. If the name depends on the request, Callee returns call.
func (n *Node) Callee() (name string, args []*Node) {
	name, args = n.Name, n.Kids
	for name == "call" && len(args) > 0 {
		v, _ := args[0].Constant()
		if v.Kind() != value.String {
			break
		}
		name, args = v.Text(), args[1:]
	}
	return name, args
}

// Targets returns the names of the variables that n, an Assign, sets.
func (n *Node) Targets() []string {
	if n.Name != "" {
		return []string{n.Name}
	}
	return appendTargets(nil, n.Kids[1:])
}

func appendTargets(names []string, list []*Node) []string {
	for _, n := range list {
		if n.Op == Var {
			names = append(names, n.Name)
		} else {
			names = appendTargets(names, n.Kids)
		}
	}
	return names
}

// Below is an iterator over the children of n, including those in its lambda.
func (n *Node) Below(yield func(*Node) bool) {
	for _, kid := range n.Kids {
		if !yield(kid) {
			return
		}
	}
	if n.Lambda != nil {
		n.Lambda.below(yield)
	}
}

// below is an iterator over the types and defaults of l's parameters, and its body.
func (l *Lambda) below(yield func(*Node) bool) {
	for _, p := range l.Params {
		if p.Type != nil && !yield(p.Type) || p.Default != nil && !yield(p.Default) {
			return
		}
	}
	if l.Body != nil {
		yield(l.Body)
	}
}
