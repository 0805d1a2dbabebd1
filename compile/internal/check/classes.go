package check

import (
	"maps"
	"slices"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/relation"
	"bindc/loader"
)

// checkClasses reports classes that some request includes and excludes with the same precedence, unless a higher
// contribution hides both.
func checkClasses(e *pass.Env, all []place.Candidate) {
	excluded := map[string]*keyIndex{}
	for _, cand := range all {
		if !cand.Includes() {
			excluded[cand.Binding.Key] = &keyIndex{Env: e, name: cand.Binding.Key}
		}
	}
	for _, cand := range all {
		if k := excluded[cand.Binding.Key]; k != nil {
			k.all = append(k.all, cand)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(excluded)) {
		excluded[name].checkExclusions()
	}
}

// checkExclusions compares exclusions with inclusions of the same rank. It compares only the first exclusion and the
// first inclusion under each condition.
func (k *keyIndex) checkExclusions() {
	slices.SortStableFunc(k.all, place.ByRank)
	type kind struct {
		rank, condition int
		includes        bool
	}
	first, reported := map[kind]int{}, map[[2]int]bool{}
	kindOf := func(i int) kind { return kind{k.all[i].Rank, k.all[i].Condition, k.all[i].Includes()} }
	for i := len(k.all) - 1; i >= 0; i-- {
		first[kindOf(i)] = i
	}
	for i := range k.all {
		if first[kindOf(i)] != i || k.all[i].Includes() {
			continue
		}
		rank := k.all[i].Rank
		for j := range k.compatible(k.terms(i), rank+1) {
			a, b := &k.all[i], &k.all[j]
			if b.Rank != rank || first[kindOf(j)] != j || !b.Includes() || reported[[2]int{a.Order, b.Order}] ||
				!k.Effort.Spend(8) {
				continue
			}
			if both := relation.Union(k.terms(i), k.terms(j)); !k.hidden(rank, both) {
				reported[[2]int{a.Order, b.Order}] = true
				k.excludes(a, b, both)
			}
		}
	}
}

// excludes reports a conflict between contributions that exclude and include a class. both is the conjunction of the
// two conditions.
func (k *keyIndex) excludes(a, b *place.Candidate, both loader.Condition) {
	at, other, is := a, b, [2]string{"excluded", "included"}
	if b.Pos().Compare(a.Pos()) < 0 {
		at, other, is = b, a, [2]string{"included", "excluded"}
	}
	k.Report(diag.Diagnostic{Pos: at.Pos(), Code: "conflict",
		Message: "the class '" + k.name + "' is " + is[0] + " here, and " + is[1] + " with the same precedence" +
			k.Describe(both) + k.InLayer(a.Layer),
		Notes: append([]diag.Note{{Pos: other.Pos(), Message: "it is " + is[1] + " here"}}, k.doubts(a, both)...),
		Hint: "include or exclude '" + k.name + "' in a higher layer or under a narrower condition, or remove one of " +
			"the two"})
}
