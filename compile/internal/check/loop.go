package check

import (
	"maps"
	"slices"
	"strings"

	"bindc/internal/recipe"
	"bindc/loader"
)

// Limits on the steps of the search for loops. Lookups report the loops that the search misses.
const (
	loopEffort             = 1 << 22
	loopEffortPerCandidate = 1 << 8
)

// checkLoops reports loops. The search gets a share of the effort. When it has used up its share, it stops without an
// error.
func (c *checker) checkLoops(needs *needGraph) {
	f := &loopFinder{checker: c, needGraph: needs, parts: map[string][]*keyIndex{}, unsplit: map[int]bool{},
		conditions: conditionTable{at: map[string]int{}}, state: map[visit]int{}, reported: map[string]bool{},
		undef: map[*recipe.Recipe]bool{}, deciding: decidingVariables(c.Site)}
	if f.Effort.Over() {
		return
	}
	before := f.Effort.Left
	f.Effort.Left = min(before, f.enqueueAll())
	share := f.Effort.Left
	for len(f.queue) > 0 && !f.Effort.Over() {
		f.follow(f.queue[0])
		f.queue = f.queue[1:]
	}
	f.Effort.Left = before - share + max(0, f.Effort.Left)
}

// decidingVariables returns the variables that categories and guards use.
func decidingVariables(site *loader.Site) map[string]bool {
	out := map[string]bool{}
	for _, d := range site.Dimensions {
		d.Value.Variables(func(name string) { out[name] = true })
	}
	return out
}

// enqueueAll schedules each binding that may be on a loop, with its own condition. It returns the effort available to
// the search.
func (f *loopFinder) enqueueAll() int {
	share := loopEffort
	collected := f.collected()
	for _, key := range slices.Sorted(maps.Keys(f.circular)) {
		indexes := []*keyIndex{f.indexes[key]}
		if id, ok := strings.CutPrefix(f.Names[key], recipe.ContributionKey("")); ok {
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

// collected returns the ids of the multibindings that lookups evaluate: multibindings that can win, and multibindings
// that contribute to them.
func (f *loopFinder) collected() map[string]bool {
	out := map[string]bool{}
	within := map[string][]string{} // ids of contributing multibindings, by the id that they contribute to
	var todo []string
	for id, ds := range f.Multibinds.Declared {
		for _, d := range ds {
			if in := d.Binding.More.In; in != nil {
				within[in.ID] = append(within[in.ID], id)
			} else if len(f.effective(d.Binding)) > 0 {
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
