package lookup

import (
	"iter"
	"maps"
	"slices"

	"bindc/internal/value"
)

// hiddenMiss stands for a variable whose name may be part of something sensitive.
const hiddenMiss = "a variable"

// Missed yields the variables that the lookups of ask need for their values and that are not set, as $role or
// $facts['role'], sorted: each with the one that is set and probably was meant, or "". A variable that is undef is set.
func (r *Request) Missed(ask func(*Request)) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		asking := r.clone()
		asking.misses = &misses{}
		ask(asking)
		for _, name := range slices.Sorted(maps.Keys(*asking.misses)) {
			if !yield(name, (*asking.misses)[name]) {
				return
			}
		}
	}
}

// Missed notes that a variable is not set, or has nothing at path. It is part of expr.MissEnv.
func (l *lookup) Missed(name string, path ...value.Value) {
	switch {
	case l.r.misses == nil:
	case l.hides() || l.veiled:
		(*l.r.misses)[hiddenMiss] = ""
	default:
		(*l.r.misses)[written(name, path)] = l.r.facts.near(name, path)
	}
}
