package runtime

import (
	"bindc/internal/lookup"
)

// Request looks up keys in a snapshot for the facts of one node. It is safe for concurrent use, except for Reset.
type Request lookup.Request

func (r *Request) engine() *lookup.Request { return (*lookup.Request)(r) }

// Lookup returns the value of key for this request. If key is not bound, found is false. The error is an *Error if the
// winning binding has no value, a *DamageError if the snapshot is damaged, or fs.ErrClosed if it is closed.
func (r *Request) Lookup(key string) (v Value, found bool, err error) {
	content, found, err := r.engine().Direct().Lookup(key) // small enough to be inlined
	return Value(content), found, err
}

// Reset prepares r for other facts, so that a program that handles many requests need not allocate a new one each time.
// No other goroutine may use r during the call. Values already looked up stay valid. Reset returns the same errors as
// Snapshot.Request. After an error, only Reset may be called.
func (r *Request) Reset(facts *Facts) error { return r.engine().Reset((*lookup.Facts)(facts)) }

// Category returns a copy of the request's value of a category, in lower case unless the category is exact. It returns
// false if there is no value or the request is closed.
func (r *Request) Category(name string) (string, bool) { return r.engine().Category(name) }

// Snapshot returns the snapshot that r looks up keys in. The snapshot of a Lease may be closed together with the Lease.
func (r *Request) Snapshot() *Snapshot { return (*Snapshot)(r.engine().Snapshot()) }
