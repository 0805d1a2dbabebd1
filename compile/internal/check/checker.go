package check

import (
	"cmp"
	"slices"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
)

type checker struct {
	*pass.Env
	*index.Ordered
	levels  *index.Levels
	indexes map[uint32]*keyIndex // keys whose candidates must be compared, by index in Names
}

// doubtful returns the keys whose candidates must be compared. Different conditions of one shape exclude each other.
// Therefore two candidates of equal rank conflict only if they are in one scope, or in scopes with different shapes.
func (c *checker) doubtful() map[uint32]bool {
	out := map[uint32]bool{}
	lastScope := make([]int, len(c.Names)) // index of the last scope with each key, plus one
	mixed := c.mixedRanks()
	for i := range c.Scopes {
		s := &c.Scopes[i]
		shapes, isMixed := mixed[s.Rank]
		if len(s.Members) == 1 && s.Members[0].Binding == nil && !isMixed {
			continue // a file has each key only once
		}
		for key, _ := range s.Bound() {
			n := c.InNames[key]
			if s.Rank > c.levels.Defaults[n].Rank {
				continue
			}
			if lastScope[n] == i+1 {
				out[n] = true
			}
			lastScope[n] = i + 1
			if !isMixed {
				continue
			}
			shape := c.Ranks.ShapeOf[s.Condition]
			if other, ok := shapes[n]; ok && other != shape {
				out[n] = true
			}
			shapes[n] = shape
		}
		c.addKinds(out, s)
	}
	return out
}

// mixedRanks returns the ranks whose scopes differ in shape. Each is mapped to an empty map, which the caller fills
// with the shape of each key.
func (c *checker) mixedRanks() map[int]map[uint32]int {
	first, out := map[int]int{}, map[int]map[uint32]int{}
	for _, s := range c.Scopes {
		shape, ok := first[s.Rank]
		switch {
		case !ok:
			first[s.Rank] = c.Ranks.ShapeOf[s.Condition]
		case shape != c.Ranks.ShapeOf[s.Condition] && out[s.Rank] == nil:
			out[s.Rank] = map[uint32]int{}
		}
	}
	return out
}

// addKinds adds the keys of the abstract and override bindings in s.
func (c *checker) addKinds(keys map[uint32]bool, s *place.Scope) {
	for _, m := range s.Members {
		if m.Binding != nil && m.Binding.More != nil && (m.Binding.More.Abstract || m.Binding.More.Override) {
			keys[c.InNames[m.Key]] = true
		}
	}
}

func (c *checker) addCollecting(keys map[uint32]bool) {
	for _, ds := range c.Multibinds.Declared {
		for _, d := range ds {
			if key, bound := c.Find(d.Binding.Key); bound {
				keys[key] = true
			}
		}
	}
}

// addRebound adds the old names of renames and rebindings that take their values from lower bindings.
func (c *checker) addRebound(keys map[uint32]bool) {
	for i := range c.Rebound {
		if key, bound := c.Find(c.Rebound[i].Old()); bound && c.Rebound[i].Below() {
			keys[key] = true
		}
	}
}

// indexesOf returns a keyIndex for each of keys, with all its candidates, highest rank first.
func (c *checker) indexesOf(keys map[uint32]bool) map[uint32]*keyIndex {
	out := make(map[uint32]*keyIndex, len(keys))
	for key := range keys {
		out[key] = &keyIndex{Env: c.Env, name: c.Names[key], renamed: c.Renamed[key]}
	}
	for i := range c.Scopes {
		if len(keys) > 0 {
			c.addCandidates(out, &c.Scopes[i])
		}
	}
	for _, k := range out {
		slices.SortFunc(k.all, func(a, b place.Candidate) int {
			return cmp.Or(place.ByRank(a, b), cmp.Compare(a.Condition, b.Condition))
		})
	}
	return out
}

// addCandidates adds the bindings of a scope to indexes, with the values that lookups find.
func (c *checker) addCandidates(indexes map[uint32]*keyIndex, s *place.Scope) {
	for _, m := range s.Members {
		cand := place.Candidate{Binding: m.Binding, File: m.File, Layer: s.Layer, Condition: s.Condition, Rank: s.Rank,
			Order: m.Order, Value: m.Value}
		if m.Binding != nil {
			indexes[c.InNames[m.Key]].add(cand, c.InNames[m.Key])
			continue
		}
		for i, e := range m.File.Entries {
			cand.Entry, cand.Order, cand.Value = i, m.Order+i, c.Merges.Found(s.Layer, e.Key, e.Value)
			indexes[c.InNames[e.Key]].add(cand, c.InNames[e.Key])
		}
	}
}

// add adds a candidate for key. If k is nil, it does nothing, because the key needs no index.
func (k *keyIndex) add(cand place.Candidate, key uint32) {
	if k != nil {
		cand.Key = key
		k.all = append(k.all, cand)
	}
}
