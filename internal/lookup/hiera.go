package lookup

import (
	"math"

	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// hiera answers key, which may lead into a value, by the rules of Hiera 5. If s is nil, lookup_options has the
// strategy.
func (l *lookup) hiera(key string, s *merge.Strategy) (value.Value, bool, error) {
	if lookupkey.Reserved(key) {
		return value.Value{}, false, nil
	}
	k, err := lookupkey.Parse(key)
	if err != nil {
		return value.Value{}, false, failed(key, CodeEvaluation, err.Error())
	}
	if internal(k.Root) {
		return value.Value{}, false, nil
	}
	root, _ := lookupkey.Quoted(k.Root) // which was parsed, and has not quotes of both kinds
	if k.Root == "lookup_options" {     // in quotes: then it is a key as any other
		root = recipe.LookupOptionsKey
	}
	if len(k.Path) == 0 && s == nil && !internal(root) {
		return l.bound(root, true)
	}
	if err := l.enter(key); err != nil { // as Puppet does: a.b may need a.c, though both take a apart
		return value.Value{}, false, err
	}
	defer l.leave()
	h := hieraLookup{lookup: l, root: root, key: k, strategy: s}
	v, found, err := h.answer()
	if err != nil {
		err = l.explain(key, err)
	}
	return v, found, err
}

// hieraLookup is a lookup of one key by the rules of Hiera 5.
type hieraLookup struct {
	*lookup
	root     string // as it is bound
	key      lookupkey.Key
	strategy *merge.Strategy // nil: that of lookup_options
	from     int             // the first level that counts
	recipe   *recipe.Recipe  // of the key, where lookup_options touch it

	levelsAt map[*merge.Level]optionsAt // noted where somebody asks why
}

// answer looks up, digs and converts. Where nothing is found default_hierarchy is asked.
func (h *hieraLookup) answer() (value.Value, bool, error) {
	d := descent{lookup: h.lookup, key: h.root, behind: -1, stops: h.isHiera, last: true}
	if h.r.mayFail && !lookupkey.Reserved(h.key.Text) {
		d.hierarchies = &failure{h.lookup, h.key.Root, h.strategy != nil}
	}
	v, found, err := d.run()
	switch {
	case err != nil:
		return value.Value{}, false, err
	case found: // what is structured
		if v, err = h.mergedAlone(v); err != nil {
			return value.Value{}, false, err
		}
		return h.key.Dig(v)
	case !d.at:
		return value.Value{}, false, nil
	}
	defer func() { h.structured = false }()
	entry, err := h.options(false)
	if err != nil {
		return value.Value{}, false, err
	}
	v, found, err = h.part(&d, entry, false)
	if err == nil && !found {
		v, found, err = h.defaults(&d)
	}
	if err != nil || !found {
		return value.Value{}, false, err
	}
	v, err = entry.Convert(v, h.lookup.options())
	return v, true, err
}

// mergedAlone returns what the caller's strategy makes of a structured value, the only candidate: 'unique' makes a list
// of a text, as Puppet does.
func (h *hieraLookup) mergedAlone(v value.Value) (value.Value, error) {
	if h.strategy == nil {
		return v, nil
	}
	v, _, err := h.strategy.Merge([]merge.Candidate{{OnlyPath: true,
		Value: func() (value.Value, bool, error) { return v, true, nil }}})
	return v, err
}

// isHiera reports whether a candidate of the key is of Hiera 5, and notes the recipe that merges it.
func (h *hieraLookup) isHiera(c snapshot.Candidate) (bool, error) {
	p, err := h.position(h.root, c)
	if err != nil || p.Part == snapshot.NoHiera {
		return false, err
	}
	if n, computed := c.Ref.Recipe(); computed {
		r, err := h.r.snap.recipe(h.root, n)
		if err != nil {
			return false, err
		}
		if r.Kind == recipe.Merged {
			h.recipe = r
		}
	}
	return true, nil
}

// merged merges the candidates of the hierarchies, or those of default_hierarchy.
func (h *hieraLookup) merged(entry *merge.Entry, defaults bool) (value.Value, bool, error) {
	strategy, err := entry.Strategy()
	asked := h.strategy != nil && !defaults
	if asked {
		strategy, err = *h.strategy, nil
	}
	if err != nil {
		return value.Value{}, false, err
	}
	id, keeps := mergeOf{h.root, h.key.Root, defaults, h.from}, !asked && !strategy.First()
	if keeps {
		if v, ok := h.r.merges.get(id); ok {
			return v, true, nil
		}
	}
	last, err := h.renamed()
	if err != nil {
		return value.Value{}, false, err
	}
	candidates, constant, err := h.candidates(recipe.MergeKey(h.root), last, defaults)
	if err == nil && len(candidates) == 0 {
		candidates, constant, err = h.candidates(h.root, last, defaults)
	}
	if err != nil {
		return value.Value{}, false, err
	}
	merge := strategy.Merge
	if defaults {
		merge = strategy.MergeDefaults
	}
	v, found, err := merge(candidates)
	if keeps && constant && found && err == nil {
		h.r.merges.keep(id, v)
	}
	return v, found, err
}

// renamed returns the layer from which on down the root has another name, or math.MaxInt if there is none.
func (h *hieraLookup) renamed() (layer int, err error) {
	if !h.r.file.ARM8() {
		return math.MaxInt, nil
	}
	for c, err := range h.placed(h.root) {
		if err != nil {
			return 0, err
		}
		if c.Part != snapshot.NoHiera || c.Level < h.from { // no binding of what is renamed hides all, at level -1
			continue
		}
		b := snapshot.Binding{Ref: c.Ref, Hidden: c.Hidden, Stored: c.Stored}
		if is, err := h.erases(h.root, b); is || err != nil {
			return c.layer, err
		}
	}
	return math.MaxInt, nil
}

// candidates returns those filed under a key, of the hierarchies or of default_hierarchy, down to a layer, and whether
// all are constants.
func (h *hieraLookup) candidates(key string, last int, defaults bool) (out []merge.Candidate, constant bool,
	err error) {
	constant = true
	for c, err := range h.placed(key) {
		if err != nil {
			return nil, false, err
		}
		if c.Part == snapshot.NoHiera || (c.Part == snapshot.HieraDefaults) != defaults ||
			c.Level >= 0 && c.Level < h.from || c.layer > last {
			continue
		}
		_, computed := c.Ref.Recipe()
		constant = constant && !computed && !c.Hidden
		out = append(out, h.candidate(h.root, key, c))
	}
	return out, constant, nil
}

// part returns what the key leads to in the hierarchies, or in default_hierarchy, after the rebindings above it.
func (h *hieraLookup) part(above *descent, entry *merge.Entry, defaults bool) (value.Value, bool, error) {
	v, found, err := h.merged(entry, defaults)
	if err == nil && found {
		v, found, err = above.rebound(v)
	}
	if err != nil || !found {
		return value.Value{}, false, err
	}
	return h.key.Dig(v)
}

// defaults is part for default_hierarchy, with its own lookup_options.
func (h *hieraLookup) defaults(above *descent) (value.Value, bool, error) {
	entry, err := h.options(true)
	if err != nil {
		return value.Value{}, false, err
	}
	return h.part(above, entry, true)
}

// merge evaluates a recipe of kind Merged, which key is bound to, from a level on.
func (l *lookup) merge(key string, r *recipe.Recipe, from int) (value.Value, error) {
	k, err := lookupkey.Parse(key)
	if err != nil {
		return value.Value{}, err
	}
	h := hieraLookup{lookup: l, root: key, key: k, recipe: r, from: from}
	entry, err := h.options(false)
	if err != nil {
		return value.Value{}, err
	}
	v, found, err := h.merged(entry, false)
	if err == nil && !found {
		v, _, err = h.defaults(&descent{lookup: l, key: key})
	}
	if err != nil {
		return value.Value{}, err
	}
	return entry.Convert(v, l.options())
}
