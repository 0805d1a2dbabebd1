package rewrite

import (
	"bindc/compile/internal/pass"
	"bindc/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/loader"
	"bindc/snapshot"
)

// Merges holds the Hiera 5 keys to which lookup_options apply, and the reasons why lookups of a whole hierarchy may
// fail.
type Merges struct {
	layers      []loader.Layer
	ByKey       map[uint32]MergedKey // merged keys, by number in place.Tables
	Hierarchies *InternalBinding     // binding of recipe.HierarchiesKey; may be nil
	sensitive   bool                 // lookup_options make some value sensitive
	options     []lookupOptions      // the site's lookup_options, highest first
}

// InternalBinding is an unconditional binding of an internal key.
type InternalBinding struct{ Key, Value uint32 }

// MergedKey is a Hiera 5 key to which lookup_options apply. The values from files are bound to an internal key. The
// key itself is bound to a recipe that merges these values.
type MergedKey struct {
	Internal uint32 // the internal key of the values

	// recipe is the number in place.Tables of the recipe that merges the values of the hierarchies. defaults is the
	// same for default_hierarchy. Each is noValue if lookup_options do not apply.
	recipe, defaults uint32

	Entry *merge.Entry // the options if they are the same for all requests, or nil

	// Secret maps values in files to their sensitive forms. It is nil if lookup_options cannot make the result
	// sensitive.
	Secret map[uint32]uint32
}

const noValue = ^uint32(0)

// In returns how to merge key if layer binds it. It returns false if the key is not merged.
func (ms *Merges) In(layer int, key uint32) (MergedKey, bool) {
	part := ms.layers[layer].Hiera
	if part == loader.NoHiera {
		return MergedKey{}, false
	}
	m, ok := ms.ByKey[key]
	if part != loader.HieraDefaults { // default_hierarchy merges every key in ByKey
		ok = ok && m.recipe != noValue
	}
	return m, ok
}

// Place returns the position of the highest lookup_options entry that applies to key and has the name of e. ok is false
// if no such entry exists.
func (ms *Merges) Place(key string, e *merge.Entry) (at diag.Pos, ok bool) {
	module := lookupkey.Module(key)
	for i := range ms.options {
		o := &ms.options[i]
		if at, ok := o.entries[e.Name]; ok && o.level != nil && (o.module == "" || o.module == module) {
			return at, true
		}
	}
	return diag.Pos{}, false
}

// Found returns the number of the value that lookups find if layer binds key to val. This is val itself, or a recipe
// that merges values.
func (ms *Merges) Found(layer int, key, val uint32) uint32 {
	m, ok := ms.In(layer, key)
	switch {
	case !ok:
		return val
	case ms.layers[layer].Hiera == loader.HieraDefaults:
		return m.defaults
	}
	return m.recipe
}

// InternalValue returns the number of the value that is bound to the internal key for val, a value in a file.
func (m MergedKey) InternalValue(val uint32) uint32 {
	if secret, ok := m.Secret[val]; ok {
		return secret
	}
	return val
}

// HieraPlaces returns the place of each layer in the Hiera 5 hierarchies. It returns nil for a site without Hiera 5.
func HieraPlaces(site *loader.Site) []snapshot.HieraPlace {
	out := make([]snapshot.HieraPlace, len(site.Layers))
	found := false
	for i, l := range site.Layers {
		out[i] = snapshot.HieraPlace{Part: snapshot.HieraPart(l.Hiera), Entry: l.Entry, OnlyPath: l.OnlyPath,
			OnlyEntry: l.OnlyEntry}
		found = found || pass.IsHieraLayer(l)
	}
	if !found {
		return nil
	}
	return out
}
