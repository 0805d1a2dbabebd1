package lookup

import (
	"io/fs"

	"bindc/internal/value"
	"bindc/snapshot"
)

// Lookup is like Request.Lookup of package runtime.
func (r *Request) Lookup(key string) (Value, bool, error) {
	v, found, err := r.view.Lookup(key)
	return Value(v), found, err
}

// Direct returns the view that looks up keys for r. Lookup of package runtime calls it directly, so that the compiler
// can inline Lookup into programs.
func (r *Request) Direct() *snapshot.View { return &r.view }

// lookupValue is like Lookup, but returns a value of package value.
func (r *Request) lookupValue(key string) (value.Value, bool, error) { return r.view.Lookup(key) }

// Follow finishes a lookup of a key that is bound to a computed or large value.
func (r *Request) Follow(key string, ref snapshot.Ref) (value.Value, bool, error) {
	if n, computed := ref.Recipe(); computed {
		return r.compute(key, n)
	}
	v, err := r.snap.value(ref)
	return r.snap.values.Own(v), err == nil, err
}

// Beyond looks up a key that is not bound and may lead into a value of Hiera 5. Its first word ends at position word.
func (r *Request) Beyond(key string, word int) (value.Value, bool, error) {
	if v, ok := r.dig(key, word); ok {
		return r.snap.values.Own(v), true, nil
	}
	l := r.start()
	return l.end(r.rules.beyond(l, key))
}

// compute evaluates the recipe that key is bound to.
func (r *Request) compute(key string, n int) (value.Value, bool, error) {
	l := r.start()
	v, found, err := l.compute(key, n, false)
	if !found && err == nil {
		v, found, err = r.rules.beyond(l, key)
	}
	return l.end(v, found, err)
}

// Indirect is Lookup for requests whose view leaves all keys to it: errors may fail all lookups, a Producer makes the
// lookup, or the request is closed.
func (r *Request) Indirect(key string) (value.Value, bool, error) {
	if r.closed.Load() {
		return value.Value{}, false, fs.ErrClosed
	}
	l := r.start()
	return l.end(l.answer(key))
}
