package lookup

import (
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

type hieraLookup struct {
	*lookup
	root     string // the bound key, in quotes if it contains a dot
	key      lookupkey.Key
	strategy *merge.Strategy // nil to use the one in lookup_options
	from     int             // the first level to search
	recipe   *recipe.Recipe  // recipe of the key; nil if no lookup_options apply

	levelsAt map[*merge.Level]optionsAt // where each level was found; nil unless explaining
}

// optionsAt is a candidate of lookup_options and the internal key that it is bound to.
type optionsAt struct {
	key string
	snapshot.Candidate
}

// options returns the lookup options of the key, or nil if it has none. defaults selects the options of the
// default_hierarchy.
func (h *hieraLookup) options(defaults bool) (*merge.Entry, error) {
	if h.recipe == nil && !defaults && h.root != recipe.LookupOptionsKey { // lookup_options may have options for itself
		return nil, nil
	}
	if h.recipe != nil && !defaults && !h.recipe.Value.IsUndef() {
		return h.r.snap.constantOptions(h.recipe).For(h.key.Root, &h.total.Steps)
	}
	options, err := h.optionsOf(lookupkey.Module(h.key.Root), defaults)
	if err != nil {
		return nil, err
	}
	return options.For(h.key.Root, &h.total.Steps)
}

// optionsOf returns the lookup options for a module's keys, or for keys without a module if module is "".
func (h *hieraLookup) optionsOf(module string, defaults bool) (merge.Options, error) {
	var levels [][]*merge.Level
	if !defaults {
		found, err := h.levels(recipe.LookupOptionsKey, "", false)
		if err != nil {
			return merge.Options{}, err
		}
		levels = found
	}
	if module != "" {
		found, err := h.levels(recipe.LookupOptionsKey+" "+module, module, defaults)
		if err != nil {
			return merge.Options{}, err
		}
		levels = append(levels, found...)
	}
	return merge.Combine(levels...)
}

// levels returns the effective lookup_options that an internal key is bound to, highest first. It groups them by part
// of the hierarchies.
func (h *hieraLookup) levels(key, module string, defaults bool) ([][]*merge.Level, error) {
	var out [][]*merge.Level
	last := snapshot.NoHiera
	for c, err := range h.placed(key) {
		if err != nil {
			return nil, err
		}
		if c.Part == snapshot.NoHiera || (c.Part == snapshot.HieraDefaults) != defaults {
			continue
		}
		level, err := h.level(key, c.Candidate, module)
		if err != nil {
			return nil, err
		}
		if _, seen := h.levelsAt[level]; !seen && h.levelsAt != nil { // equal options share a level
			h.levelsAt[level] = optionsAt{key, c.Candidate}
		}
		if c.Part != last {
			out, last = append(out, nil), c.Part
		}
		out[len(out)-1] = append(out[len(out)-1], level)
	}
	return out, nil
}

// level compiles the lookup_options that c is bound to. It compiles a constant once for each snapshot, and computes
// other options once for each request.
func (h *hieraLookup) level(key string, c snapshot.Candidate, module string) (*merge.Level, error) {
	_, computed := c.Ref.Recipe()
	id := levelID{c.Ref, module}
	if !computed {
		if level, ok := h.r.snap.levels.Load(id); ok {
			return level.(*merge.Level), nil
		}
	} else if level := h.r.merges.level(id); level != nil && !h.observed() {
		return level, nil
	}
	v, _, err := h.evaluate(h.root, key, c)
	if err != nil {
		return nil, err
	}
	level, err := merge.Compile(v, module)
	switch {
	case err != nil:
	case !computed:
		h.r.snap.levels.Store(id.clone(), level)
	case !h.observed() && !h.sensitive && !h.veiled && !h.hidden: // the evaluation has no other effect than its value
		h.r.merges.keepLevel(id.clone(), v, level)
	}
	return level, err
}

// observed reports whether the caller wants to know what the lookup depends on.
func (l *lookup) observed() bool { return l.record != nil || l.r.misses != nil || l.notesStructure }

// constantOptions returns the lookup options in r. They do not depend on the request, so they are cached.
func (s *Snapshot) constantOptions(r *recipe.Recipe) merge.Options {
	if o, ok := s.levels.Load(r); ok {
		return o.(merge.Options)
	}
	level, _ := merge.Compile(r.Value, "")
	if level == nil {
		return merge.Options{}
	}
	o, _ := merge.Combine([]*merge.Level{level})
	s.levels.Store(r, o)
	return o
}

// optionsKey is the key under which Puppet looks up lookup_options.
const optionsKey = "lookup_options"
