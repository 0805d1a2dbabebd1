package lookup

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"bindc/snapshot"
)

// Request returns a request for the given facts, after evaluating the categories. The error is an *Error if facts is
// nil or a category's expression fails, a *DamageError, or fs.ErrClosed.
func (s *Snapshot) Request(facts *Facts) (*Request, error) {
	r := &Request{}
	if err := r.Begin(s, &s.closed, facts); err != nil {
		return nil, err
	}
	return r, nil
}

// Begin initializes r as a request to s for the given facts. Lookups fail once closed is set.
func (r *Request) Begin(s *Snapshot, closed *atomic.Bool, facts *Facts) error {
	n := len(s.dimensions)
	*r = Request{file: s.file, snap: s, closed: closed, numbers: make([]uint32, n), has: make([]bool, n),
		rules: s.rules, hiera: s.Hiera()}
	r.resetView()
	return r.Reset(facts)
}

func (r *Request) resetView() { r.view = snapshot.NewView(r.file, r.closed, r.snap.values, r.hiera, r) }

// Reset prepares r for other facts, so that a program that handles many requests need not allocate a new one each time.
// No other goroutine may use r during the call. Values already looked up stay valid. Reset returns the same errors as
// Request. After an error, only Reset may be called.
func (r *Request) Reset(facts *Facts) error {
	if facts == nil {
		return &Error{Code: CodeFacts, Message: "expected the facts of a node, found none (nil)"}
	}
	if r.closed.Load() {
		return fs.ErrClosed
	}
	err := r.snap.file.Protect(func() error { return r.resolve(facts) })
	runtime.KeepAlive(r)
	return err
}

// resolve evaluates the dimensions for the given facts. It must be called inside Protect.
func (r *Request) resolve(facts *Facts) error {
	r.facts = facts
	r.merges.forget()
	var unresolved map[int]error // errors in Hiera 5 paths, by dimension
	for i := range r.snap.dimensions {
		d := &r.snap.dimensions[i]
		r.numbers[i], r.has[i] = snapshot.None, false
		if r.isIdle(d) {
			continue
		}
		if number, ok := r.numberOfPath(i, facts); ok {
			r.numbers[i], r.has[i] = number, true
			continue
		}
		text, err := d.text(facts)
		if err != nil && d.exact {
			if unresolved == nil {
				unresolved = map[int]error{}
			}
			unresolved[i] = err
			continue
		}
		if err != nil {
			return err
		}
		r.has[i] = d.guard || text != ""
		if r.has[i] {
			r.numbers[i] = r.number(i, text)
		}
	}
	if err := r.inSlice(facts); err != nil {
		return err
	}
	if err := r.file.Resolve(r.numbers, &r.view.Scopes); err != nil {
		return err
	}
	return r.checkHierarchies(unresolved)
}

// isIdle reports whether d is a guard and the request has no value of its category. In that case, no condition with the
// guard holds.
func (r *Request) isIdle(d *dimension) bool { return d.guard && d.category >= 0 && !r.has[d.category] }

// pathInPlace is the length in bytes up to which numberOfPath builds paths without allocating memory.
const pathInPlace = 128

// numberOfPath returns the value number of a dimension. It returns false if hieraPath cannot evaluate the dimension.
func (r *Request) numberOfPath(dimension int, facts *Facts) (number uint32, ok bool) {
	p := r.snap.dimensions[dimension].path
	if p == nil {
		return 0, false
	}
	var buf [pathInPlace]byte
	text, ok := p.append(buf[:0], facts)
	if !ok {
		return 0, false
	}
	return r.file.ValueNumber(dimension, string(text)), true
}

// inSlice returns an error if the file is a slice of a site and lacks the bindings for facts.
func (r *Request) inSlice(facts *Facts) error {
	for _, t := range r.snap.slice {
		d := &r.snap.dimensions[t.Dimension]
		text, _ := d.text(facts) // resolve has reported an error already
		if !d.exact {
			text = strings.ToLower(text)
		}
		if text != t.Value {
			return &Error{Code: CodeFacts, Message: fmt.Sprintf(
				"this snapshot is a slice, for requests with %s '%s' only; this one has '%s'", d.name, t.Value, text)}
		}
	}
	return nil
}

// Snapshot returns the snapshot of r.
func (r *Request) Snapshot() *Snapshot { return r.snap }

// Alike returns a hash of the request's value numbers. Requests with the same hash nearly always have the same
// effective bindings.
func (r *Request) Alike() uint64 {
	h := fnv.New64a()
	var buf [4]byte
	for _, number := range r.numbers {
		binary.LittleEndian.PutUint32(buf[:], number)
		h.Write(buf[:])
	}
	return h.Sum64()
}

// Numbers returns the request's value number for each dimension, as in snapshot.ValueNumber. A condition holds if each
// of its values has the number of the request's value.
func (r *Request) Numbers() []uint32 { return slices.Clone(r.numbers) }
