package check

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/recipe"
)

// Limits on the steps of the search for loops. Lookups report the loops that the search misses.
const (
	loopEffort             = 1 << 22
	loopEffortPerCandidate = 1 << 8
)

// checkLoops reports loops. The search gets a part of the effort. When it has used up its part, it stops with a
// warning.
func checkLoops(e *pass.Env, t *place.Tables, ms *place.Multibinds, indexes keyIndexes, graph *needGraph) {
	if e.Effort.Over() {
		return
	}
	plain := plainRequests{Env: e, values: t, indexes: indexes, undef: map[*recipe.Recipe]bool{},
		deciding: decidingVariables(e.Site)}
	f := loopFinder{visitQueue: newVisitQueue(plain, graph), multibinds: ms, parts: map[string][]*keyIndex{},
		reported: map[string]bool{}}
	wanted := f.enqueueAll()
	if e.Effort.Over() {
		return
	}
	part, end := e.Effort.Part(wanted)
	for len(f.queue) > 0 && !e.Effort.Over() {
		f.follow(f.queue[0])
		f.queue = f.queue[1:]
	}
	if !end() {
		return
	}
	d := diag.Diagnostic{Pos: indexes.mostBound().all[0].Pos(), Severity: diag.Warning, Code: "effort",
		Message: "the search for loops stopped after " + strconv.Itoa(part) +
			" steps; lookups report the loops that it did not find",
		Hint: "bind fewer keys that look one another up"}
	if part < wanted {
		d.Hint += ", or raise --max-effort"
	}
	e.Report(d)
}

// enqueueAll schedules each binding that may be on a loop, with its own condition. It returns the number of steps for
// the search.
func (f *loopFinder) enqueueAll() int {
	share := loopEffort
	collected := collectedIDs(f.Env, f.multibinds, f.indexes)
	for _, key := range slices.Sorted(maps.Keys(f.graph.circular)) {
		indexes := []*keyIndex{f.indexes.of[key]}
		if id, ok := strings.CutPrefix(f.indexes.names[key], recipe.ContributionKey("")); ok {
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

// collectedIDs returns the ids of the multibindings that lookups evaluate: multibindings that can win, and
// multibindings that contribute to them.
func collectedIDs(e *pass.Env, ms *place.Multibinds, indexes keyIndexes) map[string]bool {
	out := map[string]bool{}
	within := map[string][]string{} // ids of contributing multibindings, by the id that they contribute to
	var todo []string
	for id, ds := range ms.Declared {
		for _, d := range ds {
			if in := d.Binding.More.In; in != nil {
				within[in.ID] = append(within[in.ID], id)
			} else if len(effective(e, d.Binding, indexes)) > 0 {
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

// follow searches depth-first from start. It reports a loop when it returns to a visit on the path.
func (f *loopFinder) follow(start visit) {
	var path []step
	enter := func(v visit) {
		path = append(path, step{v, f.next(v)})
		f.state[v] = len(path)
	}
	if f.state[start] == unvisited {
		enter(start)
	}
	for len(path) > 0 && !f.Effort.Over() {
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
