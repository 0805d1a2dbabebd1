package runtime

import (
	"slices"

	"bindc/internal/lookupkey"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// hierarchies is what can fail all lookups of hierarchies of Hiera 5, see recipe.HierarchiesKey.
type hierarchies struct{ paths, options value.Value }

// hierarchies are those of the snapshot, as any of its requests finds them.
func (r *Request) hierarchies() (*hierarchies, error) {
	if h := r.snap.hierarchies.Load(); h != nil || !r.snap.hiera() {
		return h, nil
	}
	ref, found, err := r.file.Find(recipe.HierarchiesKey, &r.scopes)
	if err != nil {
		return nil, err
	}
	h := &hierarchies{}
	if found {
		v, err := r.file.Value(ref)
		if err == nil {
			err = sound(v)
		}
		if err != nil {
			return nil, err
		}
		h.paths, _ = v.Get(value.FromString("paths"))
		h.options, _ = v.Get(value.FromString("options"))
	}
	r.snap.hierarchies.Store(h)
	return h, nil
}

// checkHierarchies finds what fails all lookups of a hierarchy: the paths that cannot be told, by dimension. What
// lookup_options fail is found when a key is looked up.
func (r *Request) checkHierarchies(untold map[int]error) error {
	r.failing, r.wary = nil, false
	h, err := r.hierarchies()
	if h == nil {
		return err
	}
	if len(untold) > 0 {
		r.failing = map[string]error{}
		for module, paths := range h.paths.Pairs() {
			for path := range paths.Elems() {
				if err := untold[int(path.Int())]; err != nil {
					r.failing[module.Text()] = err
				}
			}
		}
	}
	r.wary = len(r.failing) > 0 || h.options.Len() > 0
	return nil
}

// fails is what fails the lookup of key whatever it finds, unless something structured wins. That a strategy is wrong
// does not count where the lookup is told another.
func (l *lookup) fails(key string, told bool) error {
	if !l.r.wary || lookupkey.Reserved(key) {
		return nil
	}
	part, bound, err := l.highest(key)
	if bound && part == snapshot.NoHiera {
		return err
	}
	k, err := lookupkey.Parse(key)
	if err != nil {
		return nil // hiera says so
	}
	if err = l.failsIn(k.Root, told, false); err == nil && (!bound || part == snapshot.HieraDefaults) {
		err = l.failsIn(k.Root, false, true)
	}
	if err != nil {
		return l.explain(key, err)
	}
	return nil
}

// highest is the part that has the highest binding which answers key, or what key leads into; of Hiera 5 the highest.
// It is not bound, if none has one.
func (l *lookup) highest(key string) (part snapshot.HieraPart, bound bool, err error) {
	part, bound, err = l.highestOf(key)
	if k, wrong := lookupkey.Parse(key); !bound && wrong == nil {
		root, _ := lookupkey.Quoted(k.Root)
		return l.highestOf(root)
	}
	return part, bound, err
}

func (l *lookup) highestOf(root string) (part snapshot.HieraPart, bound bool, err error) {
	d := descent{lookup: &lookup{r: l.r, total: bounds(), chain: []string{root}}, key: root, behind: -1}
	d.stops = func(c snapshot.Candidate) (bool, error) {
		p, err := l.place(root, c)
		part = p.Part
		return l.isFinal(root, c), err
	}
	_, found, err := d.run()
	switch {
	case damaged(err):
		return snapshot.NoHiera, true, err
	case d.at:
		return part, true, nil
	}
	return snapshot.NoHiera, found || err != nil || d.erased, nil // what is wrong with it is its answer
}

// isFinal tells whether what is behind a candidate of key does not matter, see recipe.IsFinal.
func (l *lookup) isFinal(key string, c snapshot.Candidate) bool {
	n, computed := c.Ref.Recipe()
	if !computed {
		return true
	}
	r, err := l.r.snap.recipe(key, n)
	return err != nil || r.IsFinal()
}

// failsIn is what fails the lookup of root in the hierarchies, or in default_hierarchy.
func (l *lookup) failsIn(root string, told, defaults bool) error {
	module := lookupkey.Module(root)
	in := []string{"", module}
	if defaults {
		in = []string{recipe.DefaultsOf(module)}
	} else if err := l.r.untold(module); err != nil {
		return err
	}
	for of := range l.r.snap.hierarchies.Load().options.Elems() { // which made the request wary
		if slices.Contains(in, of.Text()) {
			return l.wrongOptions(root, told, defaults)
		}
	}
	return nil
}

// untold is what is wrong with a path of the hierarchies that the keys of a module are looked up in.
func (r *Request) untold(module string) error {
	if err := r.failing[""]; err != nil {
		return err
	}
	return r.failing[module]
}

// wrongOptions is what is wrong with the lookup_options for root, or for all keys of its module.
func (l *lookup) wrongOptions(root string, told, defaults bool) error {
	if err := l.enter(optionsKey); err != nil {
		return err
	}
	defer l.leave()
	asks := hieraLookup{lookup: l, root: recipe.LookupOptionsKey}
	options, err := asks.optionsOf(lookupkey.Module(root), defaults)
	if err != nil || told {
		return err
	}
	_, err = options.For(root).Strategy()
	return err
}

// careful is Lookup where something may fail the lookup of a key whatever it finds, or the key is internal.
func (r *Request) careful(key string) (Value, bool, error) {
	l := lookups.Get().(*lookup)
	l.r, l.total = r, bounds()
	return l.end(l.answer(key))
}
