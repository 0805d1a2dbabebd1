package lookup

import (
	"slices"

	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/snapshot"
)

// failure finds errors that fail a lookup as soon as it reaches Hiera 5 data, whether or not the data has the key. A
// nil failure finds none.
type failure struct {
	*lookup
	root  string // the first segment of the looked-up key
	given bool   // the caller set the strategy, so an invalid one in lookup_options has no effect
}

// failure returns the failure for a key that is looked up without a strategy, or nil if no such error is possible.
func (l *lookup) failure(key string) *failure {
	if !l.r.mayFail || lookupkey.Reserved(key) {
		return nil
	}
	k, err := lookupkey.Parse(key)
	if err != nil {
		return nil // l.hiera reports an invalid key
	}
	return &failure{l, k.Root, false}
}

// in returns the error that fails every lookup of the key that reaches the given part, or nil.
func (f *failure) in(part snapshot.HieraPart) error {
	if f == nil {
		return nil
	}
	err := f.failsIn(f.root, f.given, false)
	if err == nil && part == snapshot.HieraDefaults {
		err = f.failsIn(f.root, false, true)
	}
	return err
}

// unbound returns the error that fails the lookup of a key without bindings, or nil.
func (f *failure) unbound() error { return f.in(snapshot.HieraDefaults) }

// failsIn returns the error that fails all lookups of root in the hierarchies, or in the default_hierarchy if defaults
// is true. given means that the caller set the strategy.
func (l *lookup) failsIn(root string, given, defaults bool) error {
	module := lookupkey.Module(root)
	in := []string{"", module}
	if defaults {
		in = []string{recipe.DefaultsOf(module)}
	} else if err := l.r.pathError(module); err != nil {
		return err
	}
	for name := range l.r.snap.hierarchies.Load().options.Elems() { // modules whose lookup_options have an error
		if slices.Contains(in, name.Text()) {
			return l.wrongOptions(root, given, defaults)
		}
	}
	return nil
}

// wrongOptions returns the error in the lookup_options for root or for its whole module, or nil.
func (l *lookup) wrongOptions(root string, given, defaults bool) error {
	if err := l.enter(optionsKey); err != nil {
		return err
	}
	defer l.leave()
	asks := hieraLookup{lookup: l, root: recipe.LookupOptionsKey}
	options, err := asks.optionsOf(lookupkey.Module(root), defaults)
	if err != nil || given {
		return err
	}
	entry, err := options.For(root, &l.total.Steps)
	if err == nil {
		_, err = entry.Strategy()
	}
	return err
}
