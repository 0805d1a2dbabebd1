package runtime

import (
	"runtime"

	"bindc/internal/lookup"
)

// Request is one node's place in the categories. It does not change once it is made, except by Reset, and may be used
// by several goroutines.
type Request lookup.Request

func (r *Request) engine() *lookup.Request { return (*lookup.Request)(r) }

// Lookup returns the value of key for this request. If key is not bound, found is false. The error is an *Error if the
// binding that wins cannot be evaluated, a *DamageError if the snapshot is damaged, and fs.ErrClosed if it is closed.
func (r *Request) Lookup(key string) (Value, bool, error) {
	// The steps are those of the engine's Lookup: calling that would cost a tenth of a lookup of a constant.
	e := r.engine()
	if !e.Direct(key) {
		v, found, err := e.Indirect(key)
		return Value(e.View(v)), found, err
	}
	ref, found, err := e.Ref(key)
	runtime.KeepAlive(r)
	switch {
	case found && ref.Small():
		return Value(e.View(e.Small(ref))), true, nil
	case !found && (err != nil || !e.Digs(key)):
		return Value{}, false, err
	}
	v, found, err := e.Follow(key, ref, found)
	return Value(e.View(v)), found, err
}

// Reset makes r the request of other facts, so that a program that serves many need not allocate. No other goroutine
// may use r meanwhile. Values that were looked up stay valid. After an error, which is one of those of
// Snapshot.Request, only Reset may be called.
func (r *Request) Reset(facts *Facts) error { return r.engine().Reset((*lookup.Facts)(facts)) }

// Category returns the value the request has of a category, folded to lower case unless it is exact; false if it has
// none, or is closed. The text does not refer to the snapshot.
func (r *Request) Category(name string) (string, bool) { return r.engine().Category(name) }

// Snapshot returns the snapshot that r asks. That of a Lease is closed once the last request of it is.
func (r *Request) Snapshot() *Snapshot { return (*Snapshot)(r.engine().Snapshot()) }
