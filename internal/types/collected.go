package types

import "slices"

// Collected is what a multibinding of type t collects: the type of the elements, or of the hash's values. A type that
// is neither an array nor a hash collects nothing.
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

// HoldsArrays tells whether t is Data, anything, or an array type.
func (t *Type) HoldsArrays() bool { return t.kind == Array || t.kind == Data || t.kind == Any }

// HoldsText tells whether t holds any string.
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
