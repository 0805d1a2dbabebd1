// Package ruby compares, converts and prints values as Ruby does. Puppet leaves these operations to Ruby. The
// evaluator, its functions and the merges of Hiera 5 use this package.
package ruby

import (
	"strings"

	"bindc/internal/value"
)

// Equal compares values like Ruby's ==. 1 equals 1.0, and strings are case-sensitive.
func Equal(a, b value.Value) bool {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case IsNumeric(ka) && IsNumeric(kb):
		c, ok := CompareNumbers(a, b)
		return ok && c == 0
	case ka != kb || ka != value.Array && ka != value.Hash:
		return value.Identical(a, b)
	case a.Len() != b.Len():
		return false
	case ka == value.Hash:
		for k, e := range a.Pairs() {
			if f, ok := b.Get(k); !ok || !Equal(e, f) {
				return false
			}
		}
		return true
	}
	right, i := b.Slice(), 0
	for e := range a.Elems() {
		if !Equal(e, right[i]) {
			return false
		}
		i++
	}
	return true
}

// IndexOf returns the index of the first element that is Equal to v, or -1.
func IndexOf(elems []value.Value, v value.Value) int {
	for i, e := range elems {
		if Equal(e, v) {
			return i
		}
	}
	return -1
}

// Order compares values like Ruby's <=>. ok is false if Ruby cannot order them.
func Order(a, b value.Value) (c int, ok bool) {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case IsNumeric(ka) && IsNumeric(kb):
		return CompareNumbers(a, b)
	case ka != kb:
		return 0, false
	case ka == value.String:
		return strings.Compare(a.Text(), b.Text()), true
	case ka == value.Array:
		return arrayOrder(a.Slice(), b.Slice())
	}
	return 0, Equal(a, b)
}

func arrayOrder(a, b []value.Value) (int, bool) {
	for i := range min(len(a), len(b)) {
		if c, ok := Order(a[i], b[i]); c != 0 || !ok {
			return c, ok
		}
	}
	return len(a) - len(b), true
}

// Flatten replaces arrays in list with their elements, down to depth levels. A negative depth means all levels.
func Flatten(list []value.Value, depth int) []value.Value {
	var out []value.Value
	for _, v := range list {
		if v.Kind() == value.Array && depth != 0 {
			out = append(out, Flatten(v.Slice(), depth-1)...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// Pairs returns the entries of a Hash as two-element arrays.
func Pairs(h value.Value) []value.Value {
	out := make([]value.Value, 0, h.Len())
	for k, e := range h.Pairs() {
		out = append(out, value.FromSlice([]value.Value{k, e}))
	}
	return out
}

// Keys returns the keys of a Hash.
func Keys(h value.Value) []value.Value {
	out := make([]value.Value, 0, h.Len())
	for k := range h.Pairs() {
		out = append(out, k)
	}
	return out
}

// At returns element i of an Array. A negative i counts from the end. Outside the Array, At returns undef.
func At(v value.Value, i int64) value.Value {
	if i < 0 {
		i += int64(v.Len())
	}
	if i < 0 || i >= int64(v.Len()) {
		return value.Value{}
	}
	return v.Index(int(i))
}
