package check

import (
	"maps"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
)

// doubtfulKeys returns the keys whose candidates must be compared. defaults are the highest unconditional bindings of
// all keys.
//
// Different conditions of one shape exclude each other. Therefore two candidates of equal rank conflict only if they
// are in one scope, or in scopes with different shapes.
func doubtfulKeys(s *index.Ordered, defaults []index.KeyDefault) map[uint32]bool {
	out := map[uint32]bool{}
	lastScope := make([]int, len(s.Names)) // index of the last scope with each key, plus one
	mixed := mixedRanks(s.Scopes, s.Ranks)
	for i := range s.Scopes {
		sc := &s.Scopes[i]
		shapes, isMixed := mixed[sc.Rank]
		if len(sc.Members) == 1 && sc.Members[0].Binding == nil && !isMixed {
			continue // a file has each key only once
		}
		for key, _ := range sc.Bound() {
			n := s.InNames[key]
			if sc.Rank > defaults[n].Rank {
				continue
			}
			if lastScope[n] == i+1 {
				out[n] = true
			}
			lastScope[n] = i + 1
			if !isMixed {
				continue
			}
			shape := s.Ranks.ShapeOf[sc.Condition]
			if other, ok := shapes[n]; ok && other != shape {
				out[n] = true
			}
			shapes[n] = shape
		}
		addKinds(out, sc, s.InNames)
	}
	return out
}

// mixedRanks returns the ranks whose scopes differ in shape. Each is mapped to an empty map, which the caller fills
// with the shape of each key.
func mixedRanks(scopes []place.Scope, ranks *place.Ranking) map[int]map[uint32]int {
	first, out := map[int]int{}, map[int]map[uint32]int{}
	for _, s := range scopes {
		shape, ok := first[s.Rank]
		switch {
		case !ok:
			first[s.Rank] = ranks.ShapeOf[s.Condition]
		case shape != ranks.ShapeOf[s.Condition] && out[s.Rank] == nil:
			out[s.Rank] = map[uint32]int{}
		}
	}
	return out
}

// addKinds adds the keys of the abstract and override bindings in s.
func addKinds(keys map[uint32]bool, s *place.Scope, inNames []uint32) {
	for _, m := range s.Members {
		if m.Binding != nil && m.Binding.More != nil && (m.Binding.More.Abstract || m.Binding.More.Override) {
			keys[inNames[m.Key]] = true
		}
	}
}

// indexedKeys returns the keys that need an index: doubtful keys, and those that other checks compare.
func indexedKeys(s *index.Ordered, doubtful map[uint32]bool, graph *needGraph) map[uint32]bool {
	out := maps.Clone(doubtful)
	addCollecting(out, &s.Multibinds, s.Names)
	addRebound(out, s.Rebound, s.Names)
	graph.addKeys(out, len(s.Declining) > 0)
	return out
}

// addCollecting adds the keys of multibindings.
func addCollecting(keys map[uint32]bool, ms *place.Multibinds, names index.Names) {
	for _, ds := range ms.Declared {
		for _, d := range ds {
			if key, bound := names.Find(d.Binding.Key); bound {
				keys[key] = true
			}
		}
	}
}

// addRebound adds the old names of renames and rebindings that take their values from lower bindings.
func addRebound(keys map[uint32]bool, all []place.Rebound, names index.Names) {
	for i := range all {
		if key, bound := names.Find(all[i].Old()); bound && all[i].Below() {
			keys[key] = true
		}
	}
}
