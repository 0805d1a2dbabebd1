package compile

import (
	"cmp"
	"maps"
	"slices"

	"bindc/internal/recipe"
	"bindc/snapshot"
)

// internalEntries holds the entries under internal keys: what each scope contributes to multibindings, and the
// hierarchies of Hiera 5.
type internalEntries struct {
	byScope map[scopeKey][]snapshot.Entry // sorted by key
	cold    map[uint32][]coldBinding      // contributions, by key
	arm8    bool                          // a contribution is an operation of ARM-8
}

// listContributions returns the entries under internal keys. It sets the keys of contributions, and sorts those to a
// multibinding by scope.
func listContributions(e *env, s *orderedSite) *internalEntries {
	out := &internalEntries{byScope: map[scopeKey][]snapshot.Entry{}, cold: map[uint32][]coldBinding{}}
	for _, id := range slices.Sorted(maps.Keys(s.multibinds.contributions)) {
		if len(s.multibinds.declared[id]) == 0 {
			continue
		}
		key, _ := s.find(recipe.ContributionKey(id))
		all := s.multibinds.contributions[id]
		for i := range all {
			all[i].key = key
		}
		out.cold[key] = coldContributions(e.site, all)
		slices.SortStableFunc(all, func(a, b candidate) int { // the order of their origins, see sortCold
			return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.condition, b.condition),
				cmp.Compare(a.order, b.order))
		})
		for len(all) > 0 {
			at := scopeKey{all[0].layer, all[0].condition}
			n := 1
			for n < len(all) && all[n].layer == at.layer && all[n].condition == at.condition {
				n++
			}
			list := s.keepRecipe(&recipe.Recipe{Kind: recipe.Contributions, Parts: out.parts(all[:n])})
			out.byScope[at] = append(out.byScope[at], snapshot.Entry{Key: key, Value: s.stored(list)})
			all = all[n:]
		}
	}
	out.addHierarchies(e, s)
	return out
}

// parts returns the contributions of one scope for a recipe.
func (out *internalEntries) parts(all []candidate) []recipe.Part {
	parts := make([]recipe.Part, len(all))
	for i, cand := range all {
		key := cand.binding.Key
		out.arm8 = out.arm8 || !cand.recipe.IsFinal() || cand.recipe.Renames()
		parts[i] = recipe.Part{Name: key, Named: key != "", Precedence: uint32(cand.rank), Place: uint32(cand.order),
			Recipe: cand.recipe}
	}
	return parts
}

// addHierarchies adds what findHierarchies found, for every request.
func (out *internalEntries) addHierarchies(e *env, s *orderedSite) {
	h := s.merges.hierarchies
	if h == nil {
		return
	}
	layer := slices.IndexFunc(e.site.Layers, isHieraLayer)
	at := scopeKey{layer, 0}
	out.byScope[at] = append(out.byScope[at], snapshot.Entry{Key: s.inNames[h.key], Value: s.stored(h.value)})
}
