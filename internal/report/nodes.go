package report

import (
	"fmt"

	"bindc/internal/value"
)

// Node is a node with its category values.
type Node struct {
	Name       string
	Categories Terms
}

// Nodes lists the nodes of a fleet.
type Nodes []Node

// MarshalJSON returns an object with a member for each node.
func (ns Nodes) MarshalJSON() ([]byte, error) {
	var b value.Builder
	for _, n := range ns {
		b.Set(value.FromString(n.Name), n.Categories.hash())
	}
	return value.AppendJSON(nil, b.Hash()), nil
}

// Nodes shows each node with its categories.
func (p *Page) Nodes(ns Nodes) {
	for _, n := range ns {
		fmt.Fprintln(p, p.paint(bold, n.Name))
		p.wrapped(2, "", conditionWords("", n.Categories))
	}
}
