package lookup

import (
	"maps"
	"slices"

	"bindc/internal/value"
)

// Missed calls ask with a copy of r and returns what its lookups miss, sorted by name. A variable that is undef counts
// as set.
func (r *Request) Missed(ask func(*Request)) []Miss {
	asking := r.clone()
	asking.misses = map[Miss]bool{}
	ask(asking)
	return slices.SortedFunc(maps.Keys(asking.misses), Miss.Compare)
}

// Missed records that a variable is not set or has no value at path. It implements expr.MissEnv.
func (l *lookup) Missed(name string, path ...value.Value) {
	switch {
	case l.r.misses == nil:
	case l.hides() || l.veiled:
		l.r.misses[Miss{Name: "a variable"}] = true
	default:
		l.r.misses[Miss{Name: written(name, path), Near: l.r.facts.near(name, path)}] = true
	}
}

// missedKey records that an interpolation of Hiera 5 looks up a key that has no value.
func (l *lookup) missedKey(key string) {
	switch {
	case l.r.misses == nil:
	case l.hides() || l.veiled:
		l.r.misses[Miss{Name: "a key", IsKey: true}] = true
	default:
		l.r.misses[Miss{Name: "'" + key + "'", IsKey: true}] = true
	}
}
