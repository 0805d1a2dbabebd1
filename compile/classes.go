package compile

import (
	"cmp"
	"maps"
	"slices"

	"bindc/internal/bindingsfile"
	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/loader"
)

// bindCollected binds the keys that statements of many sets make together (language.md, sections 14.3 and 14.4), each
// to a multibinding.
func (c *composer) bindCollected() {
	if slices.ContainsFunc(c.contributions[recipe.ClassesKey], includes) {
		c.collectUnder(recipe.ClassesKey, &recipe.Options{Resolution: recipe.Included})
	}
	if len(c.contributions[recipe.DependenciesKey]) > 0 {
		c.collectUnder(recipe.DependenciesKey, &recipe.Options{Array: true, Uniq: true})
	}
}

// collectUnder binds key to the multibinding with the key as its id, unconditionally and below everything, where the
// first contribution of the lowest layer stands.
func (c *composer) collectUnder(key string, o *recipe.Options) {
	cs := c.contributions[key]
	layer := cs[len(cs)-1].layer
	first := cs[slices.IndexFunc(cs, func(cand candidate) bool { return cand.layer == layer })]
	r := &recipe.Recipe{Kind: recipe.Multibind, Name: recipe.ContributionKey(key), Options: o}
	more := &bindingsfile.Compiled{Key: key, Pos: first.pos(), Recipe: r,
		Multibind: &bindingsfile.Multibind{ID: key, Options: o}}
	number := slices.Index(c.keys, key) // it may be bound once more
	if number < 0 {
		number = len(c.keys)
		c.keys = append(c.keys, key)
	}
	b := &loader.Binding{Key: key, When: []int{0}, Pos: first.pos(), Number: uint32(number), Value: c.valueNumber(r),
		More: more}
	c.addBinding(b, layer)
	c.bindings-- // nobody has written it
}

// includes tells whether a contribution includes a class.
func includes(cand candidate) bool { return cand.recipe.Value.Text() == recipe.Include }

// checkClasses reports classes that are included and excluded at one precedence in some request, unless something above
// hides both.
func (c *composer) checkClasses(cs []candidate) {
	excluded := map[string]*keyIndex{}
	for _, cand := range cs {
		if !includes(cand) {
			excluded[cand.binding.Key] = &keyIndex{composer: c, name: cand.binding.Key}
		}
	}
	for _, cand := range cs {
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
	slices.SortStableFunc(k.all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.place, b.place))
	})
	type kind struct {
		rank, condition int
		includes        bool
	}
	first, reported := map[kind]int{}, map[[2]int]bool{}
	kindOf := func(i int) kind { return kind{k.all[i].rank, k.all[i].condition, includes(k.all[i])} }
	for i := len(k.all) - 1; i >= 0; i-- {
		first[kindOf(i)] = i
	}
	for i := range k.all {
		if first[kindOf(i)] != i || includes(k.all[i]) {
			continue
		}
		rank := k.all[i].rank
		for j := range k.compatible(k.terms(i), rank+1) {
			a, b := &k.all[i], &k.all[j]
			if b.rank != rank || first[kindOf(j)] != j || !includes(*b) || reported[[2]int{a.place, b.place}] ||
				!k.effort.spend(8) {
				continue
			}
			if both := relation.Union(k.terms(i), k.terms(j)); !k.hidden(rank, both) {
				reported[[2]int{a.place, b.place}] = true
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
