package rewrite

import (
	"maps"
	"slices"

	"bindc/compile/internal/place"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// findHierarchies returns the binding of recipe.HierarchiesKey. Its value lists what can make all lookups in a
// hierarchy fail: paths that depend on the request, and lookup_options that have or may have errors. For explanations,
// the value also has the source of the hierarchies. If all of this is empty, findHierarchies returns nil.
func findHierarchies(site *loader.Site, t *place.Tables, options []lookupOptions) *InternalBinding {
	var paths []value.Pair
	for _, module := range slices.Sorted(maps.Keys(site.Paths)) {
		numbers := slices.Clone(site.Paths[module])
		slices.Sort(numbers)
		var list []value.Value
		for _, n := range slices.Compact(numbers) {
			list = append(list, value.FromInt(int64(n)))
		}
		paths = append(paths, value.Pair{Key: value.FromString(module), Value: value.FromSlice(list)})
	}
	var modules []value.Value
	for _, module := range doubtfulModules(site, options) {
		modules = append(modules, value.FromString(module))
	}
	written := writtenHierarchies(site.Hierarchies)
	if len(paths)+len(modules)+len(written) == 0 {
		return nil
	}
	found := value.FromPairs(value.Pair{Key: value.FromString("paths"), Value: value.FromPairs(paths...)},
		value.Pair{Key: value.FromString("options"), Value: value.FromSlice(modules)},
		value.Pair{Key: value.FromString("written"), Value: value.FromSlice(written)})
	val := t.KeepRecipe(&recipe.Recipe{Kind: recipe.Constant, Value: found})
	return &InternalBinding{Key: t.AddKey(recipe.HierarchiesKey), Value: val}
}

// writtenHierarchies returns the source of hierarchies as values, as described in docs/recipes.md.
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

// doubtfulModules returns the modules whose lookup_options may make lookups fail.
func doubtfulModules(site *loader.Site, options []lookupOptions) (modules []string) {
	for _, o := range options {
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
