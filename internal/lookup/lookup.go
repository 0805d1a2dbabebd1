package lookup

import (
	"io/fs"
	"runtime"

	"bindc/internal/value"
	"bindc/snapshot"
)

// Lookup is like Request.Lookup of package runtime, which repeats its steps for speed.
func (r *Request) Lookup(key string) (Value, bool, error) {
	v, found, err := r.find(key)
	return r.View(v), found, err
}

// find is Lookup without wrapping the value.
func (r *Request) find(key string) (value.Value, bool, error) {
	if !r.Direct(key) {
		return r.Indirect(key)
	}
	ref, found, err := r.Ref(key)
	runtime.KeepAlive(r)
	switch {
	case found && ref.Small():
		return r.Small(ref), true, nil
	case !found && (err != nil || !r.Digs(key)):
		return value.Value{}, false, err
	}
	return r.Follow(key, ref, found)
}

// The steps of a lookup return a plain value without the file, because it fits the registers that
// Go uses for results.

// Direct reports whether a lookup of key may begin with Ref. r must be open, and nothing but the
// binding of the key may matter.
func (r *Request) Direct(key string) bool { return !r.closed.Load() && !r.indirect && !internal(key) }

// Ref returns the reference that key is bound to. The caller must keep r alive, so that the file
// stays mapped.
func (r *Request) Ref(key string) (snapshot.Ref, bool, error) { return r.file.Find(key, &r.scopes) }

// Digs reports whether a key without bindings may lead into a value of Hiera 5.
func (r *Request) Digs(key string) bool { return r.hiera && digs(key) }

// Small returns the value of a small reference.
func (r *Request) Small(ref snapshot.Ref) value.Value { return r.snap.values.Value(uint64(ref)) }

// Follow finishes a lookup of a key that is bound to a computed or large value, or that may lead
// into a value of Hiera 5.
func (r *Request) Follow(key string, ref snapshot.Ref, found bool) (value.Value, bool, error) {
	if !found {
		l := r.start()
		return l.end(r.rules.beyond(l, key))
	}
	if n, computed := ref.Recipe(); computed {
		return r.compute(key, n)
	}
	v, err := r.snap.value(ref)
	return v, err == nil, err
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

// Indirect is Lookup for a key that is not Direct: errors may fail all lookups, the key is
// internal, a Producer makes the lookup, or the request is closed.
func (r *Request) Indirect(key string) (value.Value, bool, error) {
	if r.closed.Load() {
		return value.Value{}, false, fs.ErrClosed
	}
	l := r.start()
	return l.end(l.answer(key))
}
