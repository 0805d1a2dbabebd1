package compile

import (
	"slices"

	"bindc/internal/binding"
	"bindc/internal/recipe"
	"bindc/loader"
)

// bindCollected returns the bindings of the keys that statements of many sets bind together (language.md, sections 14.3
// and 14.4). Each key is bound to a multibinding.
func bindCollected(p *placement) (out []layeredBinding) {
	includes := func(cand candidate) bool { return cand.includes() }
	if slices.ContainsFunc(p.multibinds.contributions[recipe.ClassesKey], includes) {
		out = append(out, collectUnder(p, recipe.ClassesKey, &recipe.Options{Resolution: recipe.Included}))
	}
	if len(p.multibinds.contributions[recipe.DependenciesKey]) > 0 {
		out = append(out, collectUnder(p, recipe.DependenciesKey, &recipe.Options{Array: true, Uniq: true}))
	}
	return out
}

// collectUnder returns a binding of key to the multibinding with the key as its id: an unconditional binding in the
// lowest layer with contributions, at the position of the first of them.
func collectUnder(p *placement, key string, o *recipe.Options) layeredBinding {
	all := p.multibinds.contributions[key]
	layer := all[len(all)-1].layer
	first := all[slices.IndexFunc(all, func(cand candidate) bool { return cand.layer == layer })]
	r := &recipe.Recipe{Kind: recipe.Multibind, Name: recipe.ContributionKey(key), Options: o}
	more := &binding.Binding{Key: key, Pos: first.pos(), Recipe: r, Multibind: &binding.Multibind{ID: key, Options: o}}
	number := uint32(0)
	if i := slices.Index(p.keys, key); i >= 0 { // another binding may have the key too
		number = uint32(i)
	} else {
		number = p.addKey(key)
	}
	return layeredBinding{&loader.Binding{Key: key, When: []int{0}, Pos: first.pos(), Number: number,
		Value: p.number(r), More: more}, layer}
}
