// Package yaml reads YAML and JSON into one small tree with positions. Values mean what Ruby's Psych makes of them for
// Puppet: section 10 of the language. It reports every fault as a diagnostic with file, line, column and a stable code.
package yaml

import (
	"iter"

	"bindc/internal/value"
)

// Shape says what a Node is.
type Shape uint8

const (
	Scalar Shape = iota
	Sequence
	Mapping
)

// Node is one value of a document. Aliases and merge keys are already expanded: a node reached through an alias has
// the position of its definition, and shares its Kids. Nodes are not changed after Parse and may be read concurrently.
type Node struct {
	Kind  Shape
	Unfit Unfit       // of a Scalar
	Line  uint32      // from 1
	Col   uint32      // in characters, from 1
	Value value.Value // of a Scalar, resolved; undef in other nodes
	Kids  []Node      // of a Sequence: its elements; of a Mapping: key, value, key, value, no key twice
}

// Unfit tells why a Scalar has no value here, which Psych has one for. Its Value is the text then.
type Unfit uint8

const (
	Fit      Unfit = iota
	Symbol         // a symbol of Ruby; a string unless Options.Hiera5
	TooLarge       // an integer that does not fit in 64 bits
)

// FirstUnfit returns the first scalar of a subtree that has no value here, or nil.
func (n *Node) FirstUnfit() *Node {
	if n.Unfit != Fit {
		return n
	}
	for i := range n.Kids {
		if found := n.Kids[i].FirstUnfit(); found != nil {
			return found
		}
	}
	return nil
}

// Options is what differs between the kinds of files. The zero value suits configuration and bindings files.
type Options struct {
	// LastKeyWins makes a key that occurs twice in one mapping a warning; the last one counts, as in Psych. Otherwise
	// it is an error.
	LastKeyWins bool

	// SameValueTwice allows a key to occur twice in one mapping if the values are equal.
	SameValueTwice bool

	// TimesAreText makes strings of dates and times. Otherwise they are errors.
	TimesAreText bool

	// Hiera5 marks scalars that have no value here as Unfit, and makes strings of symbols that are keys. Otherwise
	// symbols are strings with their colon, and an integer beyond 64 bits is an error.
	Hiera5 bool
}

// Pairs ranges over keys and values of a Mapping, in order; over nothing for another node.
func (n *Node) Pairs() iter.Seq2[*Node, *Node] {
	return func(yield func(*Node, *Node) bool) {
		if n.Kind != Mapping {
			return
		}
		for i := 0; i+1 < len(n.Kids); i += 2 {
			if !yield(&n.Kids[i], &n.Kids[i+1]) {
				return
			}
		}
	}
}

// Lookup finds the entry of a Mapping whose key is the string name. It looks at each key: meant for the few attributes
// of a configuration, not for large data.
func (n *Node) Lookup(name string) (key, val *Node, ok bool) {
	for k, v := range n.Pairs() {
		if s, isString := k.Text(); isString && s == name {
			return k, v, true
		}
	}
	return nil, nil, false
}

// Within is the part of n that path leads to, keys and indexes from the outside in, as far as it is written out below
// n.
func (n *Node) Within(path []value.Value) *Node {
	if len(path) == 0 {
		return n
	}
	if i := path[0].Int(); n.Kind == Sequence && path[0].Kind() == value.Int && i < int64(len(n.Kids)) {
		return n.Kids[i].Within(path[1:])
	}
	for key, val := range n.Pairs() {
		if key.Kind == Scalar && value.Identical(key.Value, path[0]) {
			return val.Within(path[1:])
		}
	}
	return n
}

// Text is the text of a string scalar.
func (n *Node) Text() (string, bool) {
	if n.Kind != Scalar || n.Value.Kind() != value.String {
		return "", false
	}
	return n.Value.Text(), true
}

// Literal is the whole subtree as a value.
func (n *Node) Literal() value.Value {
	switch n.Kind {
	case Sequence:
		elems := make([]value.Value, len(n.Kids))
		for i := range n.Kids {
			elems[i] = n.Kids[i].Literal()
		}
		return value.FromSlice(elems)
	case Mapping:
		var b value.Builder
		for k, v := range n.Pairs() {
			b.Set(k.Literal(), v.Literal())
		}
		return b.Hash()
	}
	return n.Value
}

// Describe says what n is, for a message: "a list", "a hash", "the string 'x'".
func (n *Node) Describe() string {
	switch n.Kind {
	case Sequence:
		return "a list"
	case Mapping:
		return "a hash"
	}
	return value.Describe(n.Value)
}
