package compile

import (
	"slices"

	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// merger finds the keys that lookup_options touch.
type merger struct {
	*env
	*tables
	scopes  []scope
	options []lookupOptions   // of the site, highest first
	refused map[diag.Pos]bool // patterns that are reported for taking too many steps
	merges
}

// mergeHiera finds the keys that lookup_options touch, and checks the lookup_options.
func mergeHiera(e *env, t *tables, scopes []scope) *merges {
	m := merger{env: e, tables: t, scopes: scopes, options: findLookupOptions(e, t, scopes),
		refused: map[diag.Pos]bool{}, merges: merges{layers: e.site.Layers, byKey: map[uint32]mergedKey{}}}
	m.hierarchies = findHierarchies(e.site, t, m.options)
	if len(m.options) == 0 {
		return &m.merges
	}
	for _, key := range m.hieraKeys() {
		m.mergeKey(key)
	}
	checkLookupOptions(e, t, scopes, m.options)
	m.addSecretValues()
	return &m.merges
}

// hieraKeys returns the keys that the hierarchies bind, in order of appearance.
func (m *merger) hieraKeys() (out []uint32) {
	seen := make([]bool, len(m.keys))
	for i := range m.scopes {
		s := &m.scopes[i]
		if !m.isHiera(s.layer) {
			continue
		}
		for key := range s.bound() {
			if !seen[key] && !isLookupOptions(m.keys[key]) {
				out = append(out, key)
			}
			seen[key] = true
		}
	}
	return out
}

// addSecretValues finds the sensitive form of the values that lookup_options may make sensitive.
func (m *merger) addSecretValues() {
	for i := range m.scopes {
		s := &m.scopes[i]
		for key, val := range s.bound() {
			if k, ok := m.in(s.layer, key); ok && k.secret != nil {
				k.secret[val] = m.secretValue(val)
			}
		}
	}
}

// secretValue returns the number of val made sensitive.
func (m *merger) secretValue(val uint32) uint32 {
	r, err := m.recipe(val)
	if err != nil {
		return val // a lookup reports it
	}
	r.Sensitive, m.sensitive = true, true
	return m.keepRecipe(r)
}

// mergeKey adds a key to the merged ones if lookup_options touch it.
func (m *merger) mergeKey(key uint32) {
	parsed, _ := lookupkey.Parse(m.keys[key]) // data has it, so it is a valid key
	module := lookupkey.Module(parsed.Root)
	var own, defaults []lookupOptions
	for _, o := range m.options {
		switch {
		case o.module != "" && o.module != module:
		case m.site.Layers[o.layer].Hiera == loader.HieraDefaults:
			defaults = append(defaults, o)
		default:
			own = append(own, o)
		}
	}
	var k mergedKey
	k.recipe, k.entry = m.mergeRecipe(parsed.Root, own)
	touches := func(o lookupOptions) bool { return m.touches(o, parsed.Root) }
	if k.recipe == noValue && !slices.ContainsFunc(defaults, touches) {
		return
	}
	k.defaults = m.keepRecipe(&recipe.Recipe{Kind: recipe.Merged, Name: module})
	secret := func(o lookupOptions) bool { return m.makesSecret(o, parsed.Root) }
	if slices.ContainsFunc(own, secret) || slices.ContainsFunc(defaults, secret) {
		k.secret = map[uint32]uint32{}
	}
	k.internal = m.addKey(recipe.MergeKey(m.keys[key]))
	m.byKey[key] = k
}

// touches reports whether the options may apply to a key.
func (m *merger) touches(o lookupOptions, root string) bool {
	if o.level == nil || m.effort.over() {
		return true
	}
	touches, err := o.level.Touches(root, &m.effort.left)
	switch {
	case m.effort.over():
		m.effort.onPatterns = o.position(m.tables, "")
	case err != nil:
		m.refusePattern(o, err)
	}
	return touches || err != nil
}

// makesSecret reports whether the options may make the value of root sensitive.
func (m *merger) makesSecret(o lookupOptions, root string) bool {
	return o.secret || o.level != nil && o.level.Secret(root, &m.effort.left)
}

// mergeRecipe returns the recipe that root is bound to where lookup_options touch it, or noValue. It also returns the
// options of root, if they are the same in every request.
func (m *merger) mergeRecipe(root string, all []lookupOptions) (uint32, *merge.Entry) {
	touched, depends := false, false
	var levels [][]*merge.Level
	part := loader.NoHiera
	for _, o := range all {
		touches := m.touches(o, root)
		touched = touched || touches
		depends = depends || touches && (o.level == nil || o.condition != 0)
		if o.condition != 0 {
			continue
		}
		if in := m.site.Layers[o.layer].Hiera; in != part {
			levels, part = append(levels, nil), in
		}
		levels[len(levels)-1] = append(levels[len(levels)-1], o.level)
	}
	if !touched {
		return noValue, nil
	}
	r := &recipe.Recipe{Kind: recipe.Merged}
	var entry *merge.Entry
	if !depends {
		options, err := merge.Combine(levels...)
		var e *merge.Entry
		if err == nil {
			e, err = options.For(root, &m.effort.left)
		}
		switch {
		case err != nil: // every lookup reports it
		case e.Plain():
			return noValue, nil
		default:
			entry = e
			r.Value = value.FromPairs(value.Pair{Key: value.FromString(root), Value: e.Value()})
		}
	}
	return m.keepRecipe(r), entry
}

// refusePattern reports a pattern that takes too many steps to match. Without it the lookup_options of a key are
// unknown.
func (m *merger) refusePattern(o lookupOptions, err error) {
	at := o.position(m.tables, "")
	if wrong, ok := err.(*merge.Error); ok {
		at = o.position(m.tables, wrong.Entry)
	}
	if m.refused[at] {
		return
	}
	m.refused[at] = true
	m.report(diag.Diagnostic{Pos: at, Code: "hiera_options", Message: err.Error(),
		Hint: "simplify the pattern so that it has fewer ways to match the same text"})
}
