package compile

import (
	"slices"

	"bindc/internal/diag"
	"bindc/snapshot"
)

// coldBinding is a binding that is in no scope of a level: lookups never read it, reports do.
type coldBinding struct {
	rank, order int
	cold        snapshot.Cold
}

// byRankAndOrder orders cold bindings by precedence.
func byRankAndOrder(a, b coldBinding) int {
	if a.rank != b.rank {
		return a.rank - b.rank
	}
	return a.order - b.order
}

// coldContributions returns contributions for reports: the scopes have them only as part of a list.
func coldContributions(e *env, all []candidate) []coldBinding {
	out := make([]coldBinding, len(all))
	for i := range all {
		cand := &all[i]
		out[i] = coldBinding{cand.rank, cand.order, snapshot.Cold{Layer: cand.layer,
			Terms: e.snapshotTerms(cand.condition), Origin: e.origin(cand.pos()), Contribution: true}}
	}
	return out
}

// sortCold returns the cold bindings of a key in order of precedence. ranks are those of the levels, ascending.
func sortCold(list []coldBinding, ranks []int) []snapshot.Cold {
	slices.SortStableFunc(list, byRankAndOrder)
	out := make([]snapshot.Cold, len(list))
	for i, b := range list {
		out[i] = b.cold
		out[i].Above, _ = slices.BinarySearch(ranks, b.rank+1)
	}
	return out
}

func (e *env) origin(at diag.Pos) snapshot.Origin {
	return snapshot.Origin{Input: uint32(e.site.InputOf[at.File]), Line: uint32(at.Line), Col: uint32(at.Col)}
}

func (e *env) snapshotTerms(condition int) []snapshot.Term {
	var out []snapshot.Term
	for _, t := range e.site.Conditions[condition] {
		out = append(out, snapshot.Term{Dimension: t.Dimension, Value: t.Value})
	}
	return out
}
