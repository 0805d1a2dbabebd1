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
	// Indirect looks up a key of a View that is shut or Indirect.
	Indirect(key string) (value.Value, bool, error)
	// Follow finishes the lookup of a key that is bound to a computed or large value, or that is
	// not bound and may lead into a value.
	Follow(key string, ref Ref, found bool) (value.Value, bool, error)
}

// NewView returns a View of s. The caller sets its Scopes with Resolve. Lookups return small values as values of
// small. They leave all keys to others while shut is set, and keys without bindings if digs is true.
func NewView(s *Snapshot, shut *atomic.Bool, small *value.Source, digs bool, others Others) View {
	return View{file: s, shut: shut, small: small, digs: digs, others: others}
}

// Lookup returns the value of highest precedence for key in the request. A small value is read when it is used.
//
// This is keyNumber and findIn in one function, for keys of the usual length: it hashes and compares the same six
// words and does not branch on the length. Calls would cost a fifth of the total time. The pilot, the fingerprint and
// the record of n are read without bounds checks: Open checked that they are inside their sections for each n below
// s.hash.n.
func (w *View) Lookup(key string) (value.Value, bool, error) {
	if w.Indirect || w.shut.Load() {
		return w.others.Indirect(key)
	}
	s, length := w.file, uint64(len(key))
	if length-17 > maxInlineKey-17 {
		ref, ok, err := s.Find(key, &w.Scopes)
		return w.finish(key, ref, ok, err)
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
	differs := (at64(s.keys, t) ^ a0) | (at64(s.keys, t+8) ^ a1) |
		(at64(s.keys, t+middle) ^ b0) | (at64(s.keys, t+middle+8) ^ b1) |
		(at64(s.keys, t+last) ^ c0) | (at64(s.keys, t+last+8) ^ c1)
	if differs != 0 || uint64(at8(s.keys, r+recLength)) != length {
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

// scoped completes Lookup for key number n, which the columns m may bind.
func (w *View) scoped(key string, n uint32, mask, m uint64) (value.Value, bool, error) {
	ref, ok, err := w.file.findIn(n, mask, m, &w.Scopes)
	return w.finish(key, ref, ok, err)
}

// finish returns the value that ref refers to. An internal key is not found.
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

// unbound completes Lookup for a key without bindings.
func (w *View) unbound(key string) (value.Value, bool, error) {
	if w.digs {
		v, found, err := w.others.Follow(key, noRef, false)
		runtime.KeepAlive(w)
		return v, found, err
	}
	return value.Value{}, false, nil
}

// least is a min without branches. The branch that the compiler generates for min is often mispredicted here, because
// it depends on the length of the key.
func least(a, b uint64) uint64 {
	d := int64(b) - int64(a)
	return a + uint64(d&(d>>63))
}
