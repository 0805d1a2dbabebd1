package snapshot

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"bindc/internal/value"
)

// View is a snapshot as one request sees it.
type View struct {
	index
	file     *Snapshot
	shut     *atomic.Bool
	indirect *atomic.Bool // if set, Others does all lookups; points to shut or always
	small    *value.Source
	others   Others
	digs     bool

	Scopes Scopes // set by Resolve
}

// Others does the lookups that a View leaves to it.
type Others interface {
	// Indirect looks up a key of a View that is shut or Indirect.
	Indirect(key string) (value.Value, bool, error)
	// Follow finishes the lookup of a key that is bound to a computed or large value.
	Follow(key string, ref Ref) (value.Value, bool, error)
	// Beyond looks up a key that is not bound but may lead into a value. The first byte of key below '0' is at
	// position word.
	Beyond(key string, word int) (value.Value, bool, error)
}

// NewView returns a View of s. The caller sets its Scopes with Resolve. Lookups return small constants as values of the
// source small. They leave all keys to others while shut is set, and dotted or quoted keys without bindings if digs is
// true.
func NewView(s *Snapshot, shut *atomic.Bool, small *value.Source, digs bool, others Others) View {
	return View{index: indexOf(s), file: s, shut: shut, indirect: shut, small: small, digs: digs, others: others}
}

// always is the flag of views that leave all lookups to Others.
var always = func() *atomic.Bool { b := &atomic.Bool{}; b.Store(true); return b }()

// SetIndirect decides whether lookups leave all keys to Others even while the view is not shut.
func (w *View) SetIndirect(on bool) {
	w.indirect = w.shut
	if on {
		w.indirect = always
	}
}

// Indirect reports whether SetIndirect was last called with true.
func (w *View) Indirect() bool { return w.indirect == always }

// Lookup returns the value of highest precedence for key in the request. A small value is read when it is used.
//
// This is keyNumber and findIn in one function, for keys of the usual length: it hashes and compares the same six words
// and does not branch on the length. Calls would cost a fifth of the total time. The words are read again for the
// comparison, because they do not all fit into registers. The pilot, the fingerprint and the record of n are read
// without bounds checks: Open checked that they are inside their sections for each n below w.keyCount.
func (w *View) Lookup(key string) (value.Value, bool, error) {
	length := uint64(len(key))
	if length-17 > maxInlineKey-17 {
		return w.find(key)
	}
	last := length - 16
	middle := least(16, last)
	p := mix(at64(key, 0)^w.k1, at64(key, 8)^w.first)
	q := mix(at64(key, middle)^w.k2, at64(key, middle+8)^w.seed)
	h := mix(p^q^length, mix(at64(key, last)^w.k3, at64(key, last+8)^w.seed)^w.k1)
	if w.indirect.Load() {
		return w.others.Indirect(key)
	}
	n := share(spread(h, at16(w.pilots, 2*share(h, w.buckets))), w.slots)
	if n >= w.keyCount {
		if n = uint64(w.file.hash.moved(uint32(n))); n >= w.keyCount {
			return w.unbound(key)
		}
	}
	if at8(w.prints, n) != uint8(h) {
		if w.digs && plain(at64(key, 0))&plain(at64(key, 8))&plain(at64(key, middle))&plain(at64(key, middle+8))&
			plain(at64(key, last))&plain(at64(key, last+8)) != allPlain {
			return w.unbound(key)
		}
		return value.Value{}, false, nil
	}
	r := keyRecord * n
	t := r + recText
	differs := (at64(w.keys, t) ^ at64(key, 0)) | (at64(w.keys, t+8) ^ at64(key, 8)) |
		(at64(w.keys, t+middle) ^ at64(key, middle)) | (at64(w.keys, t+middle+8) ^ at64(key, middle+8)) |
		(at64(w.keys, t+last) ^ at64(key, last)) | (at64(w.keys, t+last+8) ^ at64(key, last+8))
	if differs|(uint64(at8(w.keys, r+recLength))^length) != 0 {
		return w.unbound(key)
	}
	mask := at64(w.keys, r+recMask)
	m := mask & w.Scopes.active
	if !w.Scopes.filter.has(uint32(n)) {
		m &= w.narrow
	}
	at := r + recDefault
	if m != 0 {
		highest := m & -m
		at = uint64(at32(w.keys, r+recList)&^listHidden) + 4*uint64(bits.OnesCount64(mask&w.narrow&(highest-1)))
		if highest&w.narrow == 0 || at+4 > uint64(len(w.keys)) {
			return w.scoped(key, uint32(n), mask, m)
		}
	}
	ref := Ref(at32(w.keys, at))
	if !ref.Small() || key[0] == 0 {
		return w.scoped(key, uint32(n), mask, m)
	}
	v := w.small.Value(uint64(ref))
	runtime.KeepAlive(w)
	return v, true, nil
}

// find is Lookup for keys of unusual length.
func (w *View) find(key string) (value.Value, bool, error) {
	if w.indirect.Load() {
		return w.others.Indirect(key)
	}
	n, ok := w.file.keyNumber(key)
	if !ok {
		return w.unbound(key)
	}
	mask, m := w.file.mayBind(n, &w.Scopes)
	ref := Ref(at32(w.keys, keyRecord*uint64(n)+recDefault))
	if m != 0 || !ref.Small() || key == "" || key[0] == 0 {
		return w.scoped(key, n, mask, m)
	}
	v := w.small.Value(uint64(ref))
	runtime.KeepAlive(w)
	return v, true, nil
}

// scoped finishes Lookup for key number n. m is the set of columns that may bind it.
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
		v, found, err := w.others.Follow(key, ref)
		runtime.KeepAlive(w)
		return v, found, err
	}
	return w.unbound(key)
}

// unbound completes Lookup for a key without bindings.
func (w *View) unbound(key string) (value.Value, bool, error) {
	if !w.digs {
		return value.Value{}, false, nil
	}
	word := WordEnd(key, 0)
	if !digsFrom(key, word) {
		return value.Value{}, false, nil
	}
	v, found, err := w.others.Beyond(key, word)
	runtime.KeepAlive(w)
	return v, found, err
}
