// Package affected finds the nodes of a fleet that get different values from two snapshots.
package affected

import (
	"fmt"
	"maps"
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

// Comparison compares two snapshots for each node of a fleet.
type Comparison struct {
	Old, New         *lookup.Snapshot
	OldPath, NewPath string // names of the snapshots in error messages
	Nodes            []facts.Node
	Style            report.Style

	// If Change is not nil, the new snapshot is queried with Change(n) instead of n.
	Change func(n facts.Node) (facts.Node, error)
	// If Check is not nil, it may reject a node whose values cannot be compared reliably.
	Check func(n facts.Node, keys []string, old, now *lookup.Request) error
	Done  func() // called after each node, from several goroutines
}

// Groups returns the nodes whose values change, grouped by their changes. It looks up only keys that can change
// according to d. wrong[i] is the error for Nodes[i], or nil.
func (c *Comparison) Groups(d *decision.Difference) (groups []report.Group, wrong []error) {
	return c.groups(c.keys(d))
}

// AllGroups is like Groups, but looks up all keys of both snapshots.
func (c *Comparison) AllGroups() (groups []report.Group, wrong []error) {
	return c.groups(slices.Sorted(maps.Keys(c.allKeys())))
}

func (c *Comparison) groups(keys []string) (groups []report.Group, wrong []error) {
	effects, wrong := make([]report.Effect, len(c.Nodes)), make([]error, len(c.Nodes))
	InParallel(len(c.Nodes), func(i int) {
		defer c.Done()
		wrong[i] = snapfile.InFile(c.OldPath, c.Old.Protect(func() error {
			old, err := Request(c.Old, c.Nodes[i])
			if err != nil {
				return snapfile.InFile(c.OldPath, err)
			}
			return snapfile.InFile(c.NewPath, c.New.Protect(func() (err error) {
				effects[i], err = c.effect(c.Nodes[i], keys, old)
				return err
			}))
		}))
	})
	var names []string
	var good []report.Effect
	for i, n := range c.Nodes {
		if wrong[i] == nil {
			names, good = append(names, n.Name), append(good, effects[i])
		}
	}
	return report.Grouped(names, good), wrong
}

// keys returns the keys that, according to d, can have different values for some node.
func (c *Comparison) keys(d *decision.Difference) []string {
	keys := map[string]bool{}
	if len(d.Categories) > 0 {
		keys = c.allKeys()
	}
	for _, k := range d.Dynamic {
		keys[k] = true
	}
	for _, k := range d.Keys {
		keys[k.Key] = true
	}
	return slices.Sorted(maps.Keys(keys))
}

func (c *Comparison) allKeys() map[string]bool {
	keys := map[string]bool{}
	for k := range c.Old.Keys() {
		keys[k] = true
	}
	for k := range c.New.Keys() {
		keys[k] = true
	}
	return keys
}

// effect returns the changed values of node n. old is the request for n to the old snapshot.
func (c *Comparison) effect(n facts.Node, keys []string, old *lookup.Request) (report.Effect, error) {
	if c.Change != nil {
		var err error
		if n, err = c.Change(n); err != nil {
			return nil, err
		}
	}
	now, err := Request(c.New, n)
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

// Request returns a request for the values of n. Errors begin with the name of the node.
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

// InParallel calls do(0) to do(n-1) from GOMAXPROCS goroutines and waits for all calls.
func InParallel(n int, do func(i int)) {
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
