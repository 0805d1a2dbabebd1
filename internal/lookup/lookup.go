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

// Direct returns the view that looks up keys for r. Package runtime calls the view directly, so that the compiler can
// inline its Request.Lookup into programs.
func (r *Request) Direct() *snapshot.View { return &r.view }

func (r *Request) lookupValue(key string) (value.Value, bool, error) { return r.view.Lookup(key) }

// Follow finishes a lookup that the view began, if key is bound to a recipe or a large value.
func (r *Request) Follow(key string, ref snapshot.Ref) (value.Value, bool, error) {
	if n, computed := ref.Recipe(); computed {
		return r.compute(key, n)
	}
	v, err := r.snap.value(ref)
	return r.snap.values.Own(v), err == nil, err
}

// Beyond looks up a key that is not bound. It may be a dotted key that digs into Hiera 5 data. word is the position
// where its first word ends.
func (r *Request) Beyond(key string, word int) (value.Value, bool, error) {
	if v, ok := r.dig(key, word); ok {
		return v, true, nil
	}
	l := r.start()
	return l.end(r.rules.beyond(l, key))
}

func (r *Request) compute(key string, n int) (value.Value, bool, error) {
	l := r.start()
	v, found, err := l.compute(key, n, false)
	if !found && err == nil {
		v, found, err = r.rules.beyond(l, key)
	}
	return l.end(v, found, err)
}

// Indirect looks up key without the fast path of the view. The view calls it for every key if some error may fail all
// lookups, if a Producer uses r, or if r is closed.
func (r *Request) Indirect(key string) (value.Value, bool, error) {
	if r.closed.Load() {
		return value.Value{}, false, fs.ErrClosed
	}
	l := r.start()
	return l.end(l.answer(key))
}
