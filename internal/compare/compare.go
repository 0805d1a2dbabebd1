// Package compare finds what changes for the nodes of a fleet from one snapshot to another.
package compare

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/report/decision"
	"bindc/internal/snapfile"
	bindings "bindc/runtime"
)

// Side is one of the two snapshots.
type Side struct {
	Path string // in errors
	Snap *lookup.Snapshot
}

// Comparison compares the answers of two snapshots.
type Comparison struct {
	Old, New Side
	Style    report.Style
	Check    func(n facts.Node, keys []string, requests ...*lookup.Request) error // refuses a node; may be nil
	Done     func()                                                               // called after each node
}

// Effects returns for each node what changes for it of the keys in d, or an error.
func (c *Comparison) Effects(nodes []facts.Node, d *decision.Difference) ([]report.Effect, []error) {
	keys := c.keys(d)
	effects, wrong := make([]report.Effect, len(nodes)), make([]error, len(nodes))
	Each(len(nodes), func(i int) {
		defer c.Done()
		wrong[i] = snapfile.InFile(c.Old.Path, c.Old.Snap.Protect(func() error {
			old, err := Request(c.Old.Snap, nodes[i])
			if err != nil {
				return snapfile.InFile(c.Old.Path, err)
			}
			return snapfile.InFile(c.New.Path, c.New.Snap.Protect(func() (err error) {
				effects[i], err = c.effect(old, nodes[i], keys)
				return err
			}))
		}))
	})
	return effects, wrong
}

// keys returns the keys that may change for a node.
func (c *Comparison) keys(d *decision.Difference) []string {
	keys := slices.Clone(d.Free)
	for _, k := range d.Keys {
		keys = append(keys, k.Key)
	}
	if len(d.Categories) > 0 {
		for _, s := range []Side{c.Old, c.New} {
			keys = slices.AppendSeq(keys, s.Snap.Keys())
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// effect returns the keys that change for a node, from its old request on.
func (c *Comparison) effect(old *lookup.Request, n facts.Node, keys []string) (report.Effect, error) {
	now, err := Request(c.New.Snap, n)
	if err != nil {
		return nil, err
	}
	if c.Check != nil {
		if err := c.Check(n, keys, old, now); err != nil {
			return nil, err
		}
	}
	return c.Style.Effect(old, now, keys), nil
}

// Groups returns the nodes without an error for which something changes, those with the same changes together.
func Groups(nodes []facts.Node, effects []report.Effect, wrong []error) []report.Group {
	var names []string
	var good []report.Effect
	for i, n := range nodes {
		if wrong[i] == nil {
			names, good = append(names, n.Name), append(good, effects[i])
		}
	}
	return report.Grouped(names, good)
}

// Request returns the request of a node of a fleet.
func Request(snap *lookup.Snapshot, n facts.Node) (*lookup.Request, error) {
	vars, err := facts.Variables(n, bindings.FactsOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	r, err := snap.Request((*lookup.Facts)(vars))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name, err)
	}
	return r, nil
}

// Each does n things, as many at a time as there are processors.
func Each(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
