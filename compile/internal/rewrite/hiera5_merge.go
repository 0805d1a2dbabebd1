package rewrite

import (
	"slices"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

type merger struct {
	*pass.Env
	*place.Tables
	scopes  []place.Scope
	refused map[diag.Pos]bool // positions of patterns already reported as too slow
	Merges
}

// mergeHiera finds the keys to which lookup_options apply. It also checks the lookup_options.
func mergeHiera(e *pass.Env, t *place.Tables, scopes []place.Scope) *Merges {
	m := merger{Env: e, Tables: t, scopes: scopes, refused: map[diag.Pos]bool{},
		Merges: Merges{layers: e.Site.Layers, ByKey: map[uint32]MergedKey{}, options: findLookupOptions(e, t, scopes)}}
	m.Hierarchies = findHierarchies(e.Site, t, m.options)
	if len(m.options) == 0 {
		return &m.Merges
	}
	for _, key := range m.hieraKeys() {
		m.mergeKey(key)
	}
	checkLookupOptions(e, t, scopes, m.options)
	m.addSecretValues()
	return &m.Merges
}

// hieraKeys returns the keys that the hierarchies bind, without lookup_options, in order of appearance.
func (m *merger) hieraKeys() (out []uint32) {
	seen := make([]bool, len(m.Keys))
	for i := range m.scopes {
		s := &m.scopes[i]
		if !m.IsHiera(s.Layer) {
			continue
		}
		for key := range s.Bound() {
			if !seen[key] && !IsLookupOptions(m.Keys[key]) {
				out = append(out, key)
			}
			seen[key] = true
		}
	}
	return out
}

// addSecretValues adds a sensitive form of each value that lookup_options may make sensitive.
func (m *merger) addSecretValues() {
	for i := range m.scopes {
		s := &m.scopes[i]
		for key, val := range s.Bound() {
			if k, ok := m.In(s.Layer, key); ok && k.Secret != nil {
				k.Secret[val] = m.secretValue(val)
			}
		}
	}
}

// secretValue returns the number of the sensitive form of val.
func (m *merger) secretValue(val uint32) uint32 {
	r, err := m.Recipe(val)
	if err != nil {
		return val // a lookup reports the error
	}
	r.Sensitive, m.sensitive = true, true
	return m.KeepRecipe(r)
}

// mergeKey records a key if lookup_options apply to it.
func (m *merger) mergeKey(key uint32) {
	parsed, _ := lookupkey.Parse(m.Keys[key]) // an invalid key has an empty root
	module := lookupkey.Module(parsed.Root)
	var own, defaults []lookupOptions
	for _, o := range m.options {
		switch {
		case o.module != "" && o.module != module:
		case m.Site.Layers[o.layer].Hiera == loader.HieraDefaults:
			defaults = append(defaults, o)
		default:
			own = append(own, o)
		}
	}
	var k MergedKey
	k.recipe, k.Entry = m.mergeRecipe(parsed.Root, own)
	touches := func(o lookupOptions) bool { return m.touches(o, parsed.Root) }
	if k.recipe == noValue && !slices.ContainsFunc(defaults, touches) {
		return
	}
	k.defaults = m.KeepRecipe(&recipe.Recipe{Kind: recipe.Merged, Name: module})
	secret := func(o lookupOptions) bool { return m.makesSecret(o, parsed.Root) }
	if slices.ContainsFunc(own, secret) || slices.ContainsFunc(defaults, secret) {
		k.Secret = map[uint32]uint32{}
	}
	k.Internal = m.AddKey(recipe.MergeKey(m.Keys[key]))
	m.ByKey[key] = k
}

// touches reports whether o may apply to root.
func (m *merger) touches(o lookupOptions, root string) bool {
	if o.level == nil || m.Effort.Over() {
		return true
	}
	touches, err := o.level.Touches(root, &m.Effort.Left)
	switch {
	case m.Effort.Over():
		m.Effort.OnPatterns = o.position(m.Tables, "")
	case err != nil:
		m.refusePattern(o, err)
	}
	return touches || err != nil
}

// makesSecret reports whether o may make the value of root sensitive.
func (m *merger) makesSecret(o lookupOptions, root string) bool {
	return o.secret || o.level != nil && o.level.Secret(root, &m.Effort.Left)
}

// mergeRecipe returns the recipe for root, or noValue if lookup_options do not change its lookups. It also returns the
// entry for root, if all requests have the same one.
func (m *merger) mergeRecipe(root string, all []lookupOptions) (uint32, *merge.Entry) {
	touched, depends, erases := false, false, false
	var levels [][]*merge.Level
	part := loader.NoHiera
	for _, o := range all {
		touches := m.touches(o, root)
		touched = touched || touches
		depends = depends || touches && (o.level == nil || o.condition != 0)
		erases = erases || o.condition != 0 && o.level != nil && o.level.Erases()
		if o.condition != 0 {
			continue
		}
		if in := m.Site.Layers[o.layer].Hiera; in != part {
			levels, part = append(levels, nil), in
		}
		levels[len(levels)-1] = append(levels[len(levels)-1], o.level)
	}
	if !touched {
		return noValue, nil
	}
	r := &recipe.Recipe{Kind: recipe.Merged}
	var entry *merge.Entry
	if !depends && !erases {
		options, err := merge.Combine(levels...)
		var e *merge.Entry
		if err == nil {
			e, err = options.For(root, &m.Effort.Left)
		}
		switch {
		case err != nil: // every lookup reports the error
		case e.Plain():
			return noValue, nil
		default:
			entry = e
			r.Value = value.FromPairs(value.Pair{Key: value.FromString(root), Value: e.Value()})
		}
	}
	return m.KeepRecipe(r), entry
}

// refusePattern reports a pattern that takes too many steps to match, so that the lookup_options of a key are
// unknown.
func (m *merger) refusePattern(o lookupOptions, err error) {
	at := o.position(m.Tables, "")
	if wrong, ok := err.(*merge.MergeError); ok {
		at = o.position(m.Tables, wrong.Entry)
	}
	if m.refused[at] {
		return
	}
	m.refused[at] = true
	m.Report(diag.Diagnostic{Pos: at, Code: "hiera_options", Message: err.Error(),
		Hint: "simplify the pattern so that it has fewer ways to match the same text"})
}
