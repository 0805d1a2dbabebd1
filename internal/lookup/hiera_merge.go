package lookup

import (
	"math"

	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// merge evaluates r, a recipe of kind Merged, for key. from is the first level to include.
func (l *lookup) merge(key string, r *recipe.Recipe, from int) (value.Value, error) {
	if !l.r.hiera {
		expected := "nothing that merges in a file without Hiera 5"
		return value.Value{}, &DamageError{Section: "recipes", Expected: expected}
	}
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
		v, _, err = h.defaults(nil)
	}
	if err != nil {
		return value.Value{}, err
	}
	return entry.Convert(v, l.options())
}

// merged merges the values in the hierarchies, or in the default_hierarchy if defaults is true.
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
		v = h.r.snap.values.Own(v) // otherwise each lookup that uses the cached value would copy its body
		h.r.merges.keep(id, v)
	}
	return v, found, err
}

// renamed returns the layer of the highest rename of h.root, or math.MaxInt if there is none. In lower layers, the key
// has another name.
func (h *hieraLookup) renamed() (layer int, err error) {
	if !h.r.file.ARM8() {
		return math.MaxInt, nil
	}
	for c, err := range h.placed(h.root) {
		if err != nil {
			return 0, err
		}
		if c.Part != snapshot.NoHiera || c.Level < h.from { // level -1 has only final bindings, so no renames
			continue
		}
		b := snapshot.Binding{Ref: c.Ref, Hidden: c.Hidden, Stored: c.Stored}
		if is, err := h.erases(h.root, b); is || err != nil {
			return c.layer, err
		}
	}
	return math.MaxInt, nil
}

// candidates returns the candidates of key in the hierarchies, or in the default_hierarchy if defaults is true. It
// omits the layers after last. constant reports whether all candidates are constants.
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

// part returns the value in the hierarchies, or in the default_hierarchy if defaults is true. It applies the rebindings
// above the value, and digs into it if the key is dotted.
func (h *hieraLookup) part(entry *merge.Entry, above []*recipe.Recipe, defaults bool) (value.Value, bool, error) {
	v, found, err := h.merged(entry, defaults)
	if err == nil && found {
		v, found, err = h.rebound(h.root, above, v)
	}
	if err != nil || !found {
		return value.Value{}, false, err
	}
	return h.key.Dig(v)
}

// defaults looks up the key in the default_hierarchy, which has its own lookup_options.
func (h *hieraLookup) defaults(above []*recipe.Recipe) (value.Value, bool, error) {
	entry, err := h.options(true)
	if err != nil {
		return value.Value{}, false, err
	}
	return h.part(entry, above, true)
}
