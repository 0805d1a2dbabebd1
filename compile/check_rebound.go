package compile

import (
	"cmp"
	"maps"
	"slices"

	"bindc/internal/diag"
	"bindc/internal/relation"
)

// checkRebound warns about rebindings that have nothing below them.
func (c *checker) checkRebound() {
	c.checkRenames()
	for i := range c.rebound {
		r := &c.rebound[i]
		key, _ := c.find(r.old())
		if r.ofKey && r.below() && !c.indexes[key].anyBelow(r, c.ranks) {
			c.report(diag.Diagnostic{Pos: r.More.Rebinds.Pos, Severity: diag.Warning, Code: "rebind",
				Message: "nothing that binds '" + r.old() + "' is below this: it has no effect",
				Hint:    "take it to a higher layer, or under a condition of higher precedence, than what it is about"})
		}
	}
}

// checkRenames reports contributions of one name that have two new names at one precedence. For keys, checkConflicts
// does that.
func (c *checker) checkRenames() {
	byName := map[string]*keyIndex{}
	for i := range c.rebound {
		r := &c.rebound[i]
		if !r.ofPart || r.ofKey || !r.More.Erases {
			continue
		}
		if byName[r.old()] == nil {
			byName[r.old()] = &keyIndex{env: c.env, name: r.old()}
		}
		k := byName[r.old()]
		for _, condition := range r.When {
			k.all = append(k.all, candidate{binding: r.Binding, layer: r.layer, order: r.order, condition: condition,
				rank: c.ranks.rank(r.layer, condition)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		byName[name].checkRenames()
	}
}

func (k *keyIndex) checkRenames() {
	slices.SortStableFunc(k.all, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	for i := range k.all {
		for j := range k.compatible(k.terms(i), k.all[i].rank+1) {
			if a, b := &k.all[i], &k.all[j]; a.rank == b.rank && a.order < b.order {
				k.conflict(a, b, relation.Union(k.terms(i), k.terms(j)))
			}
		}
	}
}

// anyBelow reports whether a candidate below r can be effective together with it.
func (k *keyIndex) anyBelow(r *rebound, ranks *ranking) bool {
	for _, condition := range r.When {
		rank := ranks.rank(r.layer, condition)
		for i := range k.compatible(k.site.Conditions[condition], noRank) {
			if k.all[i].rank > rank && !k.all[i].erases() && k.all[i].order != r.order {
				return true
			}
		}
	}
	return false
}
