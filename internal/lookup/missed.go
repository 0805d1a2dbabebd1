package lookup

import (
	"iter"
	"maps"
	"slices"

	"bindc/internal/value"
)

// hiddenMiss replaces a variable's name if the name may be part of sensitive data.
const hiddenMiss = "a variable"

// Missed returns an iterator over the unset variables that the lookups made by ask need. They are sorted and formatted
// as $role or $facts['role']. The second value is the most similar set variable, or "". A variable that is undef counts
// as set.
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

// Missed records that a variable is not set or has no value at path. It implements expr.MissEnv.
func (l *lookup) Missed(name string, path ...value.Value) {
	switch {
	case l.r.misses == nil:
	case l.hides() || l.veiled:
		(*l.r.misses)[hiddenMiss] = ""
	default:
		(*l.r.misses)[written(name, path)] = l.r.facts.near(name, path)
	}
}
