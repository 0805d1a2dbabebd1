package value

import (
	"bytes"
	"strings"
)

// Clone returns a deep copy of v that refers to no Source.
func Clone(v Value) Value {
	switch v.Kind() {
	case String, Regexp:
		return Value{ref: &plain[v.Kind()], str: strings.Clone(v.str)}
	case Bool, Int, Float, Default:
		return Value{ref: &plain[v.Kind()], num: v.num}
	case Type:
		if name, ok := v.Ref().(typeName); ok {
			return FromType(typeName(strings.Clone(string(name))))
		}
		return FromType(v.Ref())
	case Array:
		elems := make([]Value, 0, v.Len())
		for e := range v.Elems() {
			elems = append(elems, Clone(e))
		}
		return FromSlice(elems)
	case Hash:
		var b Builder
		for k, e := range v.Pairs() {
			b.Set(Clone(k), Clone(e))
		}
		return b.Hash()
	}
	return v
}

// Same reports whether a and b are equal and their hashes have the same order. 1 and 1.0 differ.
func Same(a, b Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	return bytes.Equal(Append(nil, a), Append(nil, b))
}

// SameText reports whether a hash in v has two keys with the same text, such as 1 and '1', and returns that text.
// Formats that only have text keys cannot distinguish such keys.
func SameText(v Value) (text string, found bool) {
	switch v.Kind() {
	case Array:
		for e := range v.Elems() {
			if text, found = SameText(e); found {
				return text, true
			}
		}
	case Hash:
		return sameText(v)
	}
	return "", false
}

func sameText(hash Value) (string, bool) {
	other := map[string]bool{} // the textual forms of keys that are not strings
	for k := range hash.Pairs() {
		if k.Kind() != String {
			text := string(AppendText(nil, k))
			if other[text] {
				return text, true
			}
			other[text] = true
		}
	}
	for k, e := range hash.Pairs() {
		if k.Kind() == String && other[k.Text()] {
			return k.Text(), true
		}
		if text, found := SameText(e); found {
			return text, true
		}
	}
	return "", false
}
