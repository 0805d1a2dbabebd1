package index

import (
	"cmp"
	"maps"
	"slices"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// Lists holds the entries of internal keys: the contributions of each scope to multibindings, and the Hiera 5
// hierarchies.
type Lists struct {
	byScope map[place.ScopeKey][]snapshot.Entry // sorted by key
	cold    map[uint32][]coldBinding            // contributions by key
	ARM8    bool                                // whether any contribution uses ARM-8 operations
}

// ListContributions returns the entries of internal keys. It also sets the keys of the contributions in s and sorts
// them by scope.
func ListContributions(e *pass.Env, s *Ordered) *Lists {
	out := &Lists{byScope: map[place.ScopeKey][]snapshot.Entry{}, cold: map[uint32][]coldBinding{}}
	for _, id := range slices.Sorted(maps.Keys(s.Multibinds.Contributions)) {
		if len(s.Multibinds.Declared[id]) == 0 {
			continue
		}
		key, _ := s.Names.Find(recipe.ContributionKey(id))
		all := s.Multibinds.Contributions[id]
		for i := range all {
			all[i].Key = key
		}
		out.cold[key] = coldContributions(e.Site, all)
		slices.SortStableFunc(all, func(a, b place.Candidate) int { // group by scope, for the loop below
			return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Condition, b.Condition),
				cmp.Compare(a.Order, b.Order))
		})
		for len(all) > 0 {
			at := place.ScopeKey{Layer: all[0].Layer, Condition: all[0].Condition}
			n := 1
			for n < len(all) && all[n].Layer == at.Layer && all[n].Condition == at.Condition {
				n++
			}
			list := s.KeepRecipe(&recipe.Recipe{Kind: recipe.Contributions, Parts: out.parts(all[:n])})
			out.byScope[at] = append(out.byScope[at], snapshot.Entry{Key: key, Value: s.Stored(list)})
			all = all[n:]
		}
	}
	out.addHierarchies(e, s)
	return out
}

func (l *Lists) parts(all []place.Candidate) []recipe.Part {
	parts := make([]recipe.Part, len(all))
	for i, cand := range all {
		key := cand.Binding.Key
		l.ARM8 = l.ARM8 || !cand.Recipe.IsFinal() || cand.Recipe.Renames()
		parts[i] = recipe.Part{Name: key, Named: key != "", Precedence: uint32(cand.Rank), Place: uint32(cand.Order),
			Recipe: cand.Recipe}
	}
	return parts
}

// addHierarchies adds the entry of recipe.HierarchiesKey, which is unconditional in the first Hiera 5 layer.
func (l *Lists) addHierarchies(e *pass.Env, s *Ordered) {
	h := s.Merges.Hierarchies
	if h == nil {
		return
	}
	layer := slices.IndexFunc(e.Site.Layers, pass.IsHieraLayer)
	at := place.ScopeKey{Layer: layer}
	l.byScope[at] = append(l.byScope[at], snapshot.Entry{Key: s.InNames[h.Key], Value: s.Stored(h.Value)})
}
