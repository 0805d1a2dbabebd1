package check

import (
	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// checkHieraLookups warns about interpolated lookups in Hiera 5 data that never succeed. Puppet inserts an empty string
// for an unbound key, and fails if a key looks itself up. An unbound key is only reported if a similar key is bound.
func (c *checker) checkHieraLookups() {
	h := hieraNeeds{checker: c, lookups: map[uint32][]string{}, certain: map[string]hieraNeed{}}
	h.collect()
	h.findLoops()
}

// hieraNeed is a key whose value is the same in every request, with the keys that it looks up.
type hieraNeed struct {
	keys []string
	at   diag.Pos
}

type hieraNeeds struct {
	*checker
	lookups map[uint32][]string // keys that values look up, by value number
	certain map[string]hieraNeed
	counts  map[string]int // number of values that look up a key; set by places
}

// collect records the keys that values in the hierarchies look up. It warns about misspelt keys.
func (h *hieraNeeds) collect() {
	depends := h.levels.Conditional()
	for i := range h.Scopes {
		s := &h.Scopes[i]
		if !h.IsHiera(s.Layer) {
			continue
		}
		for _, m := range s.Members {
			for i, e := range m.File.Entries {
				h.warnOfNearOptions(e.Key, e.Value, m.File.Pos(i))
				keys := h.needs(e.Value)
				if len(keys) == 0 {
					continue
				}
				at := m.File.Pos(i)
				h.warnOfNear(keys, at)
				n := h.InNames[e.Key]
				if _, merged := h.Merges.ByKey[e.Key]; s.Rank == h.levels.Defaults[n].Rank && !depends[n] && !merged {
					h.certain[h.Keys[e.Key]] = hieraNeed{keys, at}
				}
			}
		}
	}
}

// warnOfNearOptions warns about a key that resembles lookup_options and may have a hash as its value.
func (h *hieraNeeds) warnOfNearOptions(key uint32, val uint32, at diag.Pos) {
	if diag.Misspelt(h.Keys[key], []string{options}) == "" {
		return
	}
	if v, ok := h.Constant(val); !ok || v.Kind() == value.Hash {
		h.Report(diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "hiera_options",
			Message: "'" + h.Keys[key] + "' is an ordinary key and has no effect on lookups of other keys",
			Fix:     diag.MeantAs(h.Keys[key], options)})
	}
}

const options = "lookup_options"

// needs returns the roots of the keys that the value number val looks up. Roots with dots are quoted.
func (h *hieraNeeds) needs(val uint32) []string {
	text := h.Values[val]
	if text[0] != recipe.CompiledRecipe {
		return nil
	}
	if keys, ok := h.lookups[val]; ok {
		return keys
	}
	var keys []string
	if r, err := recipe.Decode(text[1:]); err == nil && r.Kind == recipe.Expression {
		expr.HieraKeys(r.Expr, func(key string) { keys = append(keys, key) })
	}
	h.lookups[val] = keys
	return keys
}

func (h *hieraNeeds) warnOfNear(keys []string, at diag.Pos) {
	for _, key := range keys {
		if _, bound := h.Find(key); bound {
			continue
		}
		if near := h.Diags.Misspelt(key, h.Names); near != "" {
			d := diag.Diagnostic{Pos: at, Severity: diag.Warning, Code: "key_unbound",
				Message: "this looks up '" + key + "', which nothing binds"}
			h.Unbound(&d, key, near, h.places(key)-h.places(near))
			h.Report(d)
		}
	}
}

func (h *hieraNeeds) places(key string) int {
	if h.counts == nil {
		h.counts = map[string]int{}
		for i := range h.Scopes {
			for _, val := range h.Scopes[i].Bound() {
				for _, k := range h.needs(val) {
					h.counts[k]++
				}
			}
		}
	}
	return h.counts[key]
}

// findLoops warns about keys that look themselves up in every request.
func (h *hieraNeeds) findLoops() {
	state := map[string]int{} // unvisited, finished, or the position on the current path, from 1
	for _, key := range h.Names {
		h.follow(key, state)
	}
}

// hieraStep is a key on the path of a depth-first search. The search has not followed the keys in next yet.
type hieraStep struct {
	key  string
	next []string
}

// follow searches depth-first from a key. It reports a loop when it returns to a key on the path.
func (h *hieraNeeds) follow(start string, state map[string]int) {
	var path []hieraStep
	enter := func(key string) {
		if need, ok := h.certain[key]; ok && state[key] == unvisited {
			path = append(path, hieraStep{key, need.keys})
			state[key] = len(path)
		}
	}
	enter(start)
	for len(path) > 0 {
		top := &path[len(path)-1]
		if len(top.next) == 0 {
			state[top.key] = finished
			path = path[:len(path)-1]
			continue
		}
		key := top.next[0]
		top.next = top.next[1:]
		if at := state[key]; at > 0 {
			h.reportLoop(path[at-1:])
		}
		enter(key)
	}
}

func (h *hieraNeeds) reportLoop(loop []hieraStep) {
	h.Report(diag.Diagnostic{Pos: h.certain[loop[0].key].at, Severity: diag.Warning, Code: "loop",
		Message: loopMessage(len(loop), func(i int) string { return loop[i].key }) +
			"; every lookup of it fails, as in Puppet"})
}
