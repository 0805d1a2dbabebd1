package check

import (
	"cmp"
	"maps"
	"slices"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// deadLookups finds lookups that never find a value.
type deadLookups struct {
	*checker
	askable []string // the bound keys that are not internal
	// hashes maps each key that a hash lookup reads to its values, or to nil if they are computed or merged.
	hashes map[uint32][]value.Value
	places map[string]int // number of values that look up a key
}

// checkDeadLookups warns about bindings and contributions whose lookup finds nothing, if a similar key is bound or the
// value is always undef.
func (c *checker) checkDeadLookups(ofValue map[uint32]needs) {
	internal, _ := slices.BinarySearch(c.Names, "\x01")
	v := deadLookups{checker: c, askable: c.Names[internal:], places: map[string]int{}}
	for _, n := range ofValue {
		for _, key := range n.unbound {
			v.places[key]++
		}
		for _, key := range n.keys {
			v.places[c.Names[key]]++
		}
		for _, t := range n.tried {
			v.places[c.Names[t.key]]++
		}
	}
	v.findHashes(ofValue)
	found := map[uint32]diag.Diagnostic{} // warnings by value number
	for _, value := range slices.Sorted(maps.Keys(ofValue)) {
		if d := v.judge(ofValue[value]); d.Message != "" {
			found[value] = d
		}
	}
	v.warnOfBindings(found)
	for _, id := range slices.Sorted(maps.Keys(c.Multibinds.Contributions)) {
		for i := range c.Multibinds.Contributions[id] {
			cand := &c.Multibinds.Contributions[id][i]
			v.warn(v.judge(c.needsOf(cand.Recipe)), cand.Pos())
		}
	}
}

// warnOfBindings reports the warning about each value at all bindings that have it.
func (v *deadLookups) warnOfBindings(found map[uint32]diag.Diagnostic) {
	if len(found) == 0 {
		return
	}
	for i := range v.Scopes {
		for _, m := range v.Scopes[i].Members {
			if m.Binding != nil {
				v.warn(found[m.Value], m.Binding.Pos)
				continue
			}
			for i, e := range m.File.Entries {
				v.warn(found[e.Value], m.File.Pos(i))
			}
		}
	}
}

func (v *deadLookups) warn(d diag.Diagnostic, at diag.Pos) {
	if d.Message != "" {
		d.Pos, d.Severity, d.Code = at, diag.Warning, "key_unbound"
		v.Report(d)
	}
}

// judge returns a warning about the lookups in n, or an empty diagnostic.
func (v *deadLookups) judge(n needs) diag.Diagnostic {
	for _, key := range n.unbound {
		if near := v.Diags.Misspelt(key, v.askable); near != "" {
			d := diag.Diagnostic{Message: "this looks up '" + key + "', which nothing binds"}
			v.Unbound(&d, key, near, v.places[key]-v.places[near])
			return d
		}
	}
	switch {
	case n.tries == nil:
	case len(n.tried) == 0:
		key := n.unbound[0]
		d := diag.Diagnostic{Message: "this looks up " + diag.Quoted(n.unbound) +
			", which nothing binds: the value is always undef"}
		near := v.Diags.Correct(key, v.askable).New
		v.Unbound(&d, key, near, v.places[key]-v.places[near])
		d.Hint = cmp.Or(d.Hint, d.Fix.Hint(), "correct the name or bind it; with 'optional: true' it may be unbound")
		return d
	case n.tries.Kind == recipe.HashLookup:
		return v.entry(n.tries, v.hashes[n.tried[0].key])
	}
	return diag.Diagnostic{}
}

// entry returns a warning if hashes is not empty and no hash has the entry that r reads.
func (v *deadLookups) entry(r *recipe.Recipe, hashes []value.Value) diag.Diagnostic {
	var entries []string
	for _, h := range hashes {
		if _, has := h.Get(r.Value); has {
			return diag.Diagnostic{}
		}
		for key := range h.Pairs() {
			entries = append(entries, key.Text()) // "" if the key is not a string
		}
	}
	if len(hashes) == 0 {
		return diag.Diagnostic{}
	}
	ofKey := " of '" + r.Targets[0].Key + "', which never has it: the value is always undef"
	d := diag.Diagnostic{Message: "this reads an entry" + ofKey}
	if r.Value.Kind() == value.String && !r.Sensitive {
		d.Message = "this reads the entry '" + r.Value.Text() + "'" + ofKey
		d.Fix = v.Diags.Correct(r.Value.Text(), entries)
	}
	return d
}

func (v *deadLookups) findHashes(ofValue map[uint32]needs) {
	v.hashes = map[uint32][]value.Value{}
	for _, n := range ofValue {
		v.noteHash(n)
	}
	for _, cs := range v.Multibinds.Contributions {
		for i := range cs {
			v.noteHash(v.needsOf(cs[i].Recipe))
		}
	}
	if len(v.hashes) == 0 {
		return
	}
	computed := map[uint32]bool{}
	for i := range v.Scopes {
		for key, val := range v.Scopes[i].Bound() {
			n := v.InNames[key]
			if _, asked := v.hashes[n]; !asked || computed[n] {
				continue
			}
			h, constant := v.constantHash(val)
			_, merged := v.Merges.ByKey[key]
			if v.hashes[n] = append(v.hashes[n], h); !constant || merged {
				v.hashes[n], computed[n] = nil, true
			}
		}
	}
}

func (v *deadLookups) noteHash(n needs) {
	if n.tries != nil && n.tries.Kind == recipe.HashLookup && len(n.tried) > 0 {
		v.hashes[n.tried[0].key] = nil
	}
}

// constantHash returns the hash val if it is the same in every request. It returns false for a sensitive hash, because
// messages list keys.
func (v *deadLookups) constantHash(val uint32) (value.Value, bool) {
	h, ok := v.Constant(val)
	return h, ok && h.Kind() == value.Hash
}
