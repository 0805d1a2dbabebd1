// Package index builds the index of a snapshot: sorted keys, lists of contributions, and levels with the bindings that
// can win.
package index

import (
	"slices"
	"strings"

	"bindc/compile/internal/rewrite"
	"bindc/internal/recipe"
)

// Ordered is a site whose bound keys are sorted.
type Ordered struct {
	*rewrite.Bindings
	Names   Names           // the bound keys
	InNames []uint32        // index in Names, by number of the key in place.Tables
	Renamed map[uint32]bool // keys that a rename affects, by index in Names
}

// Names lists keys in sorted order.
type Names []string

// OrderKeys sorts the bound keys, including internal keys.
func OrderKeys(s *rewrite.Bindings) *Ordered {
	bound := boundKeys(s)
	slices.SortFunc(bound, func(a, b uint32) int { return strings.Compare(s.Keys[a], s.Keys[b]) })
	out := &Ordered{Bindings: s, Names: make(Names, len(bound)), InNames: make([]uint32, len(s.Keys)),
		Renamed: map[uint32]bool{}}
	for i, key := range bound {
		out.Names[i] = s.Keys[key]
		out.InNames[key] = uint32(i)
	}
	for key := range s.Erased {
		out.Renamed[out.InNames[key]] = true
	}
	return out
}

// boundKeys returns the numbers of all keys of the snapshot, unsorted. It adds the internal keys of contributions.
func boundKeys(s *rewrite.Bindings) (bound []uint32) {
	for id := range s.Multibinds.Contributions {
		if len(s.Multibinds.Declared[id]) > 0 {
			bound = append(bound, s.AddKey(recipe.ContributionKey(id)))
		}
	}
	for _, m := range s.Merges.ByKey {
		bound = append(bound, m.Internal)
	}
	if s.Merges.Hierarchies != nil {
		bound = append(bound, s.Merges.Hierarchies.Key)
	}
	seen := make([]bool, len(s.Keys))
	for i := range s.Scopes {
		for key := range s.Scopes[i].Bound() {
			if !seen[key] {
				seen[key] = true
				bound = append(bound, key)
			}
		}
	}
	return bound
}

// Find returns the index of name. bound is false if nothing binds the name.
func (n Names) Find(name string) (key uint32, bound bool) {
	at, bound := slices.BinarySearch(n, name)
	return uint32(at), bound
}
