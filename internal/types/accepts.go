package types

import (
	"math"
	"slices"
	"unicode/utf8"

	"bindc/internal/value"
)

// Accepts reports whether every value of type u also has type t, by Puppet's rules. For example, Numeric accepts
// Integer.
func (t *Type) Accepts(u *Type) bool {
	t, u = t.resolved(), u.resolved()
	if t == nil || t.kind == Any || t.kind == unit || u != nil && u.kind == unit {
		return true
	}
	if u == nil {
		u = Of(Any)
	}
	switch u.kind {
	case Variant:
		if len(u.args) == 0 {
			return t.kind == Variant && t.plain
		}
		return all(u.args, t.Accepts)
	case Optional:
		return t.Accepts(Of(Undef)) && (u.plain || t.Accepts(u.args[0]))
	case NotUndef:
		if !u.plain && !u.args[0].Accepts(Of(Undef)) {
			return t.Accepts(u.args[0])
		}
	case Data:
		return t.kind == Data || t.kind == RichData || all(dataMembers(Data), t.Accepts)
	case RichData:
		return t.kind == RichData || all(dataMembers(RichData), t.Accepts)
	}
	if t.kind >= Collection && t.kind <= Struct {
		return t.acceptsCollection(u)
	}
	return t.acceptsScalar(u) || t.acceptsJoined(u) || t.acceptsMeta(u)
}

// Equal reports whether t and u have exactly the same values.
func (t *Type) Equal(u *Type) bool { return t == u || t.Accepts(u) && u.Accepts(t) }

func all(ts []*Type, f func(*Type) bool) bool {
	return !slices.ContainsFunc(ts, func(t *Type) bool { return !f(t) })
}

// dataMembers returns the types whose union is k, which is Data or RichData.
func dataMembers(k Kind) []*Type {
	key, scalar := Of(String), Of(ScalarData)
	ts := []*Type{Of(Undef)}
	if k == RichData {
		key, scalar = Of(RichData), Of(Scalar)
		ts = append(ts, Of(Default), Of(Meta))
	}
	array, hash := newType(Array), newType(Hash)
	array.args, hash.args = []*Type{Of(k)}, []*Type{key, Of(k)}
	return append(ts, scalar, array, hash)
}

// acceptsScalar implements Accepts for a scalar type t. The type u must not be a union of types.
func (t *Type) acceptsScalar(u *Type) bool {
	switch t.kind {
	case Undef, Default:
		return t.kind == u.kind
	case Boolean:
		return u.kind == Boolean && (!t.exact || u.exact && t.truth == u.truth)
	case Integer:
		return u.kind == Integer && t.covers(u)
	case Float:
		return u.kind == Float && t.from <= u.from && u.to <= t.to
	case Numeric:
		return u.kind == Numeric || u.kind == Integer || u.kind == Float
	case String:
		return t.acceptsString(u)
	case Enum:
		return t.acceptsEnum(u)
	case Pattern:
		return t.acceptsPattern(u)
	case Regexp:
		return u.kind == Pattern && u.plain && t.plain ||
			u.kind == Regexp && (t.plain || !u.plain && t.texts[0] == u.texts[0])
	case Scalar:
		return isScalarType(u) || u.kind == Scalar || u.kind == Regexp || u.kind == Pattern
	case ScalarData:
		return isScalarType(u)
	}
	return false
}

// acceptsJoined implements Accepts if t is Data, RichData, Variant, Optional or NotUndef.
func (t *Type) acceptsJoined(u *Type) bool {
	switch t.kind {
	case Data, RichData:
		return slices.ContainsFunc(dataMembers(t.kind), func(m *Type) bool { return m.Accepts(u) })
	case Variant:
		return slices.ContainsFunc(t.args, func(m *Type) bool { return m.Accepts(u) })
	case Optional:
		return u.kind == Undef || t.plain || t.args[0].Accepts(u)
	case NotUndef:
		return !u.Accepts(Of(Undef)) && (t.plain || t.args[0].Accepts(u))
	}
	return false
}

// acceptsMeta implements Accepts if t is Type, Callable, Iterable or Iterator.
func (t *Type) acceptsMeta(u *Type) bool {
	switch t.kind {
	case Meta, Iterator:
		return u.kind == t.kind && (t.plain || !u.plain && t.args[0].Accepts(u.args[0]))
	case Callable: // no value is a Callable, so the signatures must be equal
		return u.kind == Callable && (t.plain || t.String() == u.String())
	case Iterable:
		return t.acceptsIterable(u)
	}
	return false
}

func (t *Type) covers(u *Type) bool { return t.min <= u.min && u.max <= t.max }

// isScalarType reports whether every value of u is a boolean, a number or a string.
func isScalarType(u *Type) bool {
	switch u.kind {
	case ScalarData, Boolean, Integer, Float, Numeric, String, Enum:
		return true
	case Pattern:
		return !u.plain
	}
	return false
}

func (t *Type) acceptsString(u *Type) bool {
	switch u.kind {
	case String:
		if t.exact {
			return u.exact && t.texts[0] == u.texts[0]
		}
		low, high := u.length()
		return t.min <= low && high <= t.max
	case Enum:
		if t.exact {
			return len(u.texts) == 1 && !u.fold && u.texts[0] == t.texts[0]
		}
		return t.unbounded() || !u.plain && !slices.ContainsFunc(u.texts,
			func(s string) bool { return !t.holdsText(s) })
	case Pattern:
		return !u.plain && !t.exact && t.unbounded()
	}
	return false
}

// length returns the smallest and the largest length, in characters, of the strings of type t.
func (t *Type) length() (low, high int64) {
	if t.exact {
		n := int64(utf8.RuneCountInString(t.texts[0]))
		return n, n
	}
	return t.min, t.max
}

func (t *Type) acceptsEnum(u *Type) bool {
	if t.plain {
		return u.kind == String || u.kind == Enum || u.kind == Pattern && !u.plain
	}
	switch {
	case u.kind == String && u.exact:
		return t.hasText(u.texts[0])
	case u.kind == Enum:
		return !u.plain && (t.fold || !u.fold) && !slices.ContainsFunc(u.texts,
			func(s string) bool { return !t.hasText(s) })
	}
	return false
}

func (t *Type) acceptsPattern(u *Type) bool {
	if t.plain {
		return u.kind == Pattern && u.plain || u.kind == Regexp
	}
	switch u.kind {
	case String:
		return u.exact && t.matches(u.texts[0])
	case Enum:
		return !u.plain && !slices.ContainsFunc(u.texts, func(s string) bool { return !t.matches(s) })
	case Pattern:
		return !u.plain && !slices.ContainsFunc(u.texts, func(s string) bool { return !slices.Contains(t.texts, s) })
	}
	return false
}

// span returns the smallest and the largest number of elements in a collection of type t.
func (t *Type) span() (low, high int64) {
	switch t.kind {
	case Struct:
		for _, m := range t.members {
			if !m.optional {
				low++
			}
		}
		return low, int64(len(t.members))
	case Tuple:
		if t.plain {
			return 0, math.MaxInt64
		}
	}
	return t.min, t.max
}

func (t *Type) acceptsCollection(u *Type) bool {
	if u.kind < Collection || u.kind > Struct {
		return false
	}
	low, high := t.span()
	uLow, uHigh := u.span()
	if uLow < low || uHigh > high {
		return false
	}
	switch t.kind {
	case Array:
		return t.acceptsArray(u)
	case Hash:
		return t.acceptsHash(u)
	case Tuple:
		return t.acceptsTuple(u)
	case Struct:
		return t.acceptsStruct(u)
	}
	return true // a Collection restricts only the size
}

func (t *Type) acceptsArray(u *Type) bool {
	elem := t.element(strictly)
	switch u.kind {
	case Array:
		return elem.Accepts(u.element(strictly))
	case Tuple:
		return (!u.plain || elem.kind == Any) && all(u.args, elem.Accepts)
	}
	return false
}

func (t *Type) acceptsHash(u *Type) bool {
	key, val := t.entry(strictly)
	switch u.kind {
	case Hash:
		uKey, uVal := u.entry(strictly)
		return key.Accepts(uKey) && val.Accepts(uVal)
	case Struct:
		for _, m := range u.members {
			if !key.Accepts(literalString(m.name)) || !val.Accepts(m.value) {
				return false
			}
		}
		return true
	}
	return false
}

func (t *Type) acceptsTuple(u *Type) bool {
	if t.plain {
		return u.kind == Array || u.kind == Tuple
	}
	switch u.kind {
	case Array:
		elem := u.element(strictly)
		return all(t.args, func(m *Type) bool { return m.Accepts(elem) })
	case Tuple:
		for i := range max(len(u.args), len(t.args)) {
			if int64(i) < u.max && u.at(i) != nil && !t.at(i).Accepts(u.at(i)) {
				return false
			}
		}
		return !u.plain
	}
	return false
}

func (t *Type) acceptsStruct(u *Type) bool {
	switch u.kind {
	case Struct:
		return t.acceptsMembers(u)
	case Hash:
		key, val := u.entry(strictly)
		for _, m := range t.members {
			if !m.optional && (!m.value.Accepts(val) || !Of(String).Accepts(key)) {
				return false
			}
		}
		return true
	}
	return false
}

func (t *Type) acceptsMembers(u *Type) bool {
	matched := 0
	for _, m := range t.members {
		i := slices.IndexFunc(u.members, func(o member) bool { return o.name == m.name })
		if i < 0 {
			if !m.optional {
				return false
			}
			continue
		}
		matched++
		if o := u.members[i]; o.optional && !m.optional || !m.value.Accepts(o.value) {
			return false
		}
	}
	return matched == len(u.members)
}

// acceptsIterable implements Accepts if t is Iterable. The values of u must be iterable, and t must accept their
// elements.
func (t *Type) acceptsIterable(u *Type) bool {
	elem := u.yields()
	return elem != nil && (t.plain || t.args[0].Accepts(elem))
}

// yields returns the type of the elements when Puppet iterates over a value of type t. It returns nil if Puppet
// cannot do that.
func (t *Type) yields() *Type {
	switch t.kind {
	case Array:
		return t.element(strictly)
	case Hash:
		key, val := t.entry(strictly)
		return pair(key, val)
	case Struct:
		return pair(Of(String), Of(Any))
	case Tuple:
		return union(t.args)
	case String, Enum, Pattern:
		if t.kind == Pattern && t.plain {
			return nil
		}
		single := newType(String)
		single.min, single.max = 1, 1
		return single
	case Integer:
		return Of(Integer)
	case Meta:
		if !t.plain && (t.args[0].kind == Enum || t.args[0].Finite()) {
			return t.args[0]
		}
	case Iterable, Iterator:
		if t.plain {
			return Of(Any)
		}
		return t.args[0]
	}
	return nil
}

func pair(key, val *Type) *Type {
	t := newType(Tuple)
	t.args, t.min, t.max = []*Type{key, val}, 2, 2
	return t
}

// Admits reports whether a value of kind k can have type t. The kind must be String, Array or Hash.
func (t *Type) Admits(k value.Kind) bool {
	t = t.resolved()
	switch t.Kind() {
	case Any, Data, RichData, Iterable:
		return true
	case Optional, NotUndef, Variant:
		return t.plain || slices.ContainsFunc(t.args, func(a *Type) bool { return a.Admits(k) })
	case String, Enum, Scalar, ScalarData:
		return k == value.String
	case Pattern:
		return k == value.String && len(t.texts) > 0
	case Collection:
		return k != value.String
	case Array, Tuple:
		return k == value.Array
	case Hash, Struct:
		return k == value.Hash
	}
	return false
}
