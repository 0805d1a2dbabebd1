package compile

import (
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/loader"
)

// checkHieraLookups warns about lookups in texts of Hiera 5 that never succeed: of unbound keys with a similar bound
// one, and of the key itself. Puppet inserts an empty text for the former and fails the lookup for the latter.
func (c *composer) checkHieraLookups() {
	h := hieraNeeds{composer: c, of: map[uint32][]string{}, certain: map[string]hieraNeed{}}
	h.collect()
	h.findLoops()
}

// hieraNeed is what the value of a key, the same in every request, looks up.
type hieraNeed struct {
	keys []string
	at   diag.Pos
}

type hieraNeeds struct {
	*composer
	of      map[uint32][]string // keys by the number of the value that looks them up, each as it is bound
	certain map[string]hieraNeed
}

// collect goes through what the hierarchies bind.
func (h *hieraNeeds) collect() {
	depends := h.conditional()
	for i := range h.scopes {
		s := &h.scopes[i]
		if h.site.Layers[s.layer].Hiera == loader.NoHiera {
			continue
		}
		for _, m := range s.members {
			for i, e := range m.file.Entries {
				h.warnOfNearOptions(e.Key, e.Value, m.file.Pos(i))
				keys := h.needs(e.Value)
				if len(keys) == 0 {
					continue
				}
				at := m.file.Pos(i)
				h.warnOfNear(keys, at)
				n := h.inNames[e.Key]
				if _, merged := h.merged[e.Key]; s.rank == h.floors[n] && !depends[n] && !merged {
					h.certain[h.keys[e.Key]] = hieraNeed{keys, at}
				}
			}
		}
	}
}

// conditional tells of every key whether a request may have another value than the unconditional one.
func (h *hieraNeeds) conditional() []bool {
	out := make([]bool, len(h.names))
	for _, l := range h.levels {
		for _, s := range l.scopes {
			for _, e := range s.Entries {
				out[e.Key] = true
			}
		}
	}
	return out
}

// needs are the keys that a value looks up, as they are bound.
func (h *hieraNeeds) needs(val uint32) []string {
	text := h.values[val]
	if text[0] != recipe.CompiledRecipe {
		return nil
	}
	if keys, ok := h.of[val]; ok {
		return keys
	}
	var keys []string
	if r, err := recipe.Decode(text[1:]); err == nil && r.Kind == recipe.Expression {
		expr.HieraKeys(r.Expr, func(key string) { keys = append(keys, key) })
	}
	h.of[val] = keys
	return keys
}

func (h *hieraNeeds) warnOfNear(keys []string, at diag.Pos) {
	for _, key := range keys {
		if _, bound := h.keyNumber(key); bound {
			continue
		}
		if near := h.diags.Misspelt(key, h.names); near != "" {
			h.report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "key_unbound",
				Message: "this looks up '" + key + "', which nothing binds", Hint: "did you mean '" + near + "'?"})
		}
	}
}

// findLoops warns of keys that need themselves in every request.
func (h *hieraNeeds) findLoops() {
	done := map[string]bool{}
	for _, key := range h.names {
		h.follow(key, nil, done)
	}
}

// follow goes from key to what it needs; path led to it.
func (h *hieraNeeds) follow(key string, path []string, done map[string]bool) {
	if i := slices.Index(path, key); i >= 0 {
		loop := append(slices.Clone(path[i:]), key)
		h.report(diag.Diagnostic{Pos: h.certain[key].at, Severity: diag.Warning, Code: "loop",
			Message: "'" + key + "' needs itself: " + strings.Join(loop, " -> ") +
				"; every lookup of it is an error, as in Puppet"})
		return
	}
	if done[key] || len(path) > maxNamed {
		return
	}
	path = append(path, key)
	for _, k := range h.certain[key].keys {
		h.follow(k, path, done)
	}
	done[key] = true
}
