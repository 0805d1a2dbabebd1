package check

import (
	"maps"
	"slices"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/loader"
)

// checkTwice reports contributions of one name that are always effective together if no rule chooses between them. when
// has the conditions under which the multibinding is effective.
func (c *checker) checkTwice(all []place.Candidate, d place.Declaration, when []loader.Condition) {
	byName := map[string]*keyIndex{}
	for _, cand := range all {
		name := cand.Binding.Key
		if !decides(d.Options, name != "") || !cand.Final() || c.Multibinds.Renamed[d.Binding.More.Multibind.ID] {
			continue // the name may have no contribution
		}
		if byName[name] == nil {
			byName[name] = &keyIndex{Env: c.Env, name: name}
		}
		byName[name].all = append(byName[name].all, cand)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name].checkTwice(d, when)
	}
}

// checkTwice compares the first contribution of each condition and rank with the first ones of others, and with the
// others of the same condition and rank, see checkRank.
func (k *keyIndex) checkTwice(d place.Declaration, when []loader.Condition) {
	slices.SortStableFunc(k.all, place.ByRank)
	first := map[[2]int]int{} // by condition and rank
	kind := func(i int) [2]int { return [2]int{k.all[i].Condition, k.all[i].Rank} }
	for i := len(k.all) - 1; i >= 0; i-- {
		first[kind(i)] = i
	}
	reported := map[[2]int]bool{} // by order
	for i := range k.all {
		if first[kind(i)] != i {
			continue
		}
		for j := range k.implied(k.terms(i), index.NoRank) {
			a, b := &k.all[min(i, j)], &k.all[max(i, j)]
			pair := [2]int{a.Order, b.Order}
			if f := first[kind(j)]; (f == i || f == j) && a.Order != b.Order && !reported[pair] &&
				k.collide(i, j, d.Options, when) {
				reported[pair] = true
				k.duplicate(a, b, d, k.terms(i))
			}
		}
	}
}

// decides reports whether only one of several contributions of one name, or without a name, can count.
func decides(o *recipe.Options, named bool) bool {
	switch {
	case !o.Array:
		return o.Resolution == recipe.Priority || o.Resolution == recipe.ErrorOnConflict
	case named:
		return o.PriorityOnNamed
	}
	return o.PriorityOnUnnamed
}

// collide reports whether contributions i and j are an error in every request in which one of them is effective. j is
// effective whenever i is.
func (k *keyIndex) collide(i, j int, o *recipe.Options, when []loader.Condition) bool {
	if !k.Effort.Spend(8*len(when)) || !k.Relations.Implies(k.terms(j), k.terms(i)) ||
		!slices.ContainsFunc(when, func(w loader.Condition) bool { return k.Relations.Together(w, k.terms(i)) }) {
		return false
	}
	rank := k.all[i].Rank
	return o.Resolution == recipe.ErrorOnConflict || rank == k.all[j].Rank && !k.hidden(rank, k.terms(i))
}

// duplicate reports two contributions of one name.
func (k *keyIndex) duplicate(a, b *place.Candidate, d place.Declaration, terms loader.Condition) {
	same := "the same name and precedence"
	if d.Options.Resolution == recipe.ErrorOnConflict {
		same = "the same name"
	}
	k.Report(diag.Diagnostic{Pos: b.Pos(), Code: "duplicate",
		Message: "two contributions to '" + d.Binding.Key + "' have " + same + k.Describe(terms),
		Notes:   []diag.Note{{Pos: a.Pos(), Message: "the other one"}}})
}
