package lookup

import (
	"runtime"
	"slices"
	"strings"
)

// Categories returns the request's category values, highest first, with the case of the facts. It omits categories
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

// Dimensions returns the request's values of all categories, and then of all guards, in the order of the file. A Term
// without a value has the Value "".
func (r *Request) Dimensions() []Term {
	out := make([]Term, len(r.snap.dimensions))
	for i := range out {
		text, _ := r.text(i)
		out[i] = Term{strings.Clone(r.snap.dimensions[i].name), text}
	}
	return out
}

// Category returns a copy of the request's value of a category, in lower case unless the category is exact. It returns
// false if there is no value or the request is closed.
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
	return strings.Clone(text), err == nil // cloned, because the text of a constant is in the mapped file
}

// text returns the request's value of a dimension, with the case of the facts.
func (r *Request) text(dimension int) (string, bool) {
	if r.closed.Load() || !r.has[dimension] {
		return "", false
	}
	defer runtime.KeepAlive(r)
	text, err := r.snap.dimensions[dimension].text(r.facts)
	return strings.Clone(text), err == nil
}
