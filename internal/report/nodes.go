package report

import (
	"fmt"

	"bindc/internal/value"
)

// Node is a node of the fleet with the values of its categories.
type Node struct {
	Name       string
	Categories Terms
}

type Nodes []Node

// MarshalJSON encodes ns as an object that maps the name of each node to its categories.
func (ns Nodes) MarshalJSON() ([]byte, error) {
	var b value.Builder
	for _, n := range ns {
		b.Set(value.FromString(n.Name), n.Categories.hash())
	}
	return value.AppendJSON(nil, b.Hash()), nil
}

// Nodes writes each node with its categories.
func (p *Page) Nodes(ns Nodes) {
	for _, n := range ns {
		fmt.Fprintln(p, p.paint(bold, n.Name))
		p.wrapped(2, "", conditionWords("", n.Categories))
	}
}
