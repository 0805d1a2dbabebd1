package compile

import (
	"maps"
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/literal"
	"bindc/internal/recipe"
)

// needs are the keys a recipe looks up whatever the facts, as far as they are bound.
func (c *composer) needs(r *recipe.Recipe) []uint32 {
	var out []uint32
	for _, t := range r.Targets {
		if key, bound := c.keyNumber(t.Key); bound {
			out = append(out, key)
			break // whether to_first_found goes on depends on this one
		}
	}
	for _, name := range literal.Lookups(r) {
		if key, bound := c.keyNumber(name); bound {
			out = append(out, key)
		}
	}
	return out
}

// needy is, by their number in the pool, the values that need other keys, with these.
func (c *composer) needy() map[uint32][]uint32 {
	out := map[uint32][]uint32{}
	texts := c.site.Pools.Values.Texts()
	for _, n := range c.stored {
		if texts[n][0] != literal.LooksUp {
			continue
		}
		if r, err := recipe.Decode(texts[n][1:]); err == nil { // or else a lookup says so
			out[n] = c.needs(r)
		}
	}
	return out
}

// loopFinder follows what bindings need, as far as it can be told without facts who wins.
type loopFinder struct {
	*composer
	needy      map[uint32][]uint32
	candidates map[uint32][]candidate // of the keys that need or are needed
	indexes    map[uint32]*keyIndex
	done       map[visit]bool
	reported   map[string]bool
}

// visit is a binding in the requests where a condition holds.
type visit struct {
	cand      *candidate
	condition int
}

// checkLoops reports the bindings that need themselves in every request they are effective in.
func (c *composer) checkLoops() {
	needy := c.needy()
	if len(needy) == 0 {
		return
	}
	f := loopFinder{c, needy, c.gather(c.needing(needy)), map[uint32]*keyIndex{}, map[visit]bool{}, map[string]bool{}}
	for _, key := range slices.Sorted(maps.Keys(f.candidates)) {
		cs := f.candidates[key]
		for i := range cs {
			f.follow(&cs[i], cs[i].condition, nil)
		}
	}
}

// needing are the keys that are needed by some value, or have one that needs others.
func (c *composer) needing(needy map[uint32][]uint32) map[uint32]bool {
	out := map[uint32]bool{}
	for i := range c.scopes {
		for key, value := range c.members(&c.scopes[i]) {
			if len(needy[value]) > 0 {
				out[c.number[key]] = true
			}
		}
	}
	for _, keys := range needy {
		for _, key := range keys {
			out[key] = true
		}
	}
	return out
}

// follow goes from cand to what it needs in the requests where condition holds. path is the candidates on the way.
func (f *loopFinder) follow(cand *candidate, condition int, path []*candidate) {
	if len(f.needy[cand.value]) == 0 {
		return
	}
	if at := slices.Index(path, cand); at >= 0 {
		f.report(path[at:])
		return
	}
	here := visit{cand, condition}
	if f.done[here] {
		return
	}
	path = append(path, cand)
	for _, key := range f.needy[cand.value] {
		if next := f.winner(key, condition); next != nil {
			f.follow(next, condition, path)
		}
	}
	f.done[here] = true
}

// winner is the candidate of key that wins whenever the condition holds; nil where that depends on more.
func (f *loopFinder) winner(key uint32, condition int) *candidate {
	k := f.indexes[key]
	if k == nil {
		k = &keyIndex{composer: f.composer, name: f.names[key], all: f.candidates[key]}
		f.indexes[key] = k
	}
	terms := f.site.Conditions[condition]
	best := -1
	for i := range k.compatible(terms, false) {
		if best < 0 || k.all[i].rank < k.all[best].rank {
			best = i
		}
	}
	if best < 0 || !implies(terms, k.terms(best)) {
		return nil
	}
	return &k.all[best]
}

// report tells of one loop, once however it was entered.
func (f *loopFinder) report(loop []*candidate) {
	first := 0
	for i, cand := range loop {
		if cand.pos().Compare(loop[first].pos()) < 0 {
			first = i
		}
	}
	loop = append(slices.Clone(loop[first:]), loop[:first]...)
	names := make([]string, 0, len(loop)+1)
	d := diag.Diagnostic{Pos: loop[0].pos(), Code: "loop"}
	for _, cand := range loop {
		names = append(names, f.names[cand.key])
	}
	for _, cand := range loop[1:] {
		d.Notes = append(d.Notes, diag.Note{Pos: cand.pos(), Message: "'" + f.names[cand.key] + "' is bound here"})
	}
	d.Message = "'" + names[0] + "' needs itself: " + strings.Join(append(names, names[0]), " -> ")
	if id := d.Pos.String() + d.Message; !f.reported[id] {
		f.reported[id] = true
		f.diags.Add(d)
	}
}
