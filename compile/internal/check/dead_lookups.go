package check

import (
	"cmp"
	"maps"
	"slices"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// checkDeadLookups warns about bindings and contributions whose lookup finds nothing, if a similar key is bound or the
// value is always undef.
func checkDeadLookups(e *pass.Env, s *index.Ordered, ofValue map[uint32]needs) {
	internal, _ := slices.BinarySearch(s.Names, "\x01")
	v := deadLookups{Env: e, askable: s.Names[internal:], hashes: hashesToRead(s, ofValue),
		places: placesOf(ofValue, s.Names)}
	found := map[uint32]diag.Diagnostic{} // warnings by value number
	for _, value := range slices.Sorted(maps.Keys(ofValue)) {
		if d := v.judge(ofValue[value]); d.Message != "" {
			found[value] = d
		}
	}
	warnOfBindings(e, s.Scopes, found)
	for _, id := range slices.Sorted(maps.Keys(s.Multibinds.Contributions)) {
		for i := range s.Multibinds.Contributions[id] {
			cand := &s.Multibinds.Contributions[id][i]
			warnOfDeadLookup(e, v.judge(needsOf(cand.Recipe, s.Names)), cand.Pos())
		}
	}
}

// placesOf returns the number of values that look up each key.
func placesOf(ofValue map[uint32]needs, names index.Names) map[string]int {
	places := map[string]int{}
	for _, n := range ofValue {
		for _, key := range n.unbound {
			places[key]++
		}
		for _, key := range n.keys {
			places[names[key]]++
		}
		for _, t := range n.tried {
			places[names[t.key]]++
		}
	}
	return places
}

// warnOfBindings reports the warning about each value at all bindings that have it.
func warnOfBindings(e *pass.Env, scopes []place.Scope, found map[uint32]diag.Diagnostic) {
	if len(found) == 0 {
		return
	}
	for i := range scopes {
		for _, m := range scopes[i].Members {
			if m.Binding != nil {
				warnOfDeadLookup(e, found[m.Value], m.Binding.Pos)
				continue
			}
			for i, entry := range m.File.Entries {
				warnOfDeadLookup(e, found[entry.Value], m.File.Pos(i))
			}
		}
	}
}

// warnOfDeadLookup reports d, a result of judge. It does nothing if d is empty.
func warnOfDeadLookup(e *pass.Env, d diag.Diagnostic, at diag.Pos) {
	if d.Message != "" {
		d.Pos, d.Severity, d.Code = at, diag.Warning, "key_unbound"
		e.Report(d)
	}
}

// deadLookups finds lookups that never find a value.
type deadLookups struct {
	*pass.Env
	askable []string                 // the bound keys that are not internal
	hashes  map[uint32][]value.Value // see hashesToRead
	places  map[string]int           // number of values that look up a key
}

// judge returns a warning about the lookups in n, or an empty diagnostic.
func (v *deadLookups) judge(n needs) diag.Diagnostic {
	for _, key := range n.unbound {
		if meant := v.Diags.CorrectTypo(key, v.askable); !meant.IsNone() {
			d := diag.Diagnostic{Message: "this looks up '" + key + "', which nothing binds"}
			v.Unbound(&d, meant, v.places[key]-v.places[meant.New])
			return d
		}
	}
	switch {
	case n.tries == nil:
	case len(n.tried) == 0:
		key := n.unbound[0]
		d := diag.Diagnostic{Message: "this looks up " + diag.Quoted(n.unbound) +
			", which nothing binds: the value is always undef"}
		meant := v.Diags.Correct(key, v.askable)
		v.Unbound(&d, meant, v.places[key]-v.places[meant.New])
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

// hashesToRead maps each key that a hash lookup reads to its values, or to nil if they are computed or merged.
func hashesToRead(s *index.Ordered, ofValue map[uint32]needs) map[uint32][]value.Value {
	out := map[uint32][]value.Value{}
	for _, n := range ofValue {
		addHash(out, n)
	}
	for _, all := range s.Multibinds.Contributions {
		for i := range all {
			addHash(out, needsOf(all[i].Recipe, s.Names))
		}
	}
	if len(out) == 0 {
		return nil
	}
	computed := map[uint32]bool{}
	for i := range s.Scopes {
		for key, val := range s.Scopes[i].Bound() {
			n := s.InNames[key]
			if _, asked := out[n]; !asked || computed[n] {
				continue
			}
			h, constant := constantHash(s.Tables, val)
			_, merged := s.Merges.ByKey[key]
			if out[n] = append(out[n], h); !constant || merged {
				out[n], computed[n] = nil, true
			}
		}
	}
	return out
}

// addHash adds the key of the hash that n reads, if any.
func addHash(hashes map[uint32][]value.Value, n needs) {
	if n.tries != nil && n.tries.Kind == recipe.HashLookup && len(n.tried) > 0 {
		hashes[n.tried[0].key] = nil
	}
}

// constantHash returns the hash val if it is the same in every request. It returns false for a sensitive hash, because
// messages list keys.
func constantHash(t *place.Tables, val uint32) (value.Value, bool) {
	h, ok := t.Constant(val)
	return h, ok && h.Kind() == value.Hash
}
