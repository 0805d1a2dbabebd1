package compile

import (
	"strings"

	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/loader"
	"bindc/snapshot"
)

// merges holds the keys of Hiera 5 that lookup_options touch, and what can make lookups of a whole hierarchy fail.
type merges struct {
	layers      []loader.Layer
	byKey       map[uint32]mergedKey // by number in tables
	hierarchies *internalBinding     // see findHierarchies; nil if there is nothing to say
	sensitive   bool                 // lookup_options make a value sensitive
}

// internalBinding is an unconditional binding of a key that no site can bind.
type internalBinding struct{ key, value uint32 }

// mergedKey is a key of Hiera 5 that lookup_options touch. The values that files bind to it are filed under an internal
// key. The key itself is bound to a recipe that merges them.
type mergedKey struct {
	internal uint32 // the internal key, in tables

	// recipe and defaults are recipes, by number in tables: of the hierarchies, noValue if not touched there, and of
	// default_hierarchy.
	recipe, defaults uint32

	entry *merge.Entry // the options, if they are the same in every request

	// secret has the sensitive form of each value, by the value in the files. It is nil if lookup_options cannot make
	// the result sensitive.
	secret map[uint32]uint32
}

const noValue = ^uint32(0)

// isLookupOptions reports whether a key is one of those of which all bindings count, and not only the highest.
func isLookupOptions(key string) bool { return strings.HasPrefix(key, recipe.LookupOptionsKey) }

// in returns how a key is merged if something binds it in a layer.
func (ms *merges) in(layer int, key uint32) (mergedKey, bool) {
	m, ok := ms.byKey[key]
	switch ms.layers[layer].Hiera {
	case loader.NoHiera:
		ok = false
	case loader.HieraDefaults: // a key that is merged in some hierarchy is merged there
	default:
		ok = ok && m.recipe != noValue
	}
	return m, ok
}

// found returns the value that a lookup finds where a layer binds key to val: val, or a recipe that merges.
func (ms *merges) found(layer int, key, val uint32) uint32 {
	m, ok := ms.in(layer, key)
	switch {
	case !ok:
		return val
	case ms.layers[layer].Hiera == loader.HieraDefaults:
		return m.defaults
	}
	return m.recipe
}

// filed returns the value that is filed under the internal key for a value in a file.
func (m mergedKey) filed(val uint32) uint32 {
	if secret, ok := m.secret[val]; ok {
		return secret
	}
	return val
}

// hieraPlaces returns what each layer is to Hiera 5, or nil if the site has no hierarchy of Hiera 5.
func hieraPlaces(site *loader.Site) []snapshot.HieraPlace {
	out := make([]snapshot.HieraPlace, len(site.Layers))
	found := false
	for i, l := range site.Layers {
		out[i] = snapshot.HieraPlace{Part: snapshot.HieraPart(l.Hiera), Entry: l.Entry, OnlyPath: l.OnlyPath,
			OnlyEntry: l.OnlyEntry}
		found = found || isHieraLayer(l)
	}
	if !found {
		return nil
	}
	return out
}
