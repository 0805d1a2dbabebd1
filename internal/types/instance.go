package types

import (
	"math"
	"strings"
	"unicode/utf8"

	"bindc/internal/types/onigmo"
	"bindc/internal/value"
)

// Instance reports whether v has type t, like Puppet's =~. Unlike in Check, undef is not an Integer.
func (t *Type) Instance(v value.Value) bool { return t.holds(v, strictly) }

// manner selects the rules for checking values against types.
type manner uint8

const (
	strictly  manner = iota // Puppet's rules
	leniently               // the rules of language.md, section 9: undef has all types of ARM-8 and ARM-9
)

// lenient reports whether t is a type of ARM-8 or ARM-9. When checked leniently, undef has these types.
func (t *Type) lenient() bool {
	switch t.kind {
	case Integer, Float, String:
		return t.plain
	case Any, Numeric, Boolean, Pattern, Scalar, Data, Collection:
		return t.plain
	case Array, Hash:
		return t.min == 0 && t.max == math.MaxInt64
	}
	return false
}

func (t *Type) holds(v value.Value, how manner) bool {
	if t = t.resolved(); t == nil {
		return true
	}
	if v.IsUndef() {
		return t.holdsUndef(how)
	} else if v.IsSensitive() {
		return t.holdsSensitive(v, how)
	}
	switch t.kind {
	case Any:
		return true
	case Undef, Default, Boolean, Integer, Float, Numeric, String, Enum, Pattern, Regexp, Scalar, ScalarData:
		return t.holdsScalar(v)
	case Data, RichData:
		return holdsData(t.kind, v, how, value.MaxDepth)
	case Collection:
		return v.Kind() == value.Array && t.fits(v.Len()) || v.Kind() == value.Hash && t.fits(v.Len())
	case Array:
		return v.Kind() == value.Array && t.fits(v.Len()) && t.holdsElems(v, how)
	case Hash:
		return v.Kind() == value.Hash && t.fits(v.Len()) && t.holdsPairs(v, how)
	case Tuple:
		return t.holdsTuple(v, how)
	case Struct:
		return t.holdsStruct(v, how)
	case Variant:
		return t.holdsAny(v, how)
	case Optional, NotUndef:
		return t.plain && t.kind == NotUndef || !t.plain && t.args[0].holds(v, how)
	case Meta:
		inner, err := FromValue(v)
		return err == nil && (t.plain || t.args[0].Accepts(inner))
	case Iterable:
		return t.holdsIterable(v)
	}
	return false
}

func (t *Type) holdsUndef(how manner) bool {
	switch t.kind {
	case Any, Undef, Optional, Data, RichData, unit:
		return true
	case Variant:
		return t.holdsAny(value.Value{}, how)
	}
	return how == leniently && t.lenient()
}

func (t *Type) holdsAny(v value.Value, how manner) bool {
	for _, a := range t.args {
		if a.holds(v, how) {
			return true
		}
	}
	return false
}

func (t *Type) fits(n int) bool { return t.min <= int64(n) && int64(n) <= t.max }

func (t *Type) holdsScalar(v value.Value) bool {
	k := v.Kind()
	switch t.kind {
	case Default:
		return k == value.Default
	case Boolean:
		return k == value.Bool && (!t.exact || t.truth == v.Bool())
	case Integer:
		return k == value.Int && t.min <= v.Int() && v.Int() <= t.max
	case Float:
		return k == value.Float && t.from <= v.Float() && v.Float() <= t.to
	case Numeric:
		return k == value.Int || k == value.Float
	case String:
		return k == value.String && t.holdsText(v.Text())
	case Enum:
		return k == value.String && t.hasText(v.Text())
	case Pattern:
		return t.plain && k == value.Regexp || !t.plain && k == value.String && t.matches(v.Text())
	case Regexp:
		return k == value.Regexp && (t.plain || t.texts[0] == v.Text())
	case Scalar:
		return k == value.Regexp || isScalarData(k)
	case ScalarData:
		return isScalarData(k)
	}
	return false
}

func isScalarData(k value.Kind) bool {
	return k == value.Bool || k == value.Int || k == value.Float || k == value.String
}

func (t *Type) holdsText(s string) bool {
	switch {
	case t.exact:
		return t.texts[0] == s
	case t.unbounded():
		return true
	}
	return t.fits(utf8.RuneCountInString(s))
}

func (t *Type) hasText(s string) bool {
	for _, text := range t.texts {
		if text == s || t.fold && sameFolded(text, s) {
			return true
		}
	}
	return false
}

// sameFolded compares a and b without regard to the case of ASCII letters, like Ruby's casecmp.
func sameFolded(a, b string) bool {
	return len(a) == len(b) && asciiLower(a) == asciiLower(b)
}

func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// matches reports whether a regular expression of t matches s. It also returns true if that takes too many steps to
// decide.
func (t *Type) matches(s string) bool {
	for _, src := range t.texts {
		m, err := onigmo.CompileMatcher(src)
		if err != nil {
			continue // cannot happen: withParams has compiled it
		}
		if matched, err := m.Match(s, nil); matched || err != nil {
			return true
		}
	}
	return false
}

// holdsData reports whether v has type Data or RichData. Leniently, keys may be any scalar and regular expressions
// are scalars, as in ARM-8 and ARM-9.
func holdsData(kind Kind, v value.Value, how manner, depth int) bool {
	if depth == 0 || v.IsSensitive() {
		return false
	}
	rich := kind == RichData
	switch k := v.Kind(); k {
	case value.Undef, value.Bool, value.Int, value.Float, value.String:
		return true
	case value.Regexp:
		return rich || how == leniently
	case value.Default, value.Type:
		return rich
	case value.Array:
		for e := range v.Elems() {
			if !holdsData(kind, e, how, depth-1) {
				return false
			}
		}
	case value.Hash:
		for key, e := range v.Pairs() {
			keyFits := key.Kind() == value.String || how == leniently && key.Kind() != value.Array &&
				key.Kind() != value.Hash
			if rich {
				keyFits = holdsData(kind, key, how, depth-1)
			}
			if !keyFits || !holdsData(kind, e, how, depth-1) {
				return false
			}
		}
	}
	return true
}

// element returns the element type of an Array. Without parameters, it is Data for bindings and Any for expressions.
func (t *Type) element(how manner) *Type {
	switch {
	case len(t.args) > 0:
		return t.args[0]
	case how == leniently:
		return Of(Data)
	}
	return Of(Any)
}

// entry returns the key type and the value type of a Hash. Without parameters, they are Scalar and Data for bindings,
// and Any for expressions.
func (t *Type) entry(how manner) (key, val *Type) {
	switch {
	case len(t.args) > 0:
		return t.args[0], t.args[1]
	case how == leniently:
		return Of(Scalar), Of(Data)
	}
	return Of(Any), Of(Any)
}

func (t *Type) holdsElems(v value.Value, how manner) bool {
	elem := t.element(how)
	if elem.kind == Any {
		return true
	}
	for e := range v.Elems() {
		if !elem.holds(e, how) {
			return false
		}
	}
	return true
}

func (t *Type) holdsPairs(v value.Value, how manner) bool {
	key, val := t.entry(how)
	if key.kind == Any && val.kind == Any {
		return true
	}
	for k, e := range v.Pairs() {
		if !key.holds(k, how) || !val.holds(e, how) {
			return false
		}
	}
	return true
}

func (t *Type) holdsTuple(v value.Value, how manner) bool {
	if v.Kind() != value.Array || !t.plain && !t.fits(v.Len()) {
		return false
	}
	i := 0
	for e := range v.Elems() {
		if at := t.at(i); at != nil && !at.holds(e, how) {
			return false
		}
		i++
	}
	return true
}

// at returns the type of element i of a Tuple. The last type of the Tuple applies to all further elements. For a bare
// Tuple, at returns nil.
func (t *Type) at(i int) *Type {
	if len(t.args) == 0 {
		return nil
	}
	return t.args[min(i, len(t.args)-1)]
}

func (t *Type) holdsStruct(v value.Value, how manner) bool {
	if v.Kind() != value.Hash {
		return false
	}
	matched := 0
	for _, m := range t.members {
		e, ok := v.Get(value.FromString(m.name))
		if !ok && !m.optional || ok && !m.value.holds(e, how) {
			return false
		}
		if ok {
			matched++
		}
	}
	return matched == v.Len()
}

func (t *Type) holdsIterable(v value.Value) bool {
	if t.plain || t.args[0].kind == Any {
		return Iterates(v)
	}
	return Iterates(v) && t.Accepts(Detailed(v))
}

// Iterates reports whether Puppet can iterate over v: a collection, a string, a non-negative integer, or a type that
// enumerates values.
func Iterates(v value.Value) bool {
	switch v.Kind() {
	case value.Array, value.Hash, value.String:
		return true
	case value.Int:
		return v.Int() >= 0
	case value.Type:
		t, err := FromValue(v)
		return err == nil && (t.Kind() == Enum || t.Finite())
	}
	return false
}
