package types

import "slices"

// common returns the common type of ts, as Puppet computes it.
func common(ts []*Type) *Type {
	out := ts[0]
	for _, t := range ts[1:] {
		out = common2(out, t)
	}
	return out
}

func common2(a, b *Type) *Type {
	switch {
	case a.kind == Undef || a.kind == unit:
		return b
	case b.kind == Undef || b.kind == unit:
		return a
	case a.Accepts(b):
		return a
	case b.Accepts(a):
		return b
	case a.kind == b.kind:
		if t := commonKind(a, b); t != nil {
			return t
		}
	case a.kind == String && b.kind == Enum:
		return commonEnum(b, a)
	case a.kind == Enum && b.kind == String:
		return commonEnum(a, b)
	}
	for _, k := range []Kind{Numeric, ScalarData, Scalar, Data, RichData} {
		if Of(k).Accepts(a) && Of(k).Accepts(b) {
			return Of(k)
		}
	}
	return Of(Any)
}

// commonKind combines two types of the same kind. It returns nil if there is no rule for this kind or if the result
// is too large.
func commonKind(a, b *Type) *Type {
	t := newType(a.kind)
	switch a.kind {
	case Array:
		t.args = []*Type{common2(a.element(strictly), b.element(strictly))}
	case Hash:
		aKey, aVal := a.entry(strictly)
		bKey, bVal := b.entry(strictly)
		t.args = []*Type{common2(aKey, bKey), common2(aVal, bVal)}
	case Integer:
		t.min, t.max = min(a.min, b.min), max(a.max, b.max)
	case Float:
		t.from, t.to = min(a.from, b.from), max(a.to, b.to)
	case Regexp:
		return Of(Regexp)
	case Boolean:
		return Of(ScalarData)
	case Meta:
		if !a.plain && !b.plain {
			t.args = []*Type{common2(a.args[0], b.args[0])}
		}
	case String, Enum:
		if a.kind == String && !(a.exact && b.exact) {
			return Of(String)
		}
		t = newType(Enum)
		t.texts = a.texts
		for _, text := range b.texts {
			t.texts = withText(t.texts, text)
		}
	default:
		return nil
	}
	if t.measure() != nil {
		return nil
	}
	return t
}

// withText returns the sorted list with text inserted, unless list already contains it. It does not modify list.
func withText(list []string, text string) []string {
	i, exists := slices.BinarySearch(list, text)
	if exists {
		return list
	}
	return slices.Insert(slices.Clip(list), i, text)
}

func commonEnum(enum, s *Type) *Type {
	if !s.exact || enum.plain {
		return Of(Enum)
	}
	t := newType(Enum)
	t.texts = withText(enum.texts, s.texts[0])
	if t.measure() != nil {
		return Of(Enum)
	}
	return t
}
