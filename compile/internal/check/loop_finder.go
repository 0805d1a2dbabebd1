package check

import (
	"encoding/binary"
	"slices"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/internal/value"
	"bindc/loader"
)

// loopFinder searches for loops that a request can reach: each binding of the loop must win in the request.
//
// The search follows bindings in the plain requests of a condition. In these, all other dimensions have values that no
// condition names, so fewer bindings are effective than in any other request of the condition. A request with a loop
// exists if and only if there is a loop in the plain requests of all conditions of its bindings together. The search
// finds these combined conditions on the way: if a binding needs a key that is also bound under a further condition,
// the search follows that binding separately, in the requests in which both conditions hold.
//
// A condition may hold in several ways: '${a}-${b}' is 'x-y-z' if a is 'x' or 'x-y'. Other categories may name these
// values, so no request of the condition is plain. The search therefore follows each way separately, with its own plain
// requests. If there are too many ways for relation.Ways, it follows the condition as a whole. A loop that it finds
// there may not exist, because other bindings may break it in each of the ways. The report says so.
type loopFinder struct {
	*checker
	*needGraph

	parts      map[string][]*keyIndex // contributions by id, with one index per name
	conditions conditionTable
	unsplit    map[int]bool // conditions with too many ways to split
	queue      []visit
	state      map[visit]int // unvisited, finished, or the position on the current path, from 1
	reported   map[string]bool
	undef      map[*recipe.Recipe]bool // results of isUndef for expressions without lookups
	deciding   map[string]bool         // see decidingVariables
}

// visit is a binding that the search follows in the plain requests of a condition.
type visit struct {
	cand      *place.Candidate
	condition int // index in loopFinder.conditions
}

// These are states of visits that are not on the path.
const (
	unvisited = 0
	finished  = -1
)

// step is a visit on the path of the depth-first search. The search has not followed the candidates in next yet.
type step struct {
	visit
	next []*place.Candidate
}

// enqueue schedules cand, in the plain requests of terms. If terms can hold in several ways, enqueue schedules cand for
// each way.
func (f *loopFinder) enqueue(cand *place.Candidate, terms loader.Condition) {
	if f.needsOfCandidate(cand).none() {
		return
	}
	ways, all := f.Relations.Ways(terms)
	for _, way := range ways {
		if !f.Effort.Spend(10) {
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

// enqueueFurther schedules a candidate that is effective in only some of the requests of terms, for these requests. It
// returns false if it cannot determine these requests.
func (f *loopFinder) enqueueFurther(cand *place.Candidate, terms loader.Condition) bool {
	both := f.together(terms, cand)
	if _, _, open := f.Relations.Undecided(both); open {
		return false
	}
	f.enqueue(cand, both)
	return true
}

// enqueueUndef schedules v again for the requests in which the target of attempt a is undef or renamed. In these
// requests, v tries its next target.
func (f *loopFinder) enqueueUndef(v visit, a attempt) {
	k, terms := f.indexes[a.key], f.conditions.list[v.condition]
	for i := range k.compatible(terms, index.NoRank) {
		cand := &k.all[i]
		if (f.isUndefFor(cand, a) || cand.Erases()) && !f.Relations.Implies(terms, k.terms(i)) {
			f.enqueue(v.cand, f.together(terms, cand))
		}
	}
}

// isUndefFor reports whether cand is undef and the target of a accepts undef, so that the next target is tried.
func (f *loopFinder) isUndefFor(cand *place.Candidate, a attempt) bool {
	undef := value.Value{}
	return f.Values[cand.Value] == string(recipe.AppendConstant(nil, undef)) && a.target.Type.Check(undef) == nil
}

// needsOfCandidate returns the needs of cand. Candidates outside loops have no needs, because the keys that they need
// have no index.
func (f *loopFinder) needsOfCandidate(cand *place.Candidate) needs {
	switch {
	case !f.circular[cand.Key]:
		return needs{}
	case cand.Recipe != nil:
		return f.needsOf(cand.Recipe)
	}
	return f.ofValue[cand.Value]
}

func (f *loopFinder) together(terms loader.Condition, cand *place.Candidate) loader.Condition {
	return relation.Union(terms, f.Site.Conditions[cand.Condition])
}

// partsOf returns the contributions to the multibinding id, with one index per name.
func (f *loopFinder) partsOf(id string) []*keyIndex {
	if out, ok := f.parts[id]; ok {
		return out
	}
	var out []*keyIndex
	at := map[string]int{}
	for _, cand := range f.Multibinds.Contributions[id] {
		name := cand.Binding.Key
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, &keyIndex{Env: f.Env, name: name})
		}
		out[i].all = append(out[i].all, cand)
	}
	f.parts[id] = out
	return out
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

// split returns the candidates below a rank that can be effective where terms hold. The candidates in certain are
// always effective, and are sorted, highest first. The candidates in possible are effective only in some of these
// requests.
func (k *keyIndex) split(terms loader.Condition, below int) (certain, possible []*place.Candidate) {
	for i := range k.compatible(terms, index.NoRank) {
		switch cand := &k.all[i]; {
		case cand.Rank <= below:
		case k.Relations.Implies(terms, k.terms(i)):
			certain = append(certain, cand)
		default:
			possible = append(possible, cand)
		}
	}
	slices.SortStableFunc(certain, func(a, b *place.Candidate) int { return place.ByRank(*a, *b) })
	return certain, possible
}
