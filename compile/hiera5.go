package compile

import (
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// mergedKey is a key of Hiera 5 that lookup_options touch. What is bound to it is filed under an internal key; the key
// itself is bound to a recipe that merges it.
type mergedKey struct {
	key              uint32 // the internal one, in keys
	recipe, defaults uint32 // in values; of the hierarchies, noValue if not touched there; and of default_hierarchy

	entry *merge.Entry // the options, where they are the same in every request

	// secret are the values that are sensitive where they are kept, by what the files have: lookup_options may make
	// what is found so. nil: none are.
	secret map[uint32]uint32
}

const noValue = ^uint32(0)

// lookupOptions is the lookup_options of one file.
type lookupOptions struct {
	layer, condition int
	file             *loader.DataFile
	at               diag.Pos     // of the key lookup_options
	err              error        // of Compile
	module           string       // whose keys they are for; "": all
	level            *merge.Level // nil: they depend on the request
	secret           bool         // where they are not known: they may make something sensitive
}

// collected tells whether all bindings of a key count, and not the highest.
func collected(key string) bool { return strings.HasPrefix(key, recipe.LookupOptionsKey) }

// hieraPlaces is what the layers are to Hiera 5, nil where none is of it.
func (c *composer) hieraPlaces() []snapshot.HieraPlace {
	out := make([]snapshot.HieraPlace, len(c.site.Layers))
	any := false
	for i, l := range c.site.Layers {
		out[i] = snapshot.HieraPlace{Part: snapshot.HieraPart(l.Hiera), Entry: l.Entry, OnlyPath: l.OnlyPath,
			OnlyEntry: l.OnlyEntry}
		any = any || l.Hiera != loader.NoHiera
	}
	if !any {
		return nil
	}
	return out
}

// mergeHiera finds the keys that lookup_options touch.
func (c *composer) mergeHiera() {
	all := c.lookupOptions()
	c.findHierarchies(all)
	c.merged = map[uint32]mergedKey{}
	if len(all) == 0 {
		return
	}
	seen := make([]bool, len(c.keys))
	var touched []uint32
	for i := range c.scopes {
		s := &c.scopes[i]
		if c.site.Layers[s.layer].Hiera == loader.NoHiera {
			continue
		}
		for key, _ := range c.members(s) {
			if !seen[key] && !collected(c.keys[key]) {
				touched = append(touched, key)
			}
			seen[key] = true
		}
	}
	for _, key := range touched {
		c.mergeKey(key, all)
	}
	c.checkLookupOptions(all)
	for i := range c.scopes {
		s := &c.scopes[i]
		for key, val := range c.members(s) {
			if m, ok := c.mergedIn(s.layer, key); ok && m.secret != nil {
				m.secret[val] = c.secretValue(val)
			}
		}
	}
}

// secretValue is the number of a value that is sensitive, and else as the one of the site.
func (c *composer) secretValue(val uint32) uint32 {
	r, err := c.decoded(val)
	if err != nil {
		return val // a lookup says so
	}
	r.Sensitive, c.sensitive = true, true
	return c.recipeNumber(r)
}

func (c *composer) mergeKey(key uint32, all []lookupOptions) {
	parsed, _ := lookupkey.Parse(c.keys[key]) // as data has it, it is a key
	module := lookupkey.Module(parsed.Root)
	var own, defaults []lookupOptions
	for _, o := range all {
		switch {
		case o.module != "" && o.module != module:
		case c.site.Layers[o.layer].Hiera == loader.HieraDefaults:
			defaults = append(defaults, o)
		default:
			own = append(own, o)
		}
	}
	var m mergedKey
	m.recipe, m.entry = c.mergeRecipe(parsed.Root, own)
	touches := func(o lookupOptions) bool { return c.touches(o, parsed.Root) }
	if m.recipe == noValue && !slices.ContainsFunc(defaults, touches) {
		return
	}
	m.defaults = c.recipeNumber(&recipe.Recipe{Kind: recipe.Merged, Name: module})
	secret := func(o lookupOptions) bool { return c.makesSecret(o, parsed.Root) }
	if slices.ContainsFunc(own, secret) || slices.ContainsFunc(defaults, secret) {
		m.secret = map[uint32]uint32{}
	}
	m.key = uint32(len(c.keys))
	c.keys = append(c.keys, recipe.MergeKey(c.keys[key]))
	c.merged[key] = m
}

// touches reports whether the options may apply to a key.
func (c *composer) touches(o lookupOptions, root string) bool {
	if o.level == nil || c.effort.over() {
		return true
	}
	touches, err := o.level.Touches(root, &c.effort.left)
	switch {
	case c.effort.over():
		c.effort.onPatterns = c.place(o, "")
	case err != nil:
		c.refusePattern(o, err)
	}
	return touches || err != nil
}

// makesSecret reports whether the options may make the value of root sensitive.
func (c *composer) makesSecret(o lookupOptions, root string) bool {
	return o.secret || o.level != nil && o.level.Secret(root, &c.effort.left)
}

// recipeNumber is the number of a recipe that the snapshot has.
func (c *composer) recipeNumber(r *recipe.Recipe) uint32 {
	n := c.valueNumber(r)
	c.store(n)
	return n
}

// mergeRecipe is what root is bound to where lookup_options touch it: its options if they are the same in every
// request.
func (c *composer) mergeRecipe(root string, all []lookupOptions) (uint32, *merge.Entry) {
	touched, depends := false, false
	var levels [][]*merge.Level
	part := loader.NoHiera
	for _, o := range all {
		touches := c.touches(o, root)
		touched = touched || touches
		depends = depends || touches && (o.level == nil || o.condition != 0)
		if o.condition != 0 {
			continue
		}
		if in := c.site.Layers[o.layer].Hiera; in != part {
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
			e, err = options.For(root, &c.effort.left)
		}
		switch {
		case err != nil: // as every lookup says
		case e.Plain():
			return noValue, nil
		default:
			entry = e
			r.Value = value.FromPairs(value.Pair{Key: value.FromString(root), Value: e.Value()})
		}
	}
	return c.recipeNumber(r), entry
}

// lookupOptions are those of the site, highest first, as the scopes are.
func (c *composer) lookupOptions() []lookupOptions {
	var out []lookupOptions
	for i := range c.scopes {
		s := &c.scopes[i]
		if c.site.Layers[s.layer].Hiera == loader.NoHiera {
			continue
		}
		for _, m := range s.members {
			for i, e := range m.file.Entries {
				if collected(c.keys[e.Key]) {
					out = append(out, c.optionsOf(s, m.file, i))
				}
			}
		}
	}
	return out
}

// optionsOf are the lookup_options that entry i of a file is.
func (c *composer) optionsOf(s *scope, f *loader.DataFile, i int) lookupOptions {
	key, val := c.keys[f.Entries[i].Key], f.Entries[i].Value
	o := lookupOptions{layer: s.layer, condition: s.condition, file: f, at: f.Pos(i),
		module: strings.TrimPrefix(strings.TrimPrefix(key, recipe.LookupOptionsKey), " ")}
	if k := c.constant(val, o.at); k.known {
		if o.level, o.err = merge.Compile(k.v, o.module); o.err != nil {
			o.level = nil // every lookup it is for fails
		}
	}
	o.secret = o.level == nil && strings.Contains(c.values[val], "convert_to")
	return o
}

// mergedIn is what a key is that something binds in a layer, if it is one that is merged there.
func (c *composer) mergedIn(layer int, key uint32) (mergedKey, bool) {
	m, ok := c.merged[key]
	switch c.site.Layers[layer].Hiera {
	case loader.NoHiera:
		ok = false
	case loader.HieraDefaults: // what is merged anywhere is merged there
	default:
		ok = ok && m.recipe != noValue
	}
	return m, ok
}

// kept is the value that what is merged is filed with.
func (m mergedKey) kept(val uint32) uint32 {
	if secret, ok := m.secret[val]; ok {
		return secret
	}
	return val
}

// shown is the value that a lookup finds where a layer binds key: that, or a recipe that merges.
func (c *composer) shown(layer int, key, val uint32) uint32 {
	m, ok := c.mergedIn(layer, key)
	switch {
	case !ok:
		return val
	case c.site.Layers[layer].Hiera == loader.HieraDefaults:
		return m.defaults
	}
	return m.recipe
}
