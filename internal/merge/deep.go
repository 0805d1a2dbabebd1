package merge

import (
	"errors"
	"slices"
	"strings"

	"bindc/internal/expr/ruby"
	"bindc/internal/value"
)

// This file implements Ruby's deep_merge, which modifies the values that it merges. A value that occurs on only one
// side is merged with itself. Both sides may then be the same object in memory, which affects knock-outs in arrays and
// therefore Puppet's results.

// sharing describes whether both sides of a merge share memory in Ruby.
type sharing uint8

const (
	apart  sharing = iota // different objects
	copied                // different objects with the same elements
	same                  // the same object
)

// below returns the sharing of elements whose collections have the sharing b.
func (b sharing) below() sharing {
	if b == apart {
		return apart
	}
	return same
}

// merge merges high into low. at is the number of the candidate low, for errors.
func (d *deepOptions) merge(high, low value.Value, at int) (value.Value, error) {
	if d.reverse {
		high, low = low, high
	}
	if d.err != nil {
		return value.Value{}, d.err
	}
	v, err := d.values(high, low, apart)
	var e *MergeError
	if errors.As(err, &e) {
		e.Candidate = at
	}
	return v, err
}

// values merges src into dst. src has the higher precedence. b describes whether they share memory in Ruby.
func (d *deepOptions) values(src, dst value.Value, b sharing) (value.Value, error) {
	switch {
	case b != apart && d.keeps(src):
		return src, nil
	case src.IsUndef():
		return dst, nil
	case !dst.Truthy() && !d.preserve:
		return src, nil
	case src.Kind() == value.Hash && dst.Kind() == value.Array && d.extend:
		return extended(dst, src, src.Len()), nil
	case src.Kind() == value.Hash:
		return d.hashes(src, dst, b)
	case src.Kind() == value.Array:
		return d.arrays(src, dst, b)
	case dst.Kind() == value.Array && d.extend:
		return extended(dst, src, 1), nil
	case d.preserve:
		return dst, nil
	}
	if _, knocksOut := d.target(src); knocksOut {
		return value.FromString(""), nil
	}
	return src, nil
}

// keeps reports whether merging v with itself has no effect. This is the case if no array in v has duplicates; arrays
// inside arrays do not matter.
func (d *deepOptions) keeps(v value.Value) bool {
	if d.knockout != nil || d.sort || d.split || d.mergeHashes {
		return false
	}
	for _, e := range v.Pairs() {
		if !d.keeps(e) {
			return false
		}
	}
	return d.overwrite || !repeats(v.Slice())
}

// extended returns the array dst with v appended the given number of times.
func extended(dst, v value.Value, times int) value.Value {
	out := slices.Clone(dst.Slice())
	for range times {
		out = append(out, v)
	}
	return value.FromSlice(out)
}

// hashes merges the hash src into dst. If dst is not a hash, Ruby replaces it with src after the first key, and merges
// the other keys of src with themselves.
func (d *deepOptions) hashes(src, dst value.Value, b sharing) (value.Value, error) {
	isHash := dst.Kind() == value.Hash
	if !isHash && (d.preserve || src.Len() == 0) {
		return dst, nil
	}
	base := dst
	if !isHash {
		base, b = src, same
	}
	out := value.BuilderOf(base, src.Len())
	seen := isHash
	for k, v := range src.Pairs() {
		if !seen {
			seen = true
			continue
		}
		at := out.At(k)
		low, with := *at, b.below()
		if !low.Truthy() {
			low, with = v, copied
		}
		var err error
		if *at, err = d.values(v, low, with); err != nil {
			return value.Value{}, err
		}
	}
	return out.Hash(), nil
}

func (d *deepOptions) arrays(src, dst value.Value, b sharing) (value.Value, error) {
	if d.overwrite {
		return src, nil
	}
	isArray := dst.Kind() == value.Array
	high, low := src.Slice(), dst.Slice()
	if d.split {
		high, low, b = d.unpack(high), d.unpack(low), apart
	}
	if d.prefix != "" && slices.ContainsFunc(high, d.isPrefix) {
		high = slices.DeleteFunc(slices.Clone(high), d.isPrefix)
		low = nil
	}
	switch {
	case isArray && d.knockout == nil:
	case b == same:
		low = d.knockOutOfItself(low)
		high = low
	case isArray:
		high, low = d.knockOut(high, low)
	case d.preserve:
		return dst, nil
	default:
		return value.FromSlice(slices.DeleteFunc(slices.Clone(high), d.knocksOut)), nil
	}
	return d.lists(high, low, b)
}

// lists merges two lists from which knock-outs are already removed.
func (d *deepOptions) lists(high, low []value.Value, b sharing) (value.Value, error) {
	var out []value.Value
	if d.mergeHashes && allHashes(high) && allHashes(low) {
		for i, e := range low {
			if i < len(high) {
				var err error
				if e, err = d.values(high[i], e, b.below()); err != nil {
					return value.Value{}, err
				}
			}
			out = append(out, e)
		}
		out = append(out, high[min(len(low), len(high)):]...)
	} else {
		out = distinct(low, high)
	}
	if d.sort {
		return sorted(out)
	}
	return value.FromSlice(out), nil
}

func allHashes(list []value.Value) bool {
	return !slices.ContainsFunc(list, func(v value.Value) bool { return v.Kind() != value.Hash })
}

func sorted(list []value.Value) (value.Value, error) {
	var err error
	slices.SortStableFunc(list, func(a, b value.Value) int {
		order, ok := ruby.Order(a, b)
		if !ok {
			err = failf(Mismatch, "sort_merged_arrays cannot sort an array with values of the types %s and %s",
				a.Kind(), b.Kind())
		}
		return order
	})
	return value.FromSlice(list), err
}

func (d *deepOptions) isPrefix(v value.Value) bool {
	return v.Kind() == value.String && v.Text() == d.prefix
}

// knocksOut reports whether v is a String with a line that begins with the knockout_prefix.
func (d *deepOptions) knocksOut(v value.Value) bool {
	if d.knockout == nil || v.Kind() != value.String {
		return false
	}
	return d.knockout.MatchString(v.Text())
}

// Knocks reports whether s has a knockout_prefix, and therefore may remove elements.
func (s Strategy) Knocks() bool { return s.deep.prefix != "" }

// KnocksOut returns the element that text removes when it is an element of an array and s merges the arrays. If text
// removes nothing, it returns "".
func (s Strategy) KnocksOut(text string) string {
	item, _ := s.deep.target(value.FromString(text))
	return item
}

// target returns the text that v knocks out. ok is false if v is not a knock-out, that is, a string with the
// knockout_prefix.
func (d *deepOptions) target(v value.Value) (item string, ok bool) {
	if !d.knocksOut(v) {
		return "", false
	}
	item = d.knockout.ReplaceAllLiteralString(v.Text(), "")
	return item, item != v.Text()
}

// knockOut removes the knock-outs from high, and the elements that they knock out from low. It returns the rest of
// both.
func (d *deepOptions) knockOut(high, low []value.Value) (left, stays []value.Value) {
	gone := map[string]bool{}
	for _, v := range high {
		if item, ok := d.target(v); ok {
			gone[item], gone[v.Text()] = true, true
		} else {
			left = append(left, v)
		}
	}
	for _, v := range low {
		if v.Kind() != value.String || !gone[v.Text()] {
			stays = append(stays, v)
		}
	}
	return left, stays
}

// knockOutOfItself is knockOut for a list that Ruby merges with itself. The list shrinks while Ruby iterates over it,
// so Ruby skips some elements.
func (d *deepOptions) knockOutOfItself(list []value.Value) []value.Value {
	list = slices.Clone(list)
	kept := 0
	for at := 0; at < len(list); at++ {
		v := list[at]
		item, ok := d.target(v)
		if !ok {
			list[kept] = v
			kept++
			continue
		}
		list = slices.DeleteFunc(list, func(e value.Value) bool {
			return e.Kind() == value.String && (e.Text() == item || e.Text() == v.Text())
		})
	}
	return list[:min(kept, len(list))]
}

// unpack joins list to a string and splits it at the separator. Like Ruby, it drops empty strings at the end.
func (d *deepOptions) unpack(list []value.Value) []value.Value {
	joined := strings.Join(texts(nil, list), d.separator)
	parts := strings.Split(joined, d.separator)
	if d.separator == " " {
		parts = strings.Fields(joined)
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return value.Strings(parts...).Slice()
}

// texts appends the elements of list as strings, including the elements of nested arrays.
func texts(dst []string, list []value.Value) []string {
	for _, v := range list {
		switch {
		case v.Kind() == value.Array && v.Len() > 0:
			dst = texts(dst, v.Slice())
		case v.Kind() == value.Array:
			dst = append(dst, "")
		case v.Kind() == value.Hash:
			dst = append(dst, ruby.Inspect(v))
		default:
			dst = append(dst, string(value.AppendText(nil, v)))
		}
	}
	return dst
}
