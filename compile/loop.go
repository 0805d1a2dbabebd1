package compile

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/internal/value"
	"bindc/loader"
)

// loopFinder looks for loops that some request can reach: loops in which every binding wins.
//
// It follows the bindings in the plain requests of a condition. These are the requests whose other dimensions have
// values that no condition names: fewer bindings are effective in them than in any other request of the condition. So
// some request has a loop if and only if there is one in the plain requests of the conditions of its bindings, taken
// together. The search finds these conditions on the way: if a binding needs a key that is bound under a further
// condition too, the binding there is followed by itself, in the requests where both conditions hold.
//
// A condition may hold in several ways, which give different named values to other categories. '${a}-${b}' is 'x-y-z'
// in two ways. No request of such a condition is plain, but each of its ways has plain requests, and is followed by
// itself. A condition with more ways than relation.Ways splits is followed as one. A loop found there may be broken by
// other bindings in each of the ways, and its report says so.
type loopFinder struct {
	*checker
	*needGraph

	parts      map[string][]*keyIndex // contributions by id, one index for each name
	conditions conditionTable
	unsplit    map[int]bool // conditions that can hold in more ways than were split
	queue      []visit
	state      map[visit]int // unvisited, finished, or where it is on the current path, counted from 1
	reported   map[string]bool
	undef      map[*recipe.Recipe]bool // whether expressions without lookups are undef, see isUndef
	deciding   map[string]bool         // variables that decide the values of categories
}

// visit is a binding in the plain requests of a condition.
type visit struct {
	cand      *candidate
	condition int // in loopFinder.conditions
}

// States of a visit that is not on the path.
const (
	unvisited = 0
	finished  = -1
)

// step is a visit on the path, with the candidates that it needs and that are not followed yet.
type step struct {
	visit
	next []*candidate
}

// Bounds of the search. Lookups find the loops that it does not reach.
const (
	loopEffort             = 1 << 22
	loopEffortPerCandidate = 1 << 8
)

// checkLoops reports the loops. The search has a share of the effort, and it is no error if that is not enough.
func (c *checker) checkLoops(needs *needGraph) {
	f := &loopFinder{checker: c, needGraph: needs, parts: map[string][]*keyIndex{}, unsplit: map[int]bool{},
		conditions: conditionTable{at: map[string]int{}}, state: map[visit]int{}, reported: map[string]bool{},
		undef: map[*recipe.Recipe]bool{}, deciding: decidingVariables(c.site)}
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

// decidingVariables returns the variables that decide the values of categories and guards.
func decidingVariables(site *loader.Site) map[string]bool {
	out := map[string]bool{}
	for _, d := range site.Dimensions {
		d.Value.Variables(func(name string) { out[name] = true })
	}
	return out
}

// enqueueAll schedules every binding that may be on a loop under its own condition. It returns the effort that the
// search may take.
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

// collected returns the ids whose contributions some lookup collects: those of bindings that can win, and of
// contributions that are collected themselves.
func (f *loopFinder) collected() map[string]bool {
	out := map[string]bool{}
	within := map[string][]string{} // ids that contributions collect, by the id they contribute to
	var todo []string
	for id, ds := range f.multibinds.declared {
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

// partsOf returns the contributions to a multibinding, one index for each name.
func (f *loopFinder) partsOf(id string) []*keyIndex {
	if out, ok := f.parts[id]; ok {
		return out
	}
	var out []*keyIndex
	at := map[string]int{}
	for _, cand := range f.multibinds.contributions[id] {
		name := cand.binding.Key
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, &keyIndex{env: f.env, name: name})
		}
		out[i].all = append(out[i].all, cand)
	}
	f.parts[id] = out
	return out
}

// enqueue schedules cand in the plain requests of each way in which terms can hold.
func (f *loopFinder) enqueue(cand *candidate, terms loader.Condition) {
	if f.needsOfCandidate(cand).none() {
		return
	}
	ways, all := f.relations.Ways(terms)
	for _, way := range ways {
		if !f.effort.spend(10) {
			return
		}
		v := visit{cand, f.conditions.number(way)}
		if !all {
			f.unsplit[v.condition] = true
		}
		if _, seen := f.state[v]; !seen {
			f.state[v] = unvisited
			f.queue = append(f.queue, v)
		}
	}
}

// needsOfCandidate returns the needs of cand, or none if it is on no loop: then what it needs has no indexes.
func (f *loopFinder) needsOfCandidate(cand *candidate) needs {
	switch {
	case !f.circular[cand.key]:
		return needs{}
	case cand.recipe != nil:
		return f.needsOf(cand.recipe)
	}
	return f.ofValue[cand.value]
}

// follow follows what start needs, and what that needs, and reports each way back to a visit on the path.
func (f *loopFinder) follow(start visit) {
	var path []step
	enter := func(v visit) {
		path = append(path, step{v, f.next(v)})
		f.state[v] = len(path)
	}
	if f.state[start] == unvisited {
		enter(start)
	}
	for len(path) > 0 && !f.effort.over() {
		top := &path[len(path)-1]
		if len(top.next) == 0 {
			f.state[top.visit] = finished
			path = path[:len(path)-1]
			continue
		}
		v := visit{top.next[0], start.condition}
		top.next = top.next[1:]
		switch at := f.state[v]; at {
		case finished:
		case unvisited:
			enter(v)
		default:
			f.reportLoop(path[at-1:], start.condition)
		}
	}
}

// next returns the candidates that a binding needs in the plain requests of a condition. It schedules those that the
// binding needs in other requests of the condition.
func (f *loopFinder) next(v visit) []*candidate {
	n := f.needsOfCandidate(v.cand)
	var out []*candidate
	for _, key := range n.keys {
		found, _ := f.descend(v, f.indexes[key], -1)
		out = append(out, found...)
	}
	for _, key := range n.below {
		found, _ := f.descend(v, f.indexes[key], v.cand.rank)
		out = append(out, found...)
	}
	out = append(out, f.nextTried(v, n.tried)...)
	if n.collects == nil {
		return out
	}
	id := strings.TrimPrefix(n.collects.Name, recipe.ContributionKey(""))
	if !f.multibinds.renamed[id] {
		for _, k := range f.partsOf(id) {
			out = append(out, f.nextPart(v, k, takesOne(n.collects.Options, k.name != ""))...)
		}
	}
	return out
}

// nextTried returns the candidates of targets that are tried, up to the first target that is certain to have a value.
func (f *loopFinder) nextTried(v visit, tried []attempt) (out []*candidate) {
	for _, a := range tried {
		found, decided := f.descend(v, f.indexes[a.key], -1)
		out = append(out, found...)
		f.enqueueUndef(v, a)
		if !decided || len(found) > 0 && !f.isUndefFor(found[len(found)-1], a) &&
			!f.declines(found[len(found)-1], f.conditions.list[v.condition], nil) {
			break
		}
	}
	return out
}

// takesOne reports whether only the first of several contributions of one name, or without a name, is produced.
func takesOne(o *recipe.Options, named bool) bool {
	return decides(o, named) || o.Resolution == recipe.Ignore
}

// nextPart returns the contributions of one name that are effective in the plain requests of v. With single, it returns
// only the one that wins, or none if that cannot be decided. It schedules those that are effective in other requests.
func (f *loopFinder) nextPart(v visit, k *keyIndex, single bool) (found []*candidate) {
	terms := f.conditions.list[v.condition]
	var possible []*candidate
	for i := range k.compatible(terms, noRank) {
		cand := &k.all[i]
		switch {
		case !k.relations.Implies(terms, k.terms(i)):
			possible = append(possible, cand)
		case !single || len(found) == 0:
			found = append(found, cand)
		case cand.beats(found[0]):
			found[0] = cand
		}
	}
	decided := true
	for _, cand := range possible {
		if single && len(found) > 0 && !cand.beats(found[0]) {
			continue
		}
		decided = f.enqueueFurther(cand, terms) && decided
	}
	if single && !decided {
		return nil
	}
	return found
}

// enqueueFurther schedules a candidate that is effective in some requests of terms, in these. It returns false if it
// cannot be decided which requests these are.
func (f *loopFinder) enqueueFurther(cand *candidate, terms loader.Condition) bool {
	both := f.with(terms, cand)
	if _, _, open := f.relations.Undecided(both); open {
		return false
	}
	f.enqueue(cand, both)
	return true
}

// with returns terms and the condition of cand together.
func (f *loopFinder) with(terms loader.Condition, cand *candidate) loader.Condition {
	return relation.Union(terms, f.site.Conditions[cand.condition])
}

// enqueueUndef schedules v in the requests in which a target is undef or erased, as the next target is tried there.
func (f *loopFinder) enqueueUndef(v visit, a attempt) {
	k, terms := f.indexes[a.key], f.conditions.list[v.condition]
	for i := range k.compatible(terms, noRank) {
		cand := &k.all[i]
		if (f.isUndefFor(cand, a) || cand.erases()) && !f.relations.Implies(terms, k.terms(i)) {
			f.enqueue(v.cand, f.with(terms, cand))
		}
	}
}

// isUndefFor reports whether cand is undef and has the type that an attempt asks for, so that the next one follows.
func (f *loopFinder) isUndefFor(cand *candidate, a attempt) bool {
	undef := value.Value{}
	return f.values[cand.value] == string(recipe.AppendConstant(nil, undef)) && a.target.Type.Check(undef) == nil
}

// conditionTable numbers conditions.
type conditionTable struct {
	list []loader.Condition
	at   map[string]int
}

// number returns the number of a condition.
func (t *conditionTable) number(terms loader.Condition) int {
	var key []byte
	for _, term := range terms {
		key = appendDim(key, term.Dimension)
		key = append(binary.AppendUvarint(key, uint64(len(term.Value))), term.Value...)
	}
	n, ok := t.at[string(key)]
	if !ok {
		n = len(t.list)
		t.list, t.at[string(key)] = append(t.list, terms), n
	}
	return n
}
