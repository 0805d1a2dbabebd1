package check

import (
	"cmp"
	"maps"
	"slices"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/relation"
)

// checkRebound warns about renames and rebindings of keys that nothing below them binds.
func checkRebound(e *pass.Env, all []place.Rebound, ranks *place.Ranking, indexes keyIndexes) {
	checkRenames(e, all, ranks)
	for i := range all {
		r := &all[i]
		if r.OfKey && r.Below() && !indexes.named(r.Old()).anyBelow(r, ranks) {
			e.Report(diag.Diagnostic{Pos: r.More.Rebinds.Pos, Severity: diag.Warning, Code: "rebind",
				Message: "nothing that binds '" + r.Old() + "' is below this: it has no effect",
				Hint:    "move it to a higher layer, or to a condition of higher precedence, than the binding it changes"})
		}
	}
}

// checkRenames reports contributions whose name is changed by two renames of equal precedence. For keys,
// checkConflicts reports this.
func checkRenames(e *pass.Env, all []place.Rebound, ranks *place.Ranking) {
	byName := map[string]*keyIndex{}
	for i := range all {
		r := &all[i]
		if !r.OfPart || r.OfKey || !r.More.Erases {
			continue
		}
		if byName[r.Old()] == nil {
			byName[r.Old()] = &keyIndex{Env: e, name: r.Old()}
		}
		k := byName[r.Old()]
		for _, condition := range r.When {
			k.all = append(k.all, place.Candidate{Binding: r.Binding, Layer: r.Layer, Order: r.Order,
				Condition: condition, Rank: ranks.Rank(r.Layer, condition)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name].checkRenames()
	}
}

// checkRenames reports pairs of renames that have equal rank and can be effective together.
func (k *keyIndex) checkRenames() {
	slices.SortStableFunc(k.all, func(a, b place.Candidate) int { return cmp.Compare(a.Rank, b.Rank) })
	for i := range k.all {
		for j := range k.compatible(k.terms(i), k.all[i].Rank+1) {
			if a, b := &k.all[i], &k.all[j]; a.Rank == b.Rank && a.Order < b.Order {
				k.conflict(a, b, relation.Union(k.terms(i), k.terms(j)))
			}
		}
	}
}

// anyBelow reports whether a request can find both r and a candidate below it.
func (k *keyIndex) anyBelow(r *place.Rebound, ranks *place.Ranking) bool {
	for _, condition := range r.When {
		rank := ranks.Rank(r.Layer, condition)
		for i := range k.compatible(k.Site.Conditions[condition], index.NoRank) {
			if k.all[i].Rank > rank && !k.all[i].Erases() && k.all[i].Order != r.Order {
				return true
			}
		}
	}
	return false
}
