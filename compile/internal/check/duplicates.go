package check

import (
	"maps"
	"slices"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/loader"
)

// checkTwice reports contributions that have the same name and are always effective together, unless a rule selects one
// of them. when lists the conditions of the multibinding. The names of the contributions must be final; see
// Multibinds.Renamed.
func checkTwice(e *pass.Env, all []place.Candidate, d place.Declaration, when []loader.Condition) {
	byName := map[string]*keyIndex{}
	for _, cand := range all {
		name := cand.Binding.Key
		if !decides(d.Options, name != "") || !cand.Final() {
			continue // all contributions are used, or this one may decline
		}
		if byName[name] == nil {
			byName[name] = &keyIndex{Env: e, name: name}
		}
		byName[name].all = append(byName[name].all, cand)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name].checkTwice(d, when)
	}
}

// checkTwice compares the contributions with one name. It groups them by condition and rank. It compares the first
// contribution of each group with the rest of the group, and with the first of each other group.
func (k *keyIndex) checkTwice(d place.Declaration, when []loader.Condition) {
	slices.SortStableFunc(k.all, place.ByRank)
	first := map[[2]int]int{} // indexes by condition and rank
	kind := func(i int) [2]int { return [2]int{k.all[i].Condition, k.all[i].Rank} }
	for i := len(k.all) - 1; i >= 0; i-- {
		first[kind(i)] = i
	}
	reported := map[[2]int]bool{} // pairs by their order in the input
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

// decides reports whether a multibinding uses only one of several contributions with the same name, or rejects them. If
// named is false, it reports this for contributions without a name.
func decides(o *recipe.Options, named bool) bool {
	switch {
	case !o.Array:
		return o.Resolution == recipe.Priority || o.Resolution == recipe.ErrorOnConflict
	case named:
		return o.PriorityOnNamed
	}
	return o.PriorityOnUnnamed
}

// collide reports whether it is an error that contributions i and j are always effective together. The caller has
// checked that j is effective wherever i is.
func (k *keyIndex) collide(i, j int, o *recipe.Options, when []loader.Condition) bool {
	if !k.Effort.Spend(8*len(when)) || !k.Relations.Implies(k.terms(j), k.terms(i)) ||
		!slices.ContainsFunc(when, func(w loader.Condition) bool { return k.Relations.Together(w, k.terms(i)) }) {
		return false
	}
	rank := k.all[i].Rank
	return o.Resolution == recipe.ErrorOnConflict || rank == k.all[j].Rank && !k.hidden(rank, k.terms(i))
}

func (k *keyIndex) duplicate(a, b *place.Candidate, d place.Declaration, terms loader.Condition) {
	same := "the same name and precedence"
	if d.Options.Resolution == recipe.ErrorOnConflict {
		same = "the same name"
	}
	k.Report(diag.Diagnostic{Pos: b.Pos(), Code: "duplicate",
		Message: "two contributions to '" + d.Binding.Key + "' have " + same + k.Describe(terms),
		Notes:   []diag.Note{{Pos: a.Pos(), Message: "the other one"}}})
}
