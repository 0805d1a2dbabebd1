package check

import (
	"maps"
	"slices"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
	"bindc/internal/recipe"
)

// needs lists the keys that a recipe looks up.
type needs struct {
	keys     []uint32       // keys that expressions look up in every request, by index in Names
	unbound  []string       // names that are looked up and not bound
	tried    []attempt      // targets that are looked up in order, until a value is not undef
	below    []uint32       // keys that are looked up below the binding itself; at most one
	collects *recipe.Recipe // the recipe, if it collects contributions
	tries    *recipe.Recipe // the recipe, if its value is undef when no target in tried has a value
}

// attempt is a target that a recipe tries, and the index of its key in Names.
type attempt struct {
	key    uint32
	target recipe.Target
}

func (n needs) none() bool {
	return len(n.keys) == 0 && len(n.tried) == 0 && len(n.below) == 0 && n.collects == nil
}

// needsOf returns what r looks up. names lists the bound keys.
func needsOf(r *recipe.Recipe, names index.Names) needs {
	var n needs
	for _, t := range r.Targets {
		if key, bound := names.Find(t.Key); bound {
			n.tried = append(n.tried, attempt{key, t})
		} else if r.Kind != recipe.AliasOf { // an unbound target of an alias is an error that rebind reports
			n.unbound = append(n.unbound, t.Key)
		}
	}
	for _, name := range r.Lookups() {
		if key, bound := names.Find(name); bound {
			n.keys = append(n.keys, key)
		} else {
			n.unbound = append(n.unbound, name)
		}
	}
	if producesTarget(r.Kind) && !r.Optional && r.Transformer == nil {
		n.tries = r
	}
	if r.Kind == recipe.Below {
		if key, bound := names.Find(r.Name); bound {
			n.below = append(n.below, key)
		}
	}
	if r.Kind == recipe.Multibind {
		n.collects = r
	}
	return n
}

// producesTarget reports whether a recipe of kind k returns the value of one of its targets, or a part of that value.
func producesTarget(k recipe.Kind) bool {
	return k == recipe.LookupOf || k == recipe.FirstFound || k == recipe.HashLookup
}

// needGraph holds the needs of all values and keys of a site.
type needGraph struct {
	names   index.Names
	ofValue map[uint32]needs    // what each value needs, by number in place.Tables; omits values without needs
	ofKey   map[uint32][]uint32 // the keys that any binding of a key needs; contributions have internal keys

	circular map[uint32]bool // keys that may be part of a loop
}

// findNeeds returns the needs of all bindings and contributions.
func findNeeds(s *index.Ordered) *needGraph {
	g := &needGraph{names: s.Names, ofValue: needsOfValues(s.Tables, s.Names), ofKey: map[uint32][]uint32{},
		circular: map[uint32]bool{}}
	add := func(key uint32, n needs) {
		if !n.none() {
			g.ofKey[key] = append(g.ofKey[key], n.allKeys(s.Names)...)
		}
	}
	for i := range s.Scopes {
		if len(g.ofValue) == 0 {
			break
		}
		for key, val := range s.Scopes[i].Bound() {
			add(s.InNames[key], g.ofValue[val])
		}
	}
	for id, all := range s.Multibinds.Contributions {
		key, bound := s.Names.Find(recipe.ContributionKey(id))
		for _, cand := range all {
			if bound {
				add(key, needsOf(cand.Recipe, s.Names))
			}
		}
	}
	for key := range endless(endless(g.ofKey)) {
		g.circular[key] = true
	}
	return g
}

func needsOfValues(t *place.Tables, names index.Names) map[uint32]needs {
	out := map[uint32]needs{}
	for _, n := range t.Kept {
		if t.Values[n][0] != recipe.CompiledLookup {
			continue
		}
		if r, err := recipe.Decode(t.Values[n][1:]); err == nil { // a lookup reports the error
			out[n] = needsOf(r, names)
		}
	}
	return out
}

// ofCandidate returns the needs of cand. Candidates outside loops have no needs, because the keys that they need have
// no index.
func (g *needGraph) ofCandidate(cand *place.Candidate) needs {
	switch {
	case !g.circular[cand.Key]:
		return needs{}
	case cand.Recipe != nil:
		return needsOf(cand.Recipe, g.names)
	}
	return g.ofValue[cand.Value]
}

// allKeys returns all bound keys in n. This includes the internal key of contributions that n collects.
func (n needs) allKeys(names index.Names) []uint32 {
	out := append(slices.Clone(n.keys), n.below...)
	for _, a := range n.tried {
		out = append(out, a.key)
	}
	if n.collects != nil {
		if key, bound := names.Find(n.collects.Name); bound {
			out = append(out, key)
		}
	}
	return out
}

// endless returns the nodes of graph from which infinite paths begin, with the edges between them reversed.
func endless(graph map[uint32][]uint32) map[uint32][]uint32 {
	reversed, left := map[uint32][]uint32{}, map[uint32]int{} // left counts the remaining edges of each node
	for from, tos := range graph {
		left[from] = len(tos)
		for _, to := range tos {
			reversed[to] = append(reversed[to], from)
		}
	}
	var ends []uint32
	for to := range reversed {
		if left[to] == 0 {
			ends = append(ends, to)
		}
	}
	for len(ends) > 0 {
		end := ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		for _, from := range reversed[end] {
			if left[from]--; left[from] == 0 {
				ends = append(ends, from)
			}
		}
		delete(reversed, end)
	}
	return reversed
}

// addKeys adds the keys that the search for loops needs to index: all keys that a key on a possible loop needs. If
// bindings may decline, it also adds the keys that determine whether they decline.
func (g *needGraph) addKeys(keys map[uint32]bool, decline bool) {
	for key := range g.circular {
		for _, other := range g.ofKey[key] { // a loop leads from key to one of the keys that it needs
			keys[other] = true
		}
	}
	if decline {
		g.addNeeded(keys)
	}
}

// addNeeded adds all keys that keys need, directly or indirectly.
func (g *needGraph) addNeeded(keys map[uint32]bool) {
	todo := slices.Collect(maps.Keys(keys))
	for len(todo) > 0 {
		key := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, other := range g.ofKey[key] {
			if !keys[other] {
				keys[other] = true
				todo = append(todo, other)
			}
		}
	}
}
