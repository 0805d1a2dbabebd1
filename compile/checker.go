package compile

import (
	"cmp"
	"slices"
)

// checker checks an ordered site. It changes nothing.
type checker struct {
	*env
	*orderedSite
	levels  *levels
	indexes map[uint32]*keyIndex // of the keys that are checked candidate by candidate, by index in names
}

// doubtful finds the keys whose candidates have to be compared one by one. Two candidates of equal rank can only be
// effective together in one scope, or in scopes of different shapes: different conditions of one shape never hold
// together.
func (c *checker) doubtful() map[uint32]bool {
	out := map[uint32]bool{}
	lastScope := make([]int, len(c.names)) // the last scope that has the key, plus one
	mixed := c.mixedRanks()
	for i := range c.scopes {
		s := &c.scopes[i]
		shapes, isMixed := mixed[s.rank]
		if len(s.members) == 1 && s.members[0].binding == nil && !isMixed {
			continue // a file has no key twice
		}
		for key, _ := range s.bound() {
			n := c.inNames[key]
			if s.rank > c.levels.defaults[n].rank {
				continue
			}
			if lastScope[n] == i+1 {
				out[n] = true
			}
			lastScope[n] = i + 1
			if !isMixed {
				continue
			}
			shape := c.ranks.shapeOf[s.condition]
			if other, ok := shapes[n]; ok && other != shape {
				out[n] = true
			}
			shapes[n] = shape
		}
		c.addKinds(out, s)
	}
	return out
}

// mixedRanks returns the ranks that scopes of several shapes have, each with an empty map from keys to shapes.
func (c *checker) mixedRanks() map[int]map[uint32]int {
	first, out := map[int]int{}, map[int]map[uint32]int{}
	for _, s := range c.scopes {
		shape, ok := first[s.rank]
		switch {
		case !ok:
			first[s.rank] = c.ranks.shapeOf[s.condition]
		case shape != c.ranks.shapeOf[s.condition] && out[s.rank] == nil:
			out[s.rank] = map[uint32]int{}
		}
	}
	return out
}

// addKinds adds the keys with a binding that is abstract or override.
func (c *checker) addKinds(keys map[uint32]bool, s *scope) {
	for _, m := range s.members {
		if m.binding != nil && m.binding.More != nil && (m.binding.More.Abstract || m.binding.More.Override) {
			keys[c.inNames[m.key]] = true
		}
	}
}

// addCollecting adds the keys that are bound to multibindings.
func (c *checker) addCollecting(keys map[uint32]bool) {
	for _, ds := range c.multibinds.declared {
		for _, d := range ds {
			if key, bound := c.find(d.binding.Key); bound {
				keys[key] = true
			}
		}
	}
}

// addRebound adds the keys that a rebinding binds to the value they have below it.
func (c *checker) addRebound(keys map[uint32]bool) {
	for i := range c.rebound {
		if key, bound := c.find(c.rebound[i].old()); bound && c.rebound[i].below() {
			keys[key] = true
		}
	}
}

// indexesOf returns the indexes of some keys with all candidates, highest rank first.
func (c *checker) indexesOf(keys map[uint32]bool) map[uint32]*keyIndex {
	out := make(map[uint32]*keyIndex, len(keys))
	for key := range keys {
		out[key] = &keyIndex{env: c.env, name: c.names[key], renamed: c.renamed[key]}
	}
	for i := range c.scopes {
		if len(keys) > 0 {
			c.addCandidates(out, &c.scopes[i])
		}
	}
	for _, k := range out {
		slices.SortFunc(k.all, func(a, b candidate) int {
			return cmp.Or(byRank(a, b), cmp.Compare(a.condition, b.condition))
		})
	}
	return out
}

// addCandidates adds the bindings of a scope to the indexes of their keys, with the values that lookups find.
func (c *checker) addCandidates(indexes map[uint32]*keyIndex, s *scope) {
	for _, m := range s.members {
		cand := candidate{binding: m.binding, file: m.file, layer: s.layer, condition: s.condition, rank: s.rank,
			order: m.order, value: m.value}
		if m.binding != nil {
			indexes[c.inNames[m.key]].add(cand, c.inNames[m.key])
			continue
		}
		for i, e := range m.file.Entries {
			cand.entry, cand.order, cand.value = i, m.order+i, c.merges.found(s.layer, e.Key, e.Value)
			indexes[c.inNames[e.Key]].add(cand, c.inNames[e.Key])
		}
	}
}

// add adds a candidate. It does nothing if the key has no index.
func (k *keyIndex) add(cand candidate, key uint32) {
	if k != nil {
		cand.key = key
		k.all = append(k.all, cand)
	}
}
