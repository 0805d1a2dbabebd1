package index

import (
	"slices"

	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/loader"
	"bindc/snapshot"
)

// coldBinding is a binding for reports that no scope of a level contains, because lookups never read it.
type coldBinding struct {
	rank, order int
	cold        snapshot.Cold
}

func byRankAndOrder(a, b coldBinding) int {
	if a.rank != b.rank {
		return a.rank - b.rank
	}
	return a.order - b.order
}

// coldContributions returns the contributions one by one, for reports. Scopes contain them only as lists.
func coldContributions(site *loader.Site, all []place.Candidate) []coldBinding {
	out := make([]coldBinding, len(all))
	for i := range all {
		cand := &all[i]
		out[i] = coldBinding{cand.Rank, cand.Order, snapshot.Cold{Layer: cand.Layer,
			Terms: termsOf(site, cand.Condition), Origin: originOf(site, cand.Pos()), Contribution: true}}
	}
	return out
}

// sortCold returns the cold bindings of a key, sorted by precedence. The ranks of the levels are in ascending order.
func sortCold(list []coldBinding, ranks []int) []snapshot.Cold {
	slices.SortStableFunc(list, byRankAndOrder)
	out := make([]snapshot.Cold, len(list))
	for i, b := range list {
		out[i] = b.cold
		out[i].Above, _ = slices.BinarySearch(ranks, b.rank+1)
	}
	return out
}

func originOf(site *loader.Site, at diag.Pos) snapshot.Origin {
	return snapshot.Origin{Input: uint32(site.InputOf[at.File]), Line: uint32(at.Line), Col: uint32(at.Col)}
}

func termsOf(site *loader.Site, condition int) []snapshot.Term {
	var out []snapshot.Term
	for _, t := range site.Conditions[condition] {
		out = append(out, snapshot.Term{Dimension: t.Dimension, Value: t.Value})
	}
	return out
}
