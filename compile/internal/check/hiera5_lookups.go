package check

import (
	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
)

// checkHieraLookups warns about interpolated lookups in Hiera 5 data that never succeed. Puppet inserts an empty string
// for an unbound key, and fails if a key looks itself up. An unbound key is only reported if a similar key is bound.
func checkHieraLookups(e *pass.Env, s *index.Ordered, l *index.Levels) {
	h := hieraLookups{Env: e, names: s.Names, values: s.Values, scopes: s.Scopes, keys: map[uint32][]string{}}
	certain, depends := hieraNeeds{}, l.Conditional()
	for i := range s.Scopes {
		sc := &s.Scopes[i]
		if !e.IsHiera(sc.Layer) {
			continue
		}
		for _, m := range sc.Members {
			for i, entry := range m.File.Entries {
				keys := h.of(entry.Value)
				if len(keys) == 0 {
					continue
				}
				at := m.File.Pos(i)
				h.warnOfNear(keys, at)
				n := s.InNames[entry.Key]
				if _, merged := s.Merges.ByKey[entry.Key]; sc.Rank == l.Defaults[n].Rank && !depends[n] && !merged {
					certain[s.Names[n]] = hieraNeed{keys, at}
				}
			}
		}
	}
	certain.findLoops(s.Names, func(at diag.Pos, message string) {
		e.Report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "loop",
			Message: message + "; every lookup of it fails, as in Puppet"})
	})
}

// hieraLookups finds the keys that values look up in interpolations.
type hieraLookups struct {
	*pass.Env
	names  index.Names
	values []string // see place.Tables
	scopes []place.Scope
	keys   map[uint32][]string // results of the method of, by value number
	counts map[string]int      // number of values that look up a key; set by places
}

// of returns the roots of the keys that the value number val looks up. Roots with dots are quoted.
func (h *hieraLookups) of(val uint32) []string {
	text := h.values[val]
	if text[0] != recipe.CompiledRecipe {
		return nil
	}
	if keys, ok := h.keys[val]; ok {
		return keys
	}
	var keys []string
	if r, err := recipe.Decode(text[1:]); err == nil && r.Kind == recipe.Expression {
		expr.HieraKeys(r.Expr, func(key string) { keys = append(keys, key) })
	}
	h.keys[val] = keys
	return keys
}

// warnOfNear warns about keys that nothing binds, if a similar key is bound. A value at the given position looks up
// these keys.
func (h *hieraLookups) warnOfNear(keys []string, at diag.Pos) {
	for _, key := range keys {
		if _, bound := h.names.Find(key); bound {
			continue
		}
		if near := h.Diags.Misspelt(key, h.names); near != "" {
			d := diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "key_unbound",
				Message: "this looks up '" + key + "', which nothing binds"}
			h.Unbound(&d, key, near, h.places(key)-h.places(near))
			h.Report(d)
		}
	}
}

func (h *hieraLookups) places(key string) int {
	if h.counts == nil {
		h.counts = map[string]int{}
		for i := range h.scopes {
			for _, val := range h.scopes[i].Bound() {
				for _, k := range h.of(val) {
					h.counts[k]++
				}
			}
		}
	}
	return h.counts[key]
}
