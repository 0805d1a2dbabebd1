package snapshot

import (
	"runtime"
	"sync/atomic"

	"bindc/internal/value"
)

// View is a snapshot as one request sees it.
type View struct {
	file   *Snapshot
	shut   *atomic.Bool
	small  *value.Source
	others Others
	digs   bool

	Indirect bool   // leave all lookups to Others
	Scopes   Scopes // set by Resolve
}

// Others does the lookups that a View leaves to it.
type Others interface {
	// Indirect looks up a key of a View that is shut.
	Indirect(key string) (value.Value, bool, error)
	// Follow finishes the lookup of a key that is bound to a computed or large value, or that is
	// not bound and may lead into a value.
	Follow(key string, ref Ref, found bool) (value.Value, bool, error)
}

// NewView returns a View of s whose Scopes must be set by Resolve. Its lookups return small values as values of
// small. They leave all keys to others while shut is set, and keys without bindings if digs is true.
func NewView(s *Snapshot, shut *atomic.Bool, small *value.Source, digs bool, others Others) View {
	return View{file: s, shut: shut, small: small, digs: digs, others: others}
}

// Lookup returns the value of highest precedence for key in the request.
func (w *View) Lookup(key string) (value.Value, bool, error) {
	s, length := w.file, uint64(len(key))
	if length-17 > maxInlineKey-17 {
		return w.unusual(key)
	}
	if w.Indirect || w.shut.Load() {
		return w.others.Indirect(key)
	}
	last := length - 16
	middle := least(16, last)
	a0, a1, b0, b1, c0, c1 := at64(key, 0), at64(key, 8), at64(key, middle), at64(key, middle+8), at64(key, last),
		at64(key, last+8)
	h := mix(mix(a0^k1, a1^s.seed^k0)^mix(b0^k2, b1^s.seed)^length, mix(c0^k3, c1^s.seed)^k1)
	n := slotOf(h, at16(s.hash.pilots, 2*uint64(reduce(h, s.hash.buckets))), s.hash.slots)
	if n >= s.hash.n {
		if n = s.hash.moved(n); n >= s.hash.n {
			return w.unbound(key)
		}
	}
	if at8(s.prints, uint64(n)) != uint8(h) {
		return w.unbound(key)
	}
	r := keyRecord * uint64(n)
	t := r + recText
	if at64(s.keys, t)^a0|at64(s.keys, t+8)^a1|at64(s.keys, t+middle)^b0|at64(s.keys, t+middle+8)^b1|
		at64(s.keys, t+last)^c0|at64(s.keys, t+last+8)^c1|uint64(at8(s.keys, r+recLength))^length != 0 {
		return w.unbound(key)
	}
	mask := at64(s.keys, r+recMask)
	m := mask & w.Scopes.active
	if !w.Scopes.filter.has(n) {
		m &= s.narrow
	}
	ref := Ref(at32(s.keys, r+recDefault))
	if m != 0 || !ref.Small() || uint8(a0) == 0 {
		return w.scoped(key, n, mask, m)
	}
	v := w.small.Value(uint64(ref))
	runtime.KeepAlive(w)
	return v, true, nil
}

func (w *View) scoped(key string, n uint32, mask, m uint64) (value.Value, bool, error) {
	ref, ok, err := w.file.findIn(n, mask, m, &w.Scopes)
	return w.finish(key, ref, ok, err)
}

func (w *View) unusual(key string) (value.Value, bool, error) {
	if w.Indirect || w.shut.Load() {
		return w.others.Indirect(key)
	}
	ref, ok, err := w.file.Find(key, &w.Scopes)
	return w.finish(key, ref, ok, err)
}

func (w *View) finish(key string, ref Ref, ok bool, err error) (value.Value, bool, error) {
	switch {
	case err != nil || key != "" && key[0] == 0:
		return value.Value{}, false, err
	case ok && ref.Small():
		v := w.small.Value(uint64(ref))
		runtime.KeepAlive(w)
		return v, true, nil
	case ok:
		v, found, err := w.others.Follow(key, ref, true)
		runtime.KeepAlive(w)
		return v, found, err
	}
	return w.unbound(key)
}

func (w *View) unbound(key string) (value.Value, bool, error) {
	if w.digs {
		v, found, err := w.others.Follow(key, noRef, false)
		runtime.KeepAlive(w)
		return v, found, err
	}
	return value.Value{}, false, nil
}
