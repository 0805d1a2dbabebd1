package compile

import (
	"maps"
	"slices"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// findHierarchies finds what can fail all lookups of a hierarchy of Hiera 5: paths that depend on the request, and
// lookup_options that are wrong, or may be. With them go the hierarchies as they are written, for explanations.
func (c *composer) findHierarchies(all []lookupOptions) {
	var paths []value.Pair
	for _, module := range slices.Sorted(maps.Keys(c.site.Paths)) {
		numbers := slices.Clone(c.site.Paths[module])
		slices.Sort(numbers)
		var list []value.Value
		for _, n := range slices.Compact(numbers) {
			list = append(list, value.FromInt(int64(n)))
		}
		paths = append(paths, value.Pair{Key: value.FromString(module), Value: value.FromSlice(list)})
	}
	var modules []value.Value
	for _, module := range doubtful(all, c.site) {
		modules = append(modules, value.FromString(module))
	}
	written := writtenHierarchies(c.site.Hierarchies)
	if len(paths)+len(modules)+len(written) == 0 {
		return
	}
	c.hierarchies = &member{key: uint32(len(c.keys)), value: c.recipeNumber(&recipe.Recipe{Kind: recipe.Constant,
		Value: value.FromPairs(value.Pair{Key: value.FromString("paths"), Value: value.FromPairs(paths...)},
			value.Pair{Key: value.FromString("options"), Value: value.FromSlice(modules)},
			value.Pair{Key: value.FromString("written"), Value: value.FromSlice(written)})})}
	c.keys = append(c.keys, recipe.HierarchiesKey)
}

// writtenHierarchies are hierarchies as values, as format.md says.
func writtenHierarchies(all []loader.Hierarchy) (out []value.Value) {
	text := value.FromString
	for _, h := range all {
		var entries []value.Value
		for _, e := range h.Entries {
			entry := []value.Value{text(e.Name)}
			for _, l := range e.Locations {
				below := value.FromInt(int64(l.Dimension))
				if l.Dimension < 0 {
					below = text(l.Path)
				}
				entry = append(entry, value.FromSlice([]value.Value{text(l.Kind), text(l.Text), text(l.Dir), below}))
			}
			entries = append(entries, value.FromSlice(entry))
		}
		out = append(out, value.FromSlice([]value.Value{value.FromInt(int64(h.Part)), text(h.Module), text(h.Config),
			value.FromSlice(entries)}))
	}
	return out
}

// doubtful are the hierarchies with lookup_options that may fail what they are for.
func doubtful(all []lookupOptions, site *loader.Site) (modules []string) {
	for _, o := range all {
		switch {
		case o.level != nil && o.level.Sound():
		case site.Layers[o.layer].Hiera == loader.HieraDefaults:
			modules = append(modules, recipe.DefaultsOf(o.module))
		default:
			modules = append(modules, o.module)
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}

// addHierarchies binds what findHierarchies has found, for every request.
func (c *composer) addHierarchies() {
	if c.hierarchies == nil {
		return
	}
	layer := slices.IndexFunc(c.site.Layers, func(l loader.Layer) bool { return l.Hiera != loader.NoHiera })
	s := c.scope(layer, 0)
	s.contributions = append(s.contributions, snapshot.Entry{Key: c.inNames[c.hierarchies.key],
		Value: c.inStored[c.hierarchies.value] - 1})
}
