package lookup

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// hierarchies has what can fail all lookups of hierarchies of Hiera 5, see recipe.HierarchiesKey.
type hierarchies struct {
	paths, options, written value.Value

	foreign map[string]bool // modules with entries that only Puppet reads
}

// errEarlyHiera refuses files from the first hours of the feature hiera. Their internal keys have other names, so that
// lookups of merged keys would answer undef.
var errEarlyHiera = fmt.Errorf("%w: the file has feature hiera in its first form, without a list of hierarchies, and "+
	"this program reads a later form; build it again with the bindc of this program's version", snapshot.ErrVersion)

// hierarchies returns those of the snapshot, nil without Hiera 5. The first request reads them.
func (r *Request) hierarchies() (*hierarchies, error) {
	if h := r.snap.hierarchies.Load(); h != nil || !r.snap.Hiera() {
		return h, nil
	}
	ref, found, err := r.file.Find(recipe.HierarchiesKey, &r.scopes)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errEarlyHiera
	}
	v, err := r.snap.value(ref)
	if err != nil {
		return nil, err
	}
	h := &hierarchies{}
	h.paths, _ = v.Get(value.FromString("paths"))
	h.options, _ = v.Get(value.FromString("options"))
	h.written, _ = v.Get(value.FromString("written"))
	h.foreign = foreignModules(h.written)
	r.snap.hierarchies.Store(h)
	return h, nil
}

// foreignModules returns the modules with an entry without locations. Verify does not check these values.
func foreignModules(written value.Value) map[string]bool {
	out := map[string]bool{}
	for h := range written.Elems() {
		if !isHierarchy(h) || snapshot.HieraPart(h.Index(0).Int()) != snapshot.HieraModule {
			continue
		}
		for e := range h.Index(3).Elems() {
			if e.Len() == 1 {
				out[strings.Clone(h.Index(1).Text())] = true
			}
		}
	}
	return out
}

// isForeign reports whether the module of a key has data that only Puppet reads, and which may count more than the
// data in the snapshot.
func (r *Request) isForeign(key string) bool {
	h := r.snap.hierarchies.Load()
	return h != nil && len(h.foreign) > 0 && h.foreign[lookupkey.Module(key)]
}

// checkHierarchies notes the errors that fail all lookups of a hierarchy: those of paths that could not be evaluated,
// by dimension. Lookups find the errors of lookup_options themselves.
func (r *Request) checkHierarchies(failed map[int]error) error {
	r.failing, r.mayFail, r.indirect = nil, false, r.caller != nil
	h, err := r.hierarchies()
	if h == nil {
		return err
	}
	if len(failed) > 0 {
		r.failing = map[string]error{}
		for module, paths := range h.paths.Pairs() {
			for path := range paths.Elems() {
				if err := failed[int(path.Int())]; err != nil {
					r.failing[module.Text()] = err
				}
			}
		}
	}
	r.mayFail = len(r.failing) > 0 || h.options.Len() > 0
	r.indirect = r.indirect || r.mayFail
	return nil
}

// failure finds errors that fail the lookup of a key as soon as it reaches Hiera 5 data, whatever that data is. A nil
// failure finds none.
type failure struct {
	*lookup
	root  string // the root of the key
	given bool   // the caller gave the strategy, so a wrong one in lookup_options does not matter
}

// failure returns the failure for a key looked up without a strategy, or nil if there cannot be one.
func (l *lookup) failure(key string) *failure {
	if !l.r.mayFail || lookupkey.Reserved(key) {
		return nil
	}
	k, err := lookupkey.Parse(key)
	if err != nil {
		return nil // hiera reports it
	}
	return &failure{l, k.Root, false}
}

// in returns the error that fails a lookup whose highest binding is in the given part.
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

// unbound returns the error that fails the lookup of a key without bindings.
func (f *failure) unbound() error { return f.in(snapshot.HieraDefaults) }

// failsIn returns the error that fails the lookup of root in the hierarchies, or in default_hierarchy. given means that
// the caller gave the strategy.
func (l *lookup) failsIn(root string, given, defaults bool) error {
	module := lookupkey.Module(root)
	in := []string{"", module}
	if defaults {
		in = []string{recipe.DefaultsOf(module)}
	} else if err := l.r.pathError(module); err != nil {
		return err
	}
	for of := range l.r.snap.hierarchies.Load().options.Elems() { // which is why the request may fail
		if slices.Contains(in, of.Text()) {
			return l.wrongOptions(root, given, defaults)
		}
	}
	return nil
}

// pathError returns the error of a path in the hierarchies that have the keys of a module, nil if there is none.
func (r *Request) pathError(module string) error {
	if err := r.failing[""]; err != nil {
		return err
	}
	return r.failing[module]
}

// wrongOptions returns the error in the lookup_options for root, or for all keys of its module.
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

// Indirect is Lookup for a key that is not Direct: something may fail every lookup of a key, the key is internal, a
// Producer asks, or the request is closed.
func (r *Request) Indirect(key string) (value.Value, bool, error) {
	if r.closed.Load() {
		return value.Value{}, false, fs.ErrClosed
	}
	l := r.start()
	return l.end(l.answer(key))
}
