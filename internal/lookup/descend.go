package lookup

import (
	"strconv"

	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/snapshot"
)

// descent looks for a value in the effective bindings of a key, highest first. A binding that is not final may decline:
// an optional binding if its value is undef, an alias if its target is not bound. The descent then continues with the
// next binding.
type descent struct {
	*lookup
	key    string
	behind int // the last level to skip; -1 to begin at the top

	stops      func(snapshot.Candidate) (bool, error) // reports whether to stop before a candidate; nil to never stop
	stopped    bool                                   // stops returned true
	erased     bool                                   // a rename was found; below it, the key has another name
	rebindings []*recipe.Recipe                       // rebindings found above the value, to be applied to it

	hierarchies *failure // finds errors that fail any lookup reaching Hiera 5 data; may be nil
	last        bool     // nothing else is tried if no binding has a value
}

// descend looks up key in the bindings after level behind, or in all bindings if behind is -1. last means that nothing
// else is tried if none has a value.
func (l *lookup) descend(key string, behind int, last bool) (value.Value, bool, error) {
	d := descent{lookup: l, key: key, behind: behind, hierarchies: l.failure(key), last: last}
	v, found, err := d.run()
	if err != nil {
		err = l.explain(key, err)
	}
	return v, found, err
}

func (d *descent) run() (value.Value, bool, error) {
	for c, err := range d.r.file.CandidatesAfter(d.key, d.behind, &d.r.view.Scopes) {
		part := snapshot.NoHiera
		if err == nil && d.needsBinding() {
			part, err = d.reach(c)
		}
		if err == nil && d.stops != nil {
			d.stopped, err = d.stops(c)
		}
		if err != nil || d.stopped {
			return value.Value{}, false, err
		}
		v, found, err := d.try(c)
		d.structured = part == snapshot.NoHiera
		if err != nil || found || d.erased {
			return v, found, err
		}
	}
	if d.last {
		return value.Value{}, false, d.hierarchies.unbound()
	}
	return value.Value{}, false, nil
}

// reach returns the part of the hierarchies that contains c. It fails if every lookup that reaches this part must fail.
func (d *descent) reach(c snapshot.Candidate) (snapshot.HieraPart, error) {
	p, err := d.position(d.key, c)
	if err == nil && p.Part != snapshot.NoHiera {
		err = d.hierarchies.in(p.Part)
	}
	return p.Part, err
}

// try returns the value of c, or false if c declines. It records renames and rebindings in d.
func (d *descent) try(c snapshot.Candidate) (value.Value, bool, error) {
	v, r, err := d.r.snap.content(d.key, snapshot.Binding{Ref: c.Ref, Hidden: c.Hidden, Stored: c.Stored})
	found := true
	switch {
	case r == nil: // a constant, or an error
	case r.Kind == recipe.Erased:
		d.erased = true
		return value.Value{}, false, nil
	case r.Kind == recipe.Below && r.Name == d.key:
		d.rebindings = append(d.rebindings, r)
		return value.Value{}, false, nil
	case r.Kind == recipe.Merged:
		v, err = d.merge(d.key, r, d.behind+1)
		v, err = d.finish(d.key, r, v, err)
	default:
		v, found, err = d.attemptAt(d.key, r, c.Level)
	}
	if err != nil || !found {
		return value.Value{}, false, err
	}
	return d.rebound(d.key, d.rebindings, v)
}

// attemptAt is like attempt, but also evaluates recipes that depend on lower bindings. level is the level of r.
func (l *lookup) attemptAt(key string, r *recipe.Recipe, level int) (v value.Value, found bool, err error) {
	switch r.Kind {
	case recipe.Below:
		v, found, err = l.below(r.Name, level)
		return l.accept(key, r, v, found, err)
	case recipe.Merged:
		l.sensitive = l.sensitive || r.Sensitive
		v, err = l.merge(key, r, 0)
		v, err = l.finish(key, r, v, err)
		return v, err == nil, err
	}
	return l.attempt(key, r)
}

func (l *lookup) below(key string, level int) (value.Value, bool, error) {
	if level < 0 { // nothing is below the default binding
		return value.Value{}, false, nil
	}
	if err := l.enter(key + "\x00" + strconv.Itoa(level)); err != nil {
		return value.Value{}, false, err
	}
	defer l.leave()
	v, found, err := l.descend(key, level, true)
	v, err = l.open(v, err)
	return v, found, err
}
