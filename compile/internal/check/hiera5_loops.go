package check

import (
	"bindc/compile/internal/index"
	"bindc/diag"
)

// hieraNeeds holds the keys whose values are the same in every request, with the keys that they look up.
type hieraNeeds map[string]hieraNeed

// hieraNeed lists the keys that the value at a position looks up.
type hieraNeed struct {
	keys []string
	at   diag.Pos
}

// findLoops calls report for each loop, with the position of its first key and a message. These are loops in every
// request.
func (h hieraNeeds) findLoops(names index.Names, report func(at diag.Pos, message string)) {
	state := map[string]int{} // unvisited, finished, or the position on the current path, from 1
	for _, key := range names {
		h.follow(key, state, func(loop []hieraStep) {
			report(h[loop[0].key].at, loopMessage(len(loop), func(i int) string { return loop[i].key }))
		})
	}
}

// hieraStep is a key on the path of a depth-first search. The search has not followed the keys in next yet.
type hieraStep struct {
	key  string
	next []string
}

// follow searches depth-first from a key. It calls found with a loop when it returns to a key on the path.
func (h hieraNeeds) follow(start string, state map[string]int, found func(loop []hieraStep)) {
	var path []hieraStep
	enter := func(key string) {
		if need, ok := h[key]; ok && state[key] == unvisited {
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
			found(path[at-1:])
		}
		enter(key)
	}
}
