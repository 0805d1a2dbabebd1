package lookup

import (
	"runtime"
	"slices"
	"strings"
)

// Categories returns the request's values of the categories, highest first, as the facts have them. It omits categories
// without a value.
func (r *Request) Categories() []Term {
	var out []Term
	for i := range r.snap.dimensions {
		if text, ok := r.text(i); ok && !r.snap.dimensions[i].guard {
			out = append(out, Term{strings.Clone(r.snap.dimensions[i].name), text})
		}
	}
	return out
}

// Dimensions returns the request's value of every category and then of every guard, in the order of the file. The text
// is "" if the request has no value.
func (r *Request) Dimensions() []Term {
	out := make([]Term, len(r.snap.dimensions))
	for i := range out {
		text, _ := r.text(i)
		out[i] = Term{strings.Clone(r.snap.dimensions[i].name), text}
	}
	return out
}

// Category returns the value the request has of a category, folded to lower case unless it is exact; false if it has
// none, or is closed. The text does not refer to the snapshot.
func (r *Request) Category(name string) (string, bool) {
	if r.closed.Load() {
		return "", false
	}
	defer runtime.KeepAlive(r)
	i := slices.IndexFunc(r.snap.dimensions, func(d dimension) bool { return d.name == name && !d.guard })
	if i < 0 || !r.has[i] {
		return "", false
	}
	text, err := r.snap.dimensions[i].text(r.facts)
	if !r.snap.dimensions[i].exact {
		text = strings.ToLower(text)
	}
	return strings.Clone(text), err == nil // of a constant, text is that of the file
}

// text returns the request's value of a dimension, as the facts have it.
func (r *Request) text(dimension int) (string, bool) {
	if r.closed.Load() || !r.has[dimension] {
		return "", false
	}
	defer runtime.KeepAlive(r)
	text, err := r.snap.dimensions[dimension].text(r.facts)
	return strings.Clone(text), err == nil
}
