package analysis

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/value"
	bindings "bindc/runtime"
)

// Fleet has the facts of all nodes. A nil *Fleet has no nodes.
type Fleet struct {
	Nodes []FleetNode // sorted by name
}

type FleetNode struct {
	Name string
	vars *lookup.Facts
}

// ReadFleet reads the facts in dir. It skips files that cannot be read and returns an error for each.
func ReadFleet(dir string) (*Fleet, []error) {
	nodes, wrong, err := facts.ReadGood(dir)
	if err != nil {
		return nil, []error{err}
	}
	f := &Fleet{}
	for _, n := range nodes {
		vars, err := facts.Variables(n, bindings.FactsOptions{})
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		f.Nodes = append(f.Nodes, FleetNode{n.Name, (*lookup.Facts)(vars)})
	}
	return f, wrong
}

var errUnknownNode = errors.New("no facts for this node")

// Request returns a request with the facts of a node.
func (s *Site) Request(f *Fleet, node string) (*lookup.Request, error) {
	snap := s.Snapshot()
	if f == nil || snap == nil {
		return nil, errUnknownNode
	}
	for _, n := range f.Nodes {
		if n.Name == node {
			return snap.Request(n.vars)
		}
	}
	return nil, errUnknownNode
}

// Each calls do for the first nodes of the fleet, up to most. It stops when ctx is done.
func (s *Site) Each(ctx context.Context, f *Fleet, most int, do func(node string, r *lookup.Request)) {
	snap := s.Snapshot()
	if f == nil || snap == nil {
		return
	}
	for _, n := range f.Nodes[:min(most, len(f.Nodes))] {
		if ctx.Err() != nil {
			return
		}
		if r, err := snap.Request(n.vars); err == nil {
			do(n.Name, r)
		}
	}
}

// Count is the number of nodes that have a certain value of a fact.
type Count struct {
	Value string
	Nodes int
}

// Values returns the values of a fact, most frequent first. name is a dotted path such as os.family.
func (f *Fleet) Values(name string) (out []Count) {
	if f == nil {
		return nil
	}
	path := strings.Split(name, ".")
	counts := map[string]int{}
	for _, n := range f.Nodes {
		v := n.vars.Variable(path[0])
		for _, key := range path[1:] {
			v, _ = v.Get(value.FromString(key))
		}
		if !v.IsUndef() && !v.IsSensitive() {
			counts[string(value.AppendText(nil, v))]++
		}
	}
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, Count{v, counts[v]})
	}
	slices.SortStableFunc(out, func(a, b Count) int { return cmp.Compare(b.Nodes, a.Nodes) })
	return out
}
