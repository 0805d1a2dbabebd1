package lookup

import (
	"bindc/internal/lookupkey"
	"bindc/internal/merge"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// hiera looks up key by the rules of Hiera 5, so a dotted key digs into a value. If s is nil, the merge strategy comes
// from lookup_options.
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
	root, _ := lookupkey.Quoted(k.Root) // a parsed key never has both kinds of quotes
	if k.Root == "lookup_options" {     // 'lookup_options' in quotes is an ordinary key
		root = recipe.LookupOptionsKey
	}
	if len(k.Path) == 0 && s == nil && !internal(root) {
		return l.bound(root, true)
	}
	if err := l.enter(key); err != nil { // like Puppet, enter treats a.b and a.c as different keys
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

// answer looks up the key, digs in the value and converts it. If it finds nothing, it tries the default_hierarchy.
func (h *hieraLookup) answer() (value.Value, bool, error) {
	d := descent{lookup: h.lookup, key: h.root, behind: -1, stops: h.isHiera, last: true}
	if h.r.mayFail && !lookupkey.Reserved(h.key.Text) {
		d.hierarchies = &failure{h.lookup, h.key.Root, h.strategy != nil}
	}
	v, found, err := d.run()
	switch {
	case err != nil:
		return value.Value{}, false, err
	case found: // the value is structured
		if v, err = h.mergedAlone(v); err != nil {
			return value.Value{}, false, err
		}
		return h.key.Dig(v)
	case !d.stopped:
		return value.Value{}, false, nil
	}
	defer func() { h.structured = false }()
	entry, err := h.options(false)
	if err != nil {
		return value.Value{}, false, err
	}
	v, found, err = h.part(entry, d.rebindings, false)
	if err == nil && !found {
		v, found, err = h.defaults(d.rebindings)
	}
	if err != nil || !found {
		return value.Value{}, false, err
	}
	v, err = entry.Convert(v, h.lookup.options())
	return v, true, err
}

// mergedAlone applies the caller's strategy to a structured value, which is not merged with others. For example,
// 'unique' converts a string to an array, as in Puppet.
func (h *hieraLookup) mergedAlone(v value.Value) (value.Value, error) {
	if h.strategy == nil {
		return v, nil
	}
	v, _, err := h.strategy.Merge([]merge.Candidate{{OnlyPath: true,
		Value: func() (value.Value, bool, error) { return v, true, nil }}})
	return v, err
}

// isHiera reports whether c is Hiera 5 data. If c is bound to a recipe that merges values, isHiera sets h.recipe.
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
