package types

import (
	"slices"

	"bindc/internal/value"
)

// Choices returns all strings of type t if t lists them in Enums, which may be inside Variant, Optional, NotUndef or
// aliases. Otherwise it returns nil.
func (t *Type) Choices() (texts []string) {
	t = t.resolved()
	switch t.Kind() {
	case Enum:
		return t.texts
	case Variant, Optional, NotUndef:
	default:
		return nil
	}
	for _, a := range t.args {
		if !a.Admits(value.String) {
			continue
		}
		more := a.Choices()
		if more == nil {
			return nil
		}
		texts = append(texts, more...)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// Collected returns the type of the elements that a multibinding of type t collects: the elements of an array or the
// values of a hash. ok is false if t is neither.
func (t *Type) Collected() (element *Type, array, ok bool) {
	switch t.kind {
	case Array:
		element = Of(Data)
		if len(t.args) == 1 {
			element = t.args[0]
		}
		return element, true, true
	case Hash:
		element = Of(Data)
		if len(t.args) == 2 {
			element = t.args[1]
		}
		return element, false, true
	}
	return nil, false, false
}

// HoldsArrays reports whether t is an array type, Data or Any.
func (t *Type) HoldsArrays() bool { return t.kind == Array || t.kind == Data || t.kind == Any }

// HoldsText reports whether a string can have type t.
func (t *Type) HoldsText() bool {
	switch t.kind {
	case Any, unit, String, Enum, Scalar, ScalarData, Data, RichData, Iterable:
		return true
	case Pattern:
		return !t.plain
	case NotUndef:
		return t.plain || t.args[0].HoldsText()
	case Optional:
		return !t.plain && t.args[0].HoldsText()
	case Variant:
		return slices.ContainsFunc(t.args, (*Type).HoldsText)
	}
	return false
}
