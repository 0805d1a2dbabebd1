package rewrite

import (
	"slices"

	"bindc/compile/internal/place"
	"bindc/internal/bindingsfile"
	"bindc/internal/recipe"
	"bindc/loader"
)

// bindCollected returns the multibindings that collect included classes and dependencies from all sets (language.md,
// sections 14.3 and 14.4).
func bindCollected(p *place.Placement) (out []place.LayeredBinding) {
	includes := func(cand place.Candidate) bool { return cand.Includes() }
	if slices.ContainsFunc(p.Multibinds.Contributions[recipe.ClassesKey], includes) {
		out = append(out, collectUnder(p, recipe.ClassesKey, &recipe.Options{Resolution: recipe.Included}))
	}
	if len(p.Multibinds.Contributions[recipe.DependenciesKey]) > 0 {
		out = append(out, collectUnder(p, recipe.DependenciesKey, &recipe.Options{Array: true, Uniq: true}))
	}
	return out
}

// collectUnder returns a multibinding whose key and id are both key. It is unconditional, in the lowest layer with
// contributions, and has the position of that layer's first contribution.
func collectUnder(p *place.Placement, key string, o *recipe.Options) place.LayeredBinding {
	all := p.Multibinds.Contributions[key]
	layer := all[len(all)-1].Layer
	first := all[slices.IndexFunc(all, func(cand place.Candidate) bool { return cand.Layer == layer })]
	r := &recipe.Recipe{Kind: recipe.Multibind, Name: recipe.ContributionKey(key), Options: o}
	more := &bindingsfile.Compiled{Key: key, Pos: first.Pos(), Recipe: r,
		Multibind: &bindingsfile.Multibind{ID: key, Options: o}}
	number := uint32(0)
	if i := slices.Index(p.Keys, key); i >= 0 { // the site may have the key already
		number = uint32(i)
	} else {
		number = p.AddKey(key)
	}
	b := &loader.Binding{Key: key, When: []int{0}, Pos: first.Pos(), Number: number, Value: p.Number(r), More: more}
	return place.LayeredBinding{Binding: b, Layer: layer}
}
