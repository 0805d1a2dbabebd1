package compile

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/internal/value"
	"bindc/loader"
)

// needs is what a recipe needs whatever the facts, as far as it is bound.
type needs struct {
	keys     []uint32       // it looks up all of these
	unbound  []string       // and these, which nothing binds
	tried    []attempt      // and these in turn, no further than one that is found and not undef
	below    []uint32       // and what is below it of these, one at most
	collects *recipe.Recipe // and it puts contributions together; or nil
	alone    *recipe.Recipe // it is nothing but what is tried, so that it is undef where that is; or nil
}

// attempt is a target that is tried.
type attempt struct {
	key    uint32
	target recipe.Target
}

func (n needs) none() bool {
	return len(n.keys) == 0 && len(n.tried) == 0 && len(n.below) == 0 && n.collects == nil
}

func (c *composer) recipeNeeds(r *recipe.Recipe) needs {
	var n needs
	for _, t := range r.Targets {
		if key, bound := c.keyNumber(t.Key); bound {
			n.tried = append(n.tried, attempt{key, t})
		} else if r.Kind != recipe.AliasOf { // of which that is an error
			n.unbound = append(n.unbound, t.Key)
		}
	}
	for _, name := range r.Lookups() {
		if key, bound := c.keyNumber(name); bound {
			n.keys = append(n.keys, key)
		} else {
			n.unbound = append(n.unbound, name)
		}
	}
	if producesTarget(r.Kind) && !r.Optional && r.Transformer == nil {
		n.alone = r
	}
	if r.Kind == recipe.Below {
		if key, bound := c.keyNumber(r.Name); bound {
			n.below = append(n.below, key)
		}
	}
	if r.Kind == recipe.Multibind {
		n.collects = r
	}
	return n
}

func producesTarget(k recipe.Kind) bool {
	return k == recipe.LookupOf || k == recipe.FirstFound || k == recipe.HashLookup
}

// needed is the keys of n, contributions by their internal key.
func (c *composer) needed(n needs) []uint32 {
	out := append(slices.Clone(n.keys), n.below...)
	for _, a := range n.tried {
		out = append(out, a.key)
	}
	if n.collects != nil {
		if key, bound := c.keyNumber(n.collects.Name); bound {
			out = append(out, key)
		}
	}
	return out
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

// loopFinder looks for loops that some request can reach: in which every binding wins.
//
// It follows the bindings in the plain requests of a condition, those whose other dimensions have values that no
// condition names: of all requests of the condition, the fewest bindings are effective in them. So there is a loop in
// some request if and only if there is one in the plain requests of the conditions that its bindings have, taken
// together. These are found on the way: where a binding needs a key that is bound under a further condition too, the
// binding there is followed for itself, in the requests where both hold.
//
// A condition may hold in several ways, each of which gives other categories values that are named, as '${a}-${b}' is
// 'x-y-z' in two. No request of it is plain then, but each of its ways has plain requests, and is followed for itself.
// What can hold in more ways than relation.Ways splits is followed as one condition. A loop there may be one that
// another binding breaks in each of the ways, and its report says so.
type loopFinder struct {
	*composer
	needy    map[uint32]needs
	graph    map[uint32][]uint32 // what the bindings of a key need, all together
	circular map[uint32]bool     // keys that may be on a loop; those of contributions are internal

	parts       map[string][]*keyIndex // contributions, by id, those of one name in one index
	conditions  []loader.Condition     // each can hold in one way
	unsplit     map[int]bool           // of conditions, those that can hold in more ways than were split
	conditionAt map[string]int
	queue       []visit
	place       map[visit]int // on the way that is followed, plus one; or done
	reported    map[string]bool
	undef       map[*recipe.Recipe]bool // optional expressions that look nothing up
	deciding    map[string]bool         // variables
}

// visit is a binding in the plain requests of a condition.
type visit struct {
	cand      *candidate
	condition int // in loopFinder.conditions
}

const done = -1

// step is a candidate on the way, and those it needs that are not followed yet.
type step struct {
	visit
	next []*candidate
}

// Bounds on the search. What it does not come to is left to the lookups.
const (
	loopEffort             = 1 << 22
	loopEffortPerCandidate = 1 << 8
)

func (c *composer) newLoopFinder() *loopFinder {
	f := &loopFinder{composer: c, needy: c.needy(), graph: map[uint32][]uint32{}, circular: map[uint32]bool{},
		parts: map[string][]*keyIndex{}, unsplit: map[int]bool{}, conditionAt: map[string]int{}, place: map[visit]int{},
		reported: map[string]bool{}, undef: map[*recipe.Recipe]bool{}, deciding: c.deciding()}
	add := func(key uint32, n needs) {
		if !n.none() {
			f.graph[key] = append(f.graph[key], c.needed(n)...)
		}
	}
	for i := range c.scopes {
		if len(f.needy) == 0 {
			break
		}
		for key, value := range c.members(&c.scopes[i]) {
			add(c.inNames[key], f.needy[value])
		}
	}
	for id, cs := range c.contributions {
		key, bound := c.keyNumber(recipe.ContributionKey(id))
		for _, cand := range cs {
			if bound {
				add(key, c.recipeNeeds(cand.recipe))
			}
		}
	}
	for key := range leading(leading(f.graph)) {
		f.circular[key] = true
	}
	return f
}

// leading is the part of a graph from whose nodes its edges lead on and on, turned round.
func leading(graph map[uint32][]uint32) map[uint32][]uint32 {
	back, left := map[uint32][]uint32{}, map[uint32]int{} // edges that are left of a node
	for from, tos := range graph {
		left[from] = len(tos)
		for _, to := range tos {
			back[to] = append(back[to], from)
		}
	}
	var ends []uint32
	for to := range back {
		if left[to] == 0 {
			ends = append(ends, to)
		}
	}
	for len(ends) > 0 {
		end := ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		for _, from := range back[end] {
			if left[from]--; left[from] == 0 {
				ends = append(ends, from)
			}
		}
		delete(back, end)
	}
	for to, froms := range back {
		back[to] = slices.DeleteFunc(froms, func(from uint32) bool { return left[from] == 0 })
	}
	return back
}

// addKeys adds the keys of which the candidates are asked for: those that may be on a loop, and those that are tried
// before one.
func (f *loopFinder) addKeys(keys map[uint32]bool) {
	for key := range f.circular {
		for _, other := range f.graph[key] { // one of them needs it too
			keys[other] = true
		}
	}
	if len(f.through) > 0 {
		f.addTried(keys)
	}
}

// addTried adds what keys need, and what that needs: on it may depend what declines.
func (f *loopFinder) addTried(keys map[uint32]bool) {
	todo := slices.Collect(maps.Keys(keys))
	for len(todo) > 0 {
		key := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, other := range f.graph[key] {
			if !keys[other] {
				keys[other] = true
				todo = append(todo, other)
			}
		}
	}
}

// find reports the loops. It has a share of the effort, and that it is not enough is no error.
func (f *loopFinder) find() {
	if f.effort.over() {
		return
	}
	before := f.effort.left
	f.effort.left = min(before, f.enqueueAll())
	share := f.effort.left
	for len(f.queue) > 0 && !f.effort.over() {
		f.follow(f.queue[0])
		f.queue = f.queue[1:]
	}
	f.effort.left = before - share + max(0, f.effort.left)
}

// enqueueAll has every binding that may be on a loop followed under its own condition, and returns how far.
func (f *loopFinder) enqueueAll() int {
	share := loopEffort
	collected := f.collected()
	for _, key := range slices.Sorted(maps.Keys(f.circular)) {
		indexes := []*keyIndex{f.indexes[key]}
		if id, ok := strings.CutPrefix(f.names[key], recipe.ContributionKey("")); ok {
			if !collected[id] {
				continue
			}
			indexes = f.partsOf(id)
		}
		for _, k := range indexes {
			for i := range k.all {
				share += loopEffortPerCandidate
				f.enqueue(&k.all[i], k.terms(i))
			}
		}
	}
	return share
}

// collected are the ids of which some lookup collects the contributions: those of bindings that can win, and of
// contributions that are collected themselves.
func (f *loopFinder) collected() map[string]bool {
	out := map[string]bool{}
	within := map[string][]string{} // ids collected by contributions, by what they contribute to
	var todo []string
	for id, ds := range f.declared {
		for _, d := range ds {
			if in := d.binding.More.In; in != nil {
				within[in.ID] = append(within[in.ID], id)
			} else if len(f.effective(d.binding)) > 0 {
				todo = append(todo, id)
			}
		}
	}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !out[id] {
			out[id] = true
			todo = append(todo, within[id]...)
		}
	}
	return out
}

// partsOf is the contributions to a multibinding, those of one name in one index.
func (f *loopFinder) partsOf(id string) []*keyIndex {
	if out, ok := f.parts[id]; ok {
		return out
	}
	var out []*keyIndex
	at := map[string]int{}
	for _, cand := range f.contributions[id] {
		name := cand.binding.Key
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, &keyIndex{composer: f.composer, name: name})
		}
		out[i].all = append(out[i].all, cand)
	}
	f.parts[id] = out
	return out
}

// enqueue schedules cand in the plain requests of each way in which terms can hold.
func (f *loopFinder) enqueue(cand *candidate, terms loader.Condition) {
	if f.needsOf(cand).none() {
		return
	}
	ways, all := f.relations.Ways(terms)
	for _, way := range ways {
		if !f.effort.spend(10) {
			return
		}
		v := visit{cand, f.condition(way)}
		if !all {
			f.unsplit[v.condition] = true
		}
		if _, seen := f.place[v]; !seen {
			f.place[v] = 0
			f.queue = append(f.queue, v)
		}
	}
}

func (f *loopFinder) condition(terms loader.Condition) int {
	var key []byte
	for _, t := range terms {
		key = appendDim(key, t.Dimension)
		key = append(binary.AppendUvarint(key, uint64(len(t.Value))), t.Value...)
	}
	n, ok := f.conditionAt[string(key)]
	if !ok {
		n = len(f.conditions)
		f.conditions, f.conditionAt[string(key)] = append(f.conditions, terms), n
	}
	return n
}

// follow goes from start to what it needs, and on, and reports where it comes back to where it has been.
func (f *loopFinder) follow(start visit) {
	var path []step
	enter := func(v visit) {
		path = append(path, step{v, f.next(v)})
		f.place[v] = len(path)
	}
	if f.place[start] == 0 {
		enter(start)
	}
	for len(path) > 0 && !f.effort.over() {
		top := &path[len(path)-1]
		if len(top.next) == 0 {
			f.place[top.visit] = done
			path = path[:len(path)-1]
			continue
		}
		v := visit{top.next[0], start.condition}
		top.next = top.next[1:]
		switch at := f.place[v]; at {
		case done:
		case 0:
			enter(v)
		default:
			f.loop(path[at-1:], start.condition)
		}
	}
}

// next is what a binding needs in the plain requests of a condition. What it needs in other requests of it is queued.
func (f *loopFinder) next(v visit) []*candidate {
	n := f.needsOf(v.cand)
	var out []*candidate
	for _, key := range n.keys {
		found, _ := f.descend(v, f.indexes[key], -1)
		out = append(out, found...)
	}
	for _, key := range n.below {
		found, _ := f.descend(v, f.indexes[key], v.cand.rank)
		out = append(out, found...)
	}
	for _, a := range n.tried {
		found, known := f.descend(v, f.indexes[a.key], -1)
		out = append(out, found...)
		f.pass(v, a)
		if !known || len(found) > 0 && !f.isPassed(found[len(found)-1], a) &&
			!f.declines(found[len(found)-1], f.conditions[v.condition], nil) {
			break
		}
	}
	if n.collects != nil && !f.renamed[strings.TrimPrefix(n.collects.Name, recipe.ContributionKey(""))] {
		for _, k := range f.partsOf(strings.TrimPrefix(n.collects.Name, recipe.ContributionKey(""))) {
			out = append(out, f.reach(v, k, takesOne(n.collects.Options, k.name != ""))...)
		}
	}
	return out
}

// takesOne tells whether of several contributions of one name, or without one, only the first is produced.
func takesOne(o *recipe.Options, named bool) bool {
	return decides(o, named) || o.Resolution == recipe.Ignore
}

// reach finds the one candidate of k that wins in the plain requests of v, none where that cannot be decided, or else
// all that are effective. Those that are so in other requests of v are queued.
func (f *loopFinder) reach(v visit, k *keyIndex, one bool) (found []*candidate) {
	terms := f.conditions[v.condition]
	var further []*candidate
	for i := range k.compatible(terms, noRank) {
		cand := &k.all[i]
		switch {
		case !k.relations.Implies(terms, k.terms(i)):
			further = append(further, cand)
		case !one || len(found) == 0:
			found = append(found, cand)
		case cand.beats(found[0]):
			found[0] = cand
		}
	}
	known := true
	for _, cand := range further {
		if one && len(found) > 0 && !cand.beats(found[0]) {
			continue
		}
		if _, _, open := f.relations.Undecided(f.with(terms, cand)); open {
			known = false
		} else {
			f.enqueue(cand, f.with(terms, cand))
		}
	}
	if one && !known {
		return nil
	}
	return found
}

func (f *loopFinder) with(terms loader.Condition, cand *candidate) loader.Condition {
	return relation.Union(terms, f.site.Conditions[cand.condition])
}

// pass queues v for the requests in which a target is undef or erased, as then the next one is tried.
func (f *loopFinder) pass(v visit, a attempt) {
	k, terms := f.indexes[a.key], f.conditions[v.condition]
	for i := range k.compatible(terms, noRank) {
		cand := &k.all[i]
		if (f.isPassed(cand, a) || cand.erases()) && !f.relations.Implies(terms, k.terms(i)) {
			f.enqueue(v.cand, f.with(terms, cand))
		}
	}
}

// isPassed tells whether cand is undef, and taken for it, so that what stands behind it is tried.
func (f *loopFinder) isPassed(cand *candidate, a attempt) bool {
	undef := value.Value{}
	return f.values[cand.value] == string(recipe.AppendConstant(nil, undef)) && a.target.Type.Check(undef) == nil
}

// beats tells whether c counts and other does not where both are effective. Of contributions of one precedence, which
// have one condition then, the first counts.
func (c *candidate) beats(other *candidate) bool { return c.rank < other.rank }

// needsOf is what cand needs. What is on no loop is not followed: the candidates of what it needs were not asked for.
func (f *loopFinder) needsOf(cand *candidate) needs {
	switch {
	case !f.circular[cand.key]:
		return needs{}
	case cand.recipe != nil:
		return f.recipeNeeds(cand.recipe)
	}
	return f.needy[cand.value]
}

// maxNamed is how many bindings of a loop are named.
const maxNamed = 20

// loop tells of one loop, once however it was entered.
func (f *loopFinder) loop(path []step, condition int) {
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
		d.Message += f.describe(f.conditions[condition])
		if f.unsplit[condition] {
			d.Hint = "the condition can hold in too many ways to follow each: if no request has this loop, name a " +
				"category of fewer variables in the condition too"
		}
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
