package compile

import (
	"maps"
	"slices"

	"bindc/internal/diag"
	"bindc/internal/relation"
	"bindc/loader"
)

// checkClasses reports classes that are included and excluded at one precedence in some request, unless something above
// hides both.
func (c *checker) checkClasses(all []candidate) {
	excluded := map[string]*keyIndex{}
	for _, cand := range all {
		if !cand.includes() {
			excluded[cand.binding.Key] = &keyIndex{env: c.env, name: cand.binding.Key}
		}
	}
	for _, cand := range all {
		if k := excluded[cand.binding.Key]; k != nil {
			k.all = append(k.all, cand)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(excluded)) {
		excluded[name].checkExclusions()
	}
}

// checkExclusions compares the first exclusion of each condition and rank with the first inclusions of that rank.
func (k *keyIndex) checkExclusions() {
	slices.SortStableFunc(k.all, byRank)
	type kind struct {
		rank, condition int
		includes        bool
	}
	first, reported := map[kind]int{}, map[[2]int]bool{}
	kindOf := func(i int) kind { return kind{k.all[i].rank, k.all[i].condition, k.all[i].includes()} }
	for i := len(k.all) - 1; i >= 0; i-- {
		first[kindOf(i)] = i
	}
	for i := range k.all {
		if first[kindOf(i)] != i || k.all[i].includes() {
			continue
		}
		rank := k.all[i].rank
		for j := range k.compatible(k.terms(i), rank+1) {
			a, b := &k.all[i], &k.all[j]
			if b.rank != rank || first[kindOf(j)] != j || !b.includes() || reported[[2]int{a.order, b.order}] ||
				!k.effort.spend(8) {
				continue
			}
			if both := relation.Union(k.terms(i), k.terms(j)); !k.hidden(rank, both) {
				reported[[2]int{a.order, b.order}] = true
				k.excludes(a, b, both)
			}
		}
	}
}

// excludes reports that a excludes what b includes.
func (k *keyIndex) excludes(a, b *candidate, both loader.Condition) {
	at, other, is := a, b, [2]string{"excluded", "included"}
	if b.pos().Compare(a.pos()) < 0 {
		at, other, is = b, a, [2]string{"included", "excluded"}
	}
	k.report(diag.Diagnostic{Pos: at.pos(), Code: "conflict",
		Message: "the class '" + k.name + "' is " + is[0] + " here, and " + is[1] + " with the same precedence" +
			k.describe(both) + k.inLayer(a.layer),
		Notes: append([]diag.Note{{Pos: other.pos(), Message: "it is " + is[1] + " here"}}, k.doubts(a, both)...),
		Hint: "include or exclude '" + k.name + "' in a higher layer or under a narrower condition, or remove one of " +
			"the two"})
}
