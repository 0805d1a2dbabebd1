// Package yaml reads YAML and JSON into one small tree with positions. Values have the meaning that Ruby's Psych gives
// them for Puppet (language.md, section 10). The package reports every error as a diagnostic with file, line, column
// and a stable code.
package yaml

import (
	"iter"

	"bindc/internal/value"
)

// Shape is the kind of a Node.
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
	Unfit Unfit       // see Unfit
	Line  uint32      // counted from 1
	Col   uint32      // column in characters, from 1
	Value value.Value // the resolved value of a Scalar; undef for other nodes
	Kids  []Node      // elements of a Sequence, or keys and values of a Mapping in turn; keys are unique
}

// Unfit is the reason why lookups of a value with this node fail, although Psych reads it. The Value of a Scalar that
// is a Symbol or TooLarge is its text in the source.
type Unfit uint8

const (
	Fit      Unfit = iota
	Symbol         // a Ruby symbol; only with Options.Hiera5
	TooLarge       // an integer that does not fit in 64 bits
	NoKey          // a key of a hash that is neither a string nor a number; lookups of Hiera 5 refuse it
)

// FirstUnfit returns the first node in n that is not Fit, or nil.
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

// Options describes a kind of file. The zero value is for configuration and bindings files.
type Options struct {
	// LastKeyWins makes duplicate keys warnings instead of errors. As in Psych, the last value wins.
	LastKeyWins bool

	// SameValueTwice allows duplicate keys with equal values.
	SameValueTwice bool

	// TimesAreText reads dates and times as strings. Otherwise they are errors.
	TimesAreText bool

	// Hiera5 marks what Psych reads but lookups refuse as Unfit. If a key is a symbol, Hiera5 makes it a string, the
	// symbol's name. Without Hiera5, symbols are strings that begin with a colon, and integers that do not fit in 64
	// bits are errors.
	Hiera5 bool

	// Scratch is memory for the nodes. It saves allocations when many files are parsed one after the other. A document
	// becomes invalid when the same Scratch is used again. Scratch may be nil.
	Scratch *Scratch
}

// Pairs returns an iterator over the keys and values of a Mapping, in order. For other nodes, it yields nothing.
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

// Lookup returns the key and value of the entry of a Mapping whose key is the string name. The search is linear, so
// Lookup is only suitable for small hashes such as configurations.
func (n *Node) Lookup(name string) (key, val *Node, ok bool) {
	for k, v := range n.Pairs() {
		if s, isString := k.Text(); isString && s == name {
			return k, v, true
		}
	}
	return nil, nil, false
}

// Within follows path, which consists of keys and indexes, from n. It returns the last node on the path that exists.
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

// Text returns the text of a string scalar. It returns false for other nodes.
func (n *Node) Text() (string, bool) {
	if n.Kind != Scalar || n.Value.Kind() != value.String {
		return "", false
	}
	return n.Value.Text(), true
}

// Literal converts n, with all nodes inside it, to a value.
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

// Describe describes n for a message: "a list", "an empty hash", "the string 'x'".
func (n *Node) Describe() string {
	switch {
	case n.Kind == Sequence && len(n.Kids) == 0:
		return "an empty list"
	case n.Kind == Sequence:
		return "a list"
	case n.Kind == Mapping && len(n.Kids) == 0:
		return "an empty hash"
	case n.Kind == Mapping:
		return "a hash"
	}
	return value.Describe(n.Value)
}
