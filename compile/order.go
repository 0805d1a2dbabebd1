package compile

import (
	"slices"
	"strings"

	"bindc/internal/recipe"
)

// orderedSite is a site with the keys that are bound somewhere in the order of the snapshot.
type orderedSite struct {
	*rewrittenSite
	names   []string        // sorted
	inNames []uint32        // index in names, by number in tables
	renamed map[uint32]bool // keys that have another name somewhere, by index in names
}

// orderKeys sorts the keys that are bound somewhere, and the internal ones of contributions and merges.
func orderKeys(s *rewrittenSite) *orderedSite {
	bound := boundKeys(s)
	slices.SortFunc(bound, func(a, b uint32) int { return strings.Compare(s.keys[a], s.keys[b]) })
	out := &orderedSite{rewrittenSite: s, names: make([]string, len(bound)), inNames: make([]uint32, len(s.keys)),
		renamed: map[uint32]bool{}}
	for i, key := range bound {
		out.names[i] = s.keys[key]
		out.inNames[key] = uint32(i)
	}
	for key := range s.erased {
		out.renamed[out.inNames[key]] = true
	}
	return out
}

// boundKeys returns the numbers of all keys of the snapshot, in no order.
func boundKeys(s *rewrittenSite) (bound []uint32) {
	for id := range s.multibinds.contributions {
		if len(s.multibinds.declared[id]) > 0 {
			bound = append(bound, s.addKey(recipe.ContributionKey(id)))
		}
	}
	for _, m := range s.merges.byKey {
		bound = append(bound, m.internal)
	}
	if s.merges.hierarchies != nil {
		bound = append(bound, s.merges.hierarchies.key)
	}
	seen := make([]bool, len(s.keys))
	for i := range s.scopes {
		for key := range s.scopes[i].bound() {
			if !seen[key] {
				seen[key] = true
				bound = append(bound, key)
			}
		}
	}
	return bound
}

// find returns the index of a key in names.
func (s *orderedSite) find(name string) (key uint32, bound bool) {
	at, bound := slices.BinarySearch(s.names, name)
	return uint32(at), bound
}
