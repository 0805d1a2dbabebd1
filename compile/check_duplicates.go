package compile

import (
	"maps"
	"slices"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/loader"
)

// checkTwice reports contributions of one name that are always effective together if no rule chooses between them. when
// has the conditions under which the multibinding is effective.
func (c *checker) checkTwice(all []candidate, d declaration, when []loader.Condition) {
	byName := map[string]*keyIndex{}
	for _, cand := range all {
		name := cand.binding.Key
		if !decides(d.options, name != "") || !cand.final() || c.multibinds.renamed[d.binding.More.Multibind.ID] {
			continue // there may be none of that name
		}
		if byName[name] == nil {
			byName[name] = &keyIndex{env: c.env, name: name}
		}
		byName[name].all = append(byName[name].all, cand)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name].checkTwice(d, when)
	}
}

// checkTwice compares the first contribution of each condition and rank with the first ones of others, and with the
// others of its own, see checkRank.
func (k *keyIndex) checkTwice(d declaration, when []loader.Condition) {
	slices.SortStableFunc(k.all, byRank)
	first := map[[2]int]int{} // by condition and rank
	kind := func(i int) [2]int { return [2]int{k.all[i].condition, k.all[i].rank} }
	for i := len(k.all) - 1; i >= 0; i-- {
		first[kind(i)] = i
	}
	reported := map[[2]int]bool{} // by order
	for i := range k.all {
		if first[kind(i)] != i {
			continue
		}
		for j := range k.implied(k.terms(i), noRank) {
			a, b := &k.all[min(i, j)], &k.all[max(i, j)]
			pair := [2]int{a.order, b.order}
			if f := first[kind(j)]; (f == i || f == j) && a.order != b.order && !reported[pair] &&
				k.collide(i, j, d.options, when) {
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
	if !k.effort.spend(8*len(when)) || !k.relations.Implies(k.terms(j), k.terms(i)) ||
		!slices.ContainsFunc(when, func(w loader.Condition) bool { return k.relations.Together(w, k.terms(i)) }) {
		return false
	}
	rank := k.all[i].rank
	return o.Resolution == recipe.ErrorOnConflict || rank == k.all[j].rank && !k.hidden(rank, k.terms(i))
}

func (k *keyIndex) duplicate(a, b *candidate, d declaration, terms loader.Condition) {
	same := "the same name and precedence"
	if d.options.Resolution == recipe.ErrorOnConflict {
		same = "the same name"
	}
	k.report(diag.Diagnostic{Pos: b.pos(), Code: "duplicate",
		Message: "two contributions to '" + d.binding.Key + "' have " + same + k.describe(terms),
		Notes:   []diag.Note{{Pos: a.pos(), Message: "the other one"}}})
}
