package snapshot

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"bindc/internal/value"
)

// View looks up keys of a snapshot for one request.
type View struct {
	index
	file     *Snapshot
	shut     *atomic.Bool
	indirect *atomic.Bool // if true, others does all lookups; points to shut or always
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

// NewView returns a View of s. The caller must set its Scopes with Resolve. Lookups return small constants as values
// of the source small. While shut is set, they pass all keys to others. If digs is set, they also pass unbound keys
// that contain a dot or a quote to others.
func NewView(s *Snapshot, shut *atomic.Bool, small *value.Source, digs bool, others Others) View {
	return View{index: indexOf(s), file: s, shut: shut, indirect: shut, small: small, digs: digs, others: others}
}

// always is a flag that is always set.
var always = func() *atomic.Bool { b := &atomic.Bool{}; b.Store(true); return b }()

// SetIndirect sets whether lookups leave all keys to Others, even while the View is not shut.
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
// This is keyNumber and findIn in one function, for keys of the usual length: it hashes and compares the same six
// words and does not branch on the length. Calls would cost a fifth of the total time. The words are read again for
// the comparison, because they do not all fit into registers. The pilot, the fingerprint and the record of key n are
// read without bounds checks: Open checked that they are inside their sections for each n below w.keyCount.
func (w *View) Lookup(key string) (value.Value, bool, error) {
	length := uint64(len(key))
	if length-17 > maxInlineKey-17 {
		return w.find(key)
	}
	last := length - 16
	middle := least(16, last)
	p, q := blend(key, 0, w.k1, w.first), blend(key, middle, w.k2, w.seed)
	h := mix(p^q^length, blend(key, last, w.k3, w.seed)^w.k1)
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
	record := from(w.keys, keyRecord*n)
	differs := record.differs(key, 0) | record.differs(key, middle) | record.differs(key, last)
	if differs|(uint64(record.at8(recLength))^length) != 0 {
		return w.unbound(key)
	}
	mask := record.at64(recMask)
	if w.Scopes.filter.has(uint32(n)) {
		return w.scoped(key, uint32(n), mask, mask&w.Scopes.active)
	}
	ref := Ref(record.at32(recDefault))
	if m := mask & w.Scopes.narrow; m != 0 {
		before := mask & w.narrow & (m&-m - 1)
		at := uint64(record.at32(recList)&^listHidden) + 4*uint64(bits.OnesCount64(before))
		if at+4 > uint64(len(w.keys)) {
			return w.scoped(key, uint32(n), mask, m)
		}
		ref = Ref(at32(w.keys, at))
	}
	if !ref.Small() || key[0] == 0 {
		return w.scoped(key, uint32(n), mask, mask&w.Scopes.narrow)
	}
	return w.small.Value(uint64(ref)), true, nil // the value keeps the file mapped
}

// Encoded returns the encoded value of highest precedence for key in the request, which is at position at of text. If
// at is not 0, text is the cells of the source that Snapshot.Values returns. If the key is not bound, or not to a
// constant, ok is false.
func (w *View) Encoded(key string) (text string, at int, ok bool) {
	n, ok := w.number(key)
	if !ok {
		return "", 0, false
	}
	ref := Ref(at32(w.keys, keyRecord*n+recDefault))
	if mask, m := w.file.mayBind(uint32(n), &w.Scopes); m != 0 {
		var err error
		if ref, ok, err = w.file.findIn(uint32(n), mask, m, &w.Scopes); !ok || err != nil {
			return "", 0, false
		}
	}
	if at := cellUnit * uint64(ref); ref < refInline && at < uint64(len(w.keys)) {
		return w.keys, int(at), true
	}
	text, err := w.file.Encoded(ref) // in a block, or not a constant
	return text, 0, err == nil
}

// number returns the number of key, like keyNumber. It hashes and compares like Lookup.
func (w *View) number(key string) (n uint64, ok bool) {
	length := uint64(len(key))
	if length-17 > maxInlineKey-17 {
		short, ok := w.file.keyNumber(key)
		return uint64(short), ok
	}
	last := length - 16
	middle := least(16, last)
	p, q := blend(key, 0, w.k1, w.first), blend(key, middle, w.k2, w.seed)
	h := mix(p^q^length, blend(key, last, w.k3, w.seed)^w.k1)
	n = uint64(w.file.hash.find(h))
	if n >= w.keyCount || at8(w.prints, n) != uint8(h) {
		return 0, false
	}
	record := from(w.keys, keyRecord*n)
	differs := record.differs(key, 0) | record.differs(key, middle) | record.differs(key, last)
	return n, differs|(uint64(record.at8(recLength))^length) == 0
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

// finish completes a lookup with the value that ref refers to. It does not find internal keys.
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

func (w *View) unbound(key string) (value.Value, bool, error) {
	if !w.digs {
		return value.Value{}, false, nil
	}
	word := WordEnd(key, 0)
	if word == len(key) || key[word] != '.' && !digsFrom(key, word) {
		return value.Value{}, false, nil
	}
	v, found, err := w.others.Beyond(key, word)
	runtime.KeepAlive(w)
	return v, found, err
}
