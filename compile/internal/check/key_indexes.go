package check

import (
	"cmp"
	"maps"
	"slices"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/compile/internal/rewrite"
)

// keyIndexes holds the index of each key whose candidates must be compared.
type keyIndexes struct {
	names index.Names
	of    map[uint32]*keyIndex // by index in names
}

// named returns the index of a key, or nil if the key has no index.
func (x keyIndexes) named(name string) *keyIndex {
	key, bound := x.names.Find(name)
	if !bound {
		return nil
	}
	return x.of[key]
}

// indexKeys returns an index for each of keys, with all its candidates, highest rank first.
func indexKeys(e *pass.Env, s *index.Ordered, keys map[uint32]bool) keyIndexes {
	out := keyIndexes{s.Names, make(map[uint32]*keyIndex, len(keys))}
	for key := range keys {
		out.of[key] = &keyIndex{Env: e, name: s.Names[key], renamed: s.Renamed[key]}
	}
	for i := range s.Scopes {
		if len(keys) > 0 {
			out.addCandidates(&s.Scopes[i], s.InNames, s.Merges)
		}
	}
	for _, k := range out.of {
		slices.SortFunc(k.all, func(a, b place.Candidate) int {
			return cmp.Or(place.ByRank(a, b), cmp.Compare(a.Condition, b.Condition))
		})
	}
	return out
}

// addCandidates adds the bindings of a scope, with the values that lookups find.
func (x keyIndexes) addCandidates(s *place.Scope, inNames []uint32, merges *rewrite.Merges) {
	for _, m := range s.Members {
		cand := place.Candidate{Binding: m.Binding, File: m.File, Layer: s.Layer, Condition: s.Condition, Rank: s.Rank,
			Order: m.Order, Value: m.Value}
		if m.Binding != nil {
			x.add(cand, inNames[m.Key])
			continue
		}
		for i, e := range m.File.Entries {
			cand.Entry, cand.Order, cand.Value = i, m.Order+i, merges.Found(s.Layer, e.Key, e.Value)
			x.add(cand, inNames[e.Key])
		}
	}
}

// add adds a candidate for key, unless the key needs no index.
func (x keyIndexes) add(cand place.Candidate, key uint32) {
	if k := x.of[key]; k != nil {
		cand.Key = key
		k.all = append(k.all, cand)
	}
}

// mostBound returns the first of the keys with the most candidates, or nil if no key has an index.
func (x keyIndexes) mostBound() *keyIndex {
	var most *keyIndex
	for _, key := range slices.Sorted(maps.Keys(x.of)) {
		if k := x.of[key]; most == nil || len(k.all) > len(most.all) {
			most = k
		}
	}
	return most
}
