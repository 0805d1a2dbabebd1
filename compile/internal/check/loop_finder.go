package check

import "bindc/compile/internal/place"

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
	visitQueue
	multibinds *place.Multibinds
	parts      map[string][]*keyIndex // contributions by id, with one index per name
	reported   map[string]bool
}

// step is a visit on the path of the depth-first search. The search has not followed the candidates in next yet.
type step struct {
	visit
	next []*place.Candidate
}

// partsOf returns the contributions to the multibinding id, with one index per name.
func (f *loopFinder) partsOf(id string) []*keyIndex {
	if out, ok := f.parts[id]; ok {
		return out
	}
	var out []*keyIndex
	at := map[string]int{}
	for _, cand := range f.multibinds.Contributions[id] {
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
