package compile

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/value"
)

// needs is what a recipe needs whatever the facts, as far as it is bound.
type needs struct {
	keys  []uint32 // it looks up all of these
	tried []uint32 // and these in turn, no further than one that is not undef
	id    string   // and collects the contributions to this multibinding; or ""
}

func (n needs) none() bool { return len(n.keys) == 0 && len(n.tried) == 0 && n.id == "" }

func (c *composer) recipeNeeds(r *recipe.Recipe) needs {
	var n needs
	for _, t := range r.Targets {
		n.tried = c.appendBound(n.tried, t.Key)
	}
	for _, name := range r.Lookups() {
		n.keys = c.appendBound(n.keys, name)
	}
	if r.Kind == recipe.Multibind {
		n.id = strings.TrimPrefix(r.Name, recipe.ContributionKey(""))
	}
	return n
}

func (c *composer) appendBound(keys []uint32, name string) []uint32 {
	if key, bound := c.keyNumber(name); bound {
		keys = append(keys, key)
	}
	return keys
}

// needy is, by their number, what values need that need something.
func (c *composer) needy() map[uint32]needs {
	out := map[uint32]needs{}
	texts := c.values
	for _, n := range c.stored {
		if texts[n][0] != recipe.CompiledLookup {
			continue
		}
		if r, err := recipe.Decode(texts[n][1:]); err == nil { // or else a lookup says so
			out[n] = c.recipeNeeds(r)
		}
	}
	return out
}

// loopFinder follows what bindings need, as far as it can be told without facts who wins. The way is kept here and not
// on the stack: chains are as long as somebody cares to write them.
type loopFinder struct {
	*composer
	needy    map[uint32]needs
	done     map[visit]bool
	path     []step
	on       map[*candidate]int // the candidates on the path, by their place on it
	reported map[string]bool
}

// visit is a binding in the requests where a condition holds.
type visit struct {
	cand      *candidate
	condition int
}

// step is a candidate on the way, and those it needs that are not followed yet, in reverse order.
type step struct {
	cand *candidate
	next []*candidate
}

// checkLoops reports the bindings that need themselves in every request they are effective in.
func (c *composer) checkLoops(needy map[uint32]needs) {
	f := loopFinder{composer: c, needy: needy, done: map[visit]bool{}, on: map[*candidate]int{},
		reported: map[string]bool{}}
	for _, key := range slices.Sorted(maps.Keys(c.indexes)) {
		k := c.indexes[key]
		for i := range k.all {
			if !f.needsOf(&k.all[i]).none() && !k.neverWins(i) {
				f.follow(&k.all[i], k.all[i].condition)
			}
		}
	}
}

// addNeeding adds the keys that are needed by something, or have a value that needs others.
func (c *composer) addNeeding(keys map[uint32]bool, needy map[uint32]needs) {
	add := func(n needs) {
		for _, key := range slices.Concat(n.keys, n.tried) {
			keys[key] = true
		}
	}
	for _, n := range needy {
		add(n)
	}
	for _, cs := range c.contributions {
		for _, cand := range cs {
			add(c.recipeNeeds(cand.recipe))
		}
	}
	for i := range c.scopes {
		if len(needy) == 0 {
			return
		}
		for key, value := range c.members(&c.scopes[i]) {
			if !needy[value].none() {
				keys[c.number[key]] = true
			}
		}
	}
}

// follow goes from cand to all that it needs in the requests where condition holds.
func (f *loopFinder) follow(cand *candidate, condition int) {
	f.enter(cand, condition)
	for len(f.path) > 0 {
		top := &f.path[len(f.path)-1]
		if len(top.next) == 0 {
			delete(f.on, top.cand)
			f.path = f.path[:len(f.path)-1]
			continue
		}
		next := top.next[len(top.next)-1]
		top.next = top.next[:len(top.next)-1]
		if at, ok := f.on[next]; ok {
			f.loop(f.path[at:])
		} else {
			f.enter(next, condition)
		}
	}
}

// enter puts cand on the path, unless it has been there under the same condition.
func (f *loopFinder) enter(cand *candidate, condition int) {
	here := visit{cand, condition}
	if f.done[here] || !f.effort.spend(10) {
		return
	}
	f.done[here] = true
	if next := f.needed(cand, condition); len(next) > 0 {
		slices.Reverse(next)
		f.on[cand] = len(f.path)
		f.path = append(f.path, step{cand, next})
	}
}

// needed is the candidates that cand needs in every request where condition holds.
func (f *loopFinder) needed(cand *candidate, condition int) []*candidate {
	var out []*candidate
	n := f.needsOf(cand)
	for _, key := range n.keys {
		if next := f.winner(key, condition); next != nil {
			out = append(out, next)
		}
	}
	for _, key := range n.tried {
		next := f.winner(key, condition)
		if next == nil {
			break // whether those behind it are tried depends on the request
		}
		out = append(out, next)
		if !f.isUndef(next) {
			break
		}
	}
	for i := range f.contributions[n.id] {
		part := &f.contributions[n.id][i]
		if f.effort.spend(1) && f.relations.implies(f.site.Conditions[condition], f.site.Conditions[part.condition]) {
			out = append(out, part)
		}
	}
	return out
}

func (f *loopFinder) needsOf(cand *candidate) needs {
	if cand.recipe != nil {
		return f.recipeNeeds(cand.recipe)
	}
	return f.needy[cand.value]
}

func (f *loopFinder) isUndef(cand *candidate) bool {
	return f.values[cand.value] == string(recipe.AppendConstant(nil, value.Value{}))
}

// winner is the candidate of key that wins whenever the condition holds; nil where that depends on more.
func (f *loopFinder) winner(key uint32, condition int) *candidate {
	k := f.indexes[key]
	terms := f.site.Conditions[condition]
	best := -1
	for list := range k.near(terms, false) {
		for _, i := range list {
			if best >= 0 && k.all[i].rank >= k.all[best].rank || !f.effort.spend(1) {
				break
			}
			if f.relations.together(terms, k.terms(i)) {
				best = i
				break
			}
		}
	}
	if best < 0 || !f.relations.implies(terms, k.terms(best)) {
		return nil
	}
	return &k.all[best]
}

// maxNamed is how many bindings of a loop are named.
const maxNamed = 20

// loop tells of one loop, once however it was entered.
func (f *loopFinder) loop(path []step) {
	if !f.effort.spend(len(path)) {
		return
	}
	loop := make([]*candidate, len(path))
	for i, s := range path {
		loop[i] = s.cand
	}
	first := slices.Index(loop, slices.MinFunc(loop, func(a, b *candidate) int {
		switch contributes := a.recipe != nil; {
		case contributes == (b.recipe != nil):
			return a.pos().Compare(b.pos())
		case contributes:
			return 1
		}
		return -1 // rather begin with a key
	}))
	loop = append(slices.Clone(loop[first:]), loop[:first]...)
	more := len(loop) - maxNamed
	loop = loop[:min(len(loop), maxNamed)]
	names := make([]string, 0, len(loop)+2)
	d := diag.Diagnostic{Pos: loop[0].pos(), Code: "loop"}
	for _, cand := range loop {
		names = append(names, f.nameOf(cand))
	}
	if more > 0 {
		names = append(names, "("+strconv.Itoa(more)+" others)")
	}
	for _, cand := range loop[1:] {
		note := "'" + f.nameOf(cand) + "' is bound here"
		if cand.recipe != nil {
			note = "the contribution to " + f.nameOf(cand) + " is here"
		}
		d.Notes = append(d.Notes, diag.Note{Pos: cand.pos(), Message: note})
	}
	d.Message = "'" + names[0] + "' needs itself: " + strings.Join(append(names, names[0]), " -> ")
	if id := d.Pos.String() + d.Message; !f.reported[id] {
		f.reported[id] = true
		f.report(d)
	}
}

// nameOf is a key, or the multibinding that a candidate contributes to.
func (f *loopFinder) nameOf(cand *candidate) string {
	if cand.recipe == nil {
		return f.names[cand.key]
	}
	return "multibind " + cand.binding.More.In.ID
}
