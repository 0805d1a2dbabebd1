package check

import (
	"maps"
	"slices"
	"testing"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
	"bindc/compile/internal/rewrite"
	"bindc/internal/bindingsfile"
	"bindc/internal/datafile"
	"bindc/internal/recipe"
	"bindc/loader"
)

// bound returns a member that binds key n.
func bound(n uint32, more *bindingsfile.Compiled) place.Member {
	return place.Member{Key: n, Binding: &loader.Binding{More: more}}
}

func fileOf(keys ...uint32) place.Member {
	f := &loader.DataFile{}
	for _, key := range keys {
		f.Entries = append(f.Entries, datafile.Entry{Key: key})
	}
	return place.Member{File: f}
}

// Conditions 1 and 2 have one shape, and condition 3 has another. Only candidates that may conflict are compared.
func TestDoubtfulKeys(t *testing.T) {
	ranks := &place.Ranking{ShapeOf: []int{0, 1, 1, 2}}
	scope := func(rank, condition int, members ...place.Member) place.Scope {
		return place.Scope{Rank: rank, Condition: condition, Members: members}
	}
	other := fileOf(2)
	abstract, override := &bindingsfile.Compiled{Abstract: true}, &bindingsfile.Compiled{Override: true}
	for name, c := range map[string]struct {
		scopes []place.Scope
		want   []uint32
	}{
		"one binding":               {[]place.Scope{scope(1, 1, bound(0, nil), other)}, nil},
		"two bindings in one scope": {[]place.Scope{scope(1, 1, bound(0, nil), other, fileOf(1, 0))}, []uint32{0}},
		"two files in one scope": {
			[]place.Scope{scope(0, 1, other), scope(1, 1, fileOf(0), fileOf(0))}, []uint32{0}},
		"below the default":      {[]place.Scope{scope(3, 1, fileOf(1, 0), fileOf(1, 0))}, []uint32{0}},
		"of the default's rank":  {[]place.Scope{scope(2, 1, bound(1, nil), other, bound(1, nil))}, []uint32{1}},
		"two scopes of one rank": {[]place.Scope{scope(1, 1, fileOf(0)), scope(1, 2, fileOf(0))}, nil},
		"scopes of two ranks":    {[]place.Scope{scope(1, 1, fileOf(0)), scope(0, 3, fileOf(0))}, nil},
		"two shapes of one rank": {[]place.Scope{scope(1, 1, fileOf(0, 1)), scope(1, 3, fileOf(0, 2))}, []uint32{0}},
		"one shape in a mixed rank": {
			[]place.Scope{scope(1, 1, fileOf(0)), scope(1, 2, fileOf(0)), scope(1, 3, other)}, nil},
		"abstract":          {[]place.Scope{scope(1, 1, bound(0, abstract))}, []uint32{0}},
		"override":          {[]place.Scope{scope(1, 1, bound(0, override))}, []uint32{0}},
		"another attribute": {[]place.Scope{scope(1, 1, bound(0, &bindingsfile.Compiled{}))}, nil},
	} {
		s := &index.Ordered{Bindings: &rewrite.Bindings{Scopes: c.scopes, Ranks: ranks},
			Names: index.Names{"a", "b", "c"}, InNames: []uint32{0, 1, 2}}
		defaults := []index.KeyDefault{{Rank: index.NoRank}, {Rank: 2}, {Rank: index.NoRank}}
		got := doubtfulKeys(s, defaults)
		if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, c.want) {
			t.Errorf("%s: doubtful keys are %v, want %v", name, keys, c.want)
		}
		for key, is := range got {
			if !is {
				t.Errorf("%s: key %d is listed as not doubtful", name, key)
			}
		}
	}
}

// Only ranks with scopes of several shapes are mixed.
func TestMixedRanks(t *testing.T) {
	ranks := &place.Ranking{ShapeOf: []int{0, 1, 1, 2}}
	got := mixedRanks([]place.Scope{{Rank: 0, Condition: 1}, {Rank: 0, Condition: 2}, {Rank: 1, Condition: 1},
		{Rank: 1, Condition: 3}, {Rank: 2}}, ranks)
	if keys := slices.Sorted(maps.Keys(got)); !slices.Equal(keys, []int{1}) {
		t.Errorf("mixed are the ranks %v, want 1", keys)
	}
}

// The key a belongs to a multibinding, b has an alias, c is renamed, and f is doubtful. A loop leads from d to e.
// Nothing binds the names aa and ga.
func TestIndexedKeys(t *testing.T) {
	multibind := func(key string) place.Declaration { return place.Declaration{Binding: &loader.Binding{Key: key}} }
	rebinds := func(old string, kind recipe.Kind) place.Rebound {
		more := &bindingsfile.Compiled{Recipe: &recipe.Recipe{Kind: kind}, Rebinds: &bindingsfile.Reference{ID: old}}
		return place.Rebound{OrderedBinding: place.OrderedBinding{Binding: &loader.Binding{More: more}}}
	}
	needs := &needGraph{circular: map[uint32]bool{3: true}, ofKey: map[uint32][]uint32{3: {4}, 4: {6}, 6: {7}}}
	multibinds := map[string][]place.Declaration{"m": {multibind("a"), multibind("aa")}}
	rebound := []place.Rebound{rebinds("b", recipe.AliasOf), rebinds("c", recipe.Below), rebinds("ga", recipe.Below)}
	for _, declining := range []map[uint32]bool{nil, {0: true}} {
		s := &index.Ordered{Names: index.Names{"a", "b", "c", "d", "e", "f", "g", "h"}, Bindings: &rewrite.Bindings{
			Tables: &place.Tables{Declining: declining}, Multibinds: place.Multibinds{Declared: multibinds},
			Rebound: rebound}}
		want := map[uint32]bool{0: true, 2: true, 4: true, 5: true}
		if declining != nil {
			want[6], want[7] = true, true
		}
		doubtful := map[uint32]bool{5: true}
		if got := indexedKeys(s, doubtful, needs); !maps.Equal(got, want) || len(doubtful) != 1 {
			t.Errorf("indexed are %v, want %v; doubtful are now %v", got, want, doubtful)
		}
	}
}

// Key 0 leads to a loop of the keys 1 and 2, which leads to key 3.
func TestEndless(t *testing.T) {
	graph := map[uint32][]uint32{0: {1}, 1: {2}, 2: {1, 3}, 3: {4}}
	if got := endless(graph); !maps.EqualFunc(got, map[uint32][]uint32{1: {0, 2}, 2: {1}}, equalSets) {
		t.Errorf("endless paths have the reversed edges %v", got)
	}
	if got := endless(endless(graph)); !maps.EqualFunc(got, map[uint32][]uint32{1: {2}, 2: {1}}, equalSets) {
		t.Errorf("the loop has the edges %v", got)
	}
}

func equalSets(a, b []uint32) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
