package index

import (
	"slices"

	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/loader"
	"bindc/snapshot"
)

// coldBinding is a binding that lookups never read. Only reports use it, so the scopes of levels do not contain it.
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

// coldContributions returns a coldBinding for each contribution. The scopes of levels contain contributions only as
// lists.
func coldContributions(site *loader.Site, all []place.Candidate) []coldBinding {
	out := make([]coldBinding, len(all))
	for i := range all {
		cand := &all[i]
		out[i] = coldBinding{cand.Rank, cand.Order, snapshot.Cold{Layer: cand.Layer,
			Terms: termsOf(site, cand.Condition), Origin: originOf(site, cand.Pos()), Contribution: true}}
	}
	return out
}

// sortCold returns the cold bindings of a key, sorted by precedence. ranks lists the ranks of the levels in ascending
// order.
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
