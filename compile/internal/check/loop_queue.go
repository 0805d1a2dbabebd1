package check

import (
	"encoding/binary"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
	"bindc/loader"
)

// visitQueue holds the visits that the search for loops has found.
type visitQueue struct {
	plainRequests
	graph      *needGraph
	conditions conditionTable
	unsplit    map[int]bool // conditions with too many ways to split
	queue      []visit
	state      map[visit]int // unvisited, finished, or the position on the current path, from 1
}

func newVisitQueue(plain plainRequests, graph *needGraph) visitQueue {
	return visitQueue{plainRequests: plain, graph: graph, conditions: conditionTable{at: map[string]int{}},
		unsplit: map[int]bool{}, state: map[visit]int{}}
}

// visit is a binding that the search follows in the plain requests of a condition.
type visit struct {
	cand      *place.Candidate
	condition int // index in visitQueue.conditions
}

// These are states of visits that are not on the path.
const (
	unvisited = 0
	finished  = -1
)

// enqueue schedules cand, in the plain requests of terms. If terms can hold in several ways, enqueue schedules cand for
// each way.
func (q *visitQueue) enqueue(cand *place.Candidate, terms loader.Condition) {
	if q.graph.ofCandidate(cand).none() {
		return
	}
	ways, all := q.Relations.Ways(terms)
	for _, way := range ways {
		if !q.Effort.Spend(10) {
			return
		}
		v := visit{cand, q.conditions.number(way)}
		if !all {
			q.unsplit[v.condition] = true
		}
		if _, seen := q.state[v]; !seen {
			q.state[v] = unvisited
			q.queue = append(q.queue, v)
		}
	}
}

// enqueueFurther schedules a candidate that is effective in only some of the requests of terms, for these requests. It
// returns false if it cannot determine these requests.
func (q *visitQueue) enqueueFurther(cand *place.Candidate, terms loader.Condition) bool {
	both := q.together(terms, cand)
	if _, _, open := q.Relations.Undecided(both); open {
		return false
	}
	q.enqueue(cand, both)
	return true
}

// enqueueUndef schedules v again for the requests in which the target of attempt a is undef or renamed. In these
// requests, v tries its next target.
func (q *visitQueue) enqueueUndef(v visit, a attempt) {
	k, terms := q.indexes.of[a.key], q.conditions.list[v.condition]
	for i := range k.compatible(terms, index.NoRank) {
		cand := &k.all[i]
		if (q.isUndefFor(cand, a) || cand.Erases()) && !q.Relations.Implies(terms, k.terms(i)) {
			q.enqueue(v.cand, q.together(terms, cand))
		}
	}
}

// enqueueDeclining schedules v again for the requests in which cand declines because a target is undef or renamed.
func (q *visitQueue) enqueueDeclining(v visit, cand *place.Candidate) {
	r := cand.Computed()
	if r == nil || !r.Declines() {
		return
	}
	for _, a := range needsOf(r, q.indexes.names).tried {
		q.enqueueUndef(v, a)
	}
}

type conditionTable struct {
	list []loader.Condition
	at   map[string]int
}

// number returns the number of a condition. It adds the condition if it is new.
func (t *conditionTable) number(terms loader.Condition) int {
	var key []byte
	for _, term := range terms {
		key = place.AppendDim(key, term.Dimension)
		key = append(binary.AppendUvarint(key, uint64(len(term.Value))), term.Value...)
	}
	n, ok := t.at[string(key)]
	if !ok {
		n = len(t.list)
		t.list, t.at[string(key)] = append(t.list, terms), n
	}
	return n
}
