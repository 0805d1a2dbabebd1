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
	refused map[diag.Pos]bool           // positions of patterns already reported as too slow
	named   map[string][]*lookupOptions // options with an entry for a key, by that key
	others  []*lookupOptions            // options that have patterns or are not known during the build
	erasing map[string]bool             // modules whose lookup_options are null under a condition
	Merges
}

// mergeHiera finds the keys to which lookup_options apply. It also checks the lookup_options.
func mergeHiera(e *pass.Env, t *place.Tables, scopes []place.Scope) *Merges {
	m := merger{Env: e, Tables: t, scopes: scopes, refused: map[diag.Pos]bool{},
		named: map[string][]*lookupOptions{}, erasing: map[string]bool{},
		Merges: Merges{layers: e.Site.Layers, ByKey: map[uint32]MergedKey{}, options: findLookupOptions(e, t, scopes)}}
	m.Hierarchies = findHierarchies(e.Site, t, m.options)
	if len(m.options) == 0 {
		return &m.Merges
	}
	for i := range m.options {
		m.index(&m.options[i])
	}
	for _, key := range m.hieraKeys() {
		m.mergeKey(key)
	}
	checkLookupOptions(e, t, scopes, m.options)
	m.addSecretValues()
	return &m.Merges
}

// index adds o to m.named or to m.others, and its module to m.erasing if o may erase lookup_options.
func (m *merger) index(o *lookupOptions) {
	if o.level == nil {
		m.others = append(m.others, o)
		return
	}
	if o.condition != 0 && o.level.Erases() && !m.isDefault(o) {
		m.erasing[o.module] = true
	}
	if slices.ContainsFunc(o.level.Entries, (*merge.Entry).Pattern) {
		m.others = append(m.others, o)
		return
	}
	for _, e := range o.level.Entries {
		m.named[e.Name] = append(m.named[e.Name], o)
	}
}

func (m *merger) isDefault(o *lookupOptions) bool {
	return m.Site.Layers[o.layer].Hiera == loader.HieraDefaults
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

func (m *merger) secretValue(val uint32) uint32 {
	r, err := m.Recipe(val)
	if err != nil {
		return val // a lookup reports the error
	}
	r.Sensitive, m.sensitive = true, true
	return m.KeepRecipe(r)
}

// mergeKey adds key to ByKey if lookup_options apply to it.
func (m *merger) mergeKey(key uint32) {
	parsed, _ := lookupkey.Parse(m.Keys[key]) // an invalid key has an empty root
	module := lookupkey.Module(parsed.Root)
	var own, defaults []*lookupOptions
	for _, o := range slices.Concat(m.named[parsed.Root], m.others) {
		switch {
		case o.module != "" && o.module != module || !m.touches(o, parsed.Root):
		case m.isDefault(o):
			defaults = append(defaults, o)
		default:
			own = append(own, o)
		}
	}
	if len(own)+len(defaults) == 0 {
		return
	}
	k := MergedKey{recipe: noValue}
	if len(own) > 0 {
		k.recipe, k.Entry = m.mergeRecipe(parsed.Root, module, own)
	}
	if k.recipe == noValue && len(defaults) == 0 {
		return
	}
	k.defaults = m.KeepRecipe(&recipe.Recipe{Kind: recipe.Merged, Name: module})
	secret := func(o *lookupOptions) bool { return m.makesSecret(o, parsed.Root) }
	if slices.ContainsFunc(own, secret) || slices.ContainsFunc(defaults, secret) {
		k.Secret = map[uint32]uint32{}
	}
	k.Internal = m.AddKey(recipe.MergeKey(m.Keys[key]))
	m.ByKey[key] = k
}

// touches reports whether o may apply to root.
func (m *merger) touches(o *lookupOptions, root string) bool {
	if o.level == nil || m.Effort.Over() {
		return true
	}
	touches, err := o.level.Touches(root, &m.Effort.Left)
	switch {
	case m.Effort.Over():
		m.Effort.OnPatterns = o.position("")
	case err != nil:
		m.refusePattern(o, err)
	}
	return touches || err != nil
}

func (m *merger) makesSecret(o *lookupOptions, root string) bool {
	return o.secret || o.level != nil && o.level.Secret(root, &m.Effort.Left)
}

// mergeRecipe returns the number of the recipe that merges the values of root. own lists the lookup_options that apply
// to root. It returns noValue if they do not change lookups of root. It also returns the entry for root if this is the
// same for all requests.
func (m *merger) mergeRecipe(root, module string, own []*lookupOptions) (uint32, *merge.Entry) {
	r := &recipe.Recipe{Kind: recipe.Merged}
	depends := func(o *lookupOptions) bool { return o.level == nil || o.condition != 0 }
	if m.erasing[module] || slices.ContainsFunc(own, depends) {
		return m.KeepRecipe(r), nil
	}
	var entry *merge.Entry
	options, err := merge.Combine(m.levelsFor(module)...)
	if err == nil {
		entry, err = options.For(root, &m.Effort.Left)
	}
	if err != nil { // every lookup reports the error
		return m.KeepRecipe(r), nil
	}
	if entry.Plain() {
		return noValue, nil
	}
	r.Value = value.FromPairs(value.Pair{Key: value.FromString(root), Value: entry.Value()})
	return m.KeepRecipe(r), entry
}

// levelsFor returns the unconditional lookup_options that apply to keys of a module, by part of the hierarchy.
func (m *merger) levelsFor(module string) (levels [][]*merge.Level) {
	part := loader.NoHiera
	for i := range m.options {
		o := &m.options[i]
		if o.module != "" && o.module != module || o.condition != 0 || m.isDefault(o) {
			continue
		}
		if in := m.Site.Layers[o.layer].Hiera; in != part {
			levels, part = append(levels, nil), in
		}
		levels[len(levels)-1] = append(levels[len(levels)-1], o.level)
	}
	return levels
}

// refusePattern reports a pattern that takes too many steps to match. Because of it, the lookup_options of a key are
// unknown.
func (m *merger) refusePattern(o *lookupOptions, err error) {
	at := o.position("")
	if wrong, ok := err.(*merge.MergeError); ok {
		at = o.position(wrong.Entry)
	}
	if m.refused[at] {
		return
	}
	m.refused[at] = true
	m.Report(diag.Diagnostic{Pos: at, Code: "hiera_options", Message: err.Error(),
		Hint: "simplify the pattern so that it has fewer ways to match the same text"})
}
