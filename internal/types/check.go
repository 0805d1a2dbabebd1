package types

import (
	"fmt"

	"bindc/internal/value"
)

// Mismatch describes why a value does not have the expected type. Error reveals types, lengths and keys of the value,
// but nothing else.
type Mismatch struct {
	Expected *Type
	Found    string        // the type of the value, or a description such as 'a smaller number'
	Path     []value.Value // keys and indexes leading to the wrong element, outermost first
	shown    string        // like Found, but shows a wrong number or String; may be empty
}

func (m *Mismatch) Error() string { return m.message(m.Found) }

// Shown is like Error, but shows a wrong number or String. It must not be used for a secret value.
func (m *Mismatch) Shown() string {
	if m.shown == "" {
		return m.Error()
	}
	return m.message(m.shown)
}

// Text returns Shown for a value that is not secret. For a secret value, it returns only the expected type.
func (m *Mismatch) Text(secret bool) string {
	if secret {
		return "expected " + m.Expected.String() + ", found a sensitive value of a different type"
	}
	return m.Shown()
}

func (m *Mismatch) message(found string) string {
	s := "expected " + m.Expected.String() + ", found " + found
	if len(m.Path) > 0 {
		s += " at "
	}
	for _, key := range m.Path {
		if key.Kind() == value.String {
			s += "[" + value.Quote(key.Text()) + "]"
		} else {
			s += "[" + string(value.AppendText(nil, key)) + "]"
		}
	}
	return s
}

// Check checks the type of a binding's value, including all elements inside it. It does not convert: 1 is not a
// Float. undef has every type of ARM-8 and ARM-9. Check returns nil if v has type t.
func (t *Type) Check(v value.Value) *Mismatch {
	if t.holds(v, leniently) {
		return nil
	}
	return t.explain(v, nil, leniently)
}

// Assert checks the type of v like Puppet: only types that include Undef accept undef. It returns nil if v has type
// t.
func (t *Type) Assert(v value.Value) *Mismatch {
	if t.holds(v, strictly) {
		return nil
	}
	return t.explain(v, nil, strictly)
}

// MayEscape reports whether Puppet may accept v as the value of a class parameter of type t although v does not have
// this type. Then Puppet looks for the part that is wrong by comparing types. A Struct accepts the type of a hash with
// keys that are not strings or are empty, because such a type does not list the keys. Therefore, Puppet may find
// nothing wrong if v has such a hash inside. If isPart is set, v itself is a part of a value.
func (t *Type) MayEscape(v value.Value, isPart bool) bool {
	return hasUnlistedKeys(v, isPart) && t.hasStruct()
}

func hasUnlistedKeys(v value.Value, isPart bool) bool {
	switch v.Kind() {
	case value.Array:
		for e := range v.Elems() {
			if hasUnlistedKeys(e, true) {
				return true
			}
		}
	case value.Hash:
		for k, e := range v.Pairs() {
			if isPart && (k.Kind() != value.String || k.Text() == "") || hasUnlistedKeys(e, true) {
				return true
			}
		}
	}
	return false
}

func (t *Type) hasStruct() (has bool) {
	t.visit(func(u *Type) { has = has || u.kind == Struct }, map[*Type]bool{})
	return has
}

// explain describes the innermost element of v that has the wrong type. path leads to v.
func (t *Type) explain(v value.Value, path []value.Value, how manner) *Mismatch {
	switch named := t.resolved(); {
	case named != t:
		if m := named.explain(v, path, how); len(m.Path) > len(path) {
			return m
		}
	case t.kind == Optional && !t.plain && !v.IsUndef():
		return t.args[0].explain(v, path, how)
	case t.kind == Array && v.Kind() == value.Array && t.fits(v.Len()):
		elem := t.element(how)
		return explainElems(v, path, how, func(int) *Type { return elem })
	case t.kind == Tuple && v.Kind() == value.Array && (t.plain || t.fits(v.Len())):
		return explainElems(v, path, how, t.at)
	case t.kind == Hash && v.Kind() == value.Hash && t.fits(v.Len()):
		return t.explainPairs(v, path, how)
	case t.kind == Struct && v.Kind() == value.Hash:
		return t.explainStruct(v, path, how)
	case t.kind == Data && (v.Kind() == value.Array || v.Kind() == value.Hash):
		return explainData(v, path, how)
	}
	return &Mismatch{Expected: t, Found: t.found(v), Path: path, shown: t.shown(v)}
}

// longestShown is the maximum number of characters of a String that a message quotes.
const longestShown = 60

// shown returns the text for Mismatch.shown, or "" if the message need not show v.
func (t *Type) shown(v value.Value) string {
	t = t.resolved()
	switch k := v.Kind(); {
	case k == value.Int && t.kind == Integer, k == value.Float && t.kind == Float:
		return string(value.AppendText(nil, v))
	case k == value.String && (t.kind == String || t.kind == Enum || t.kind == Pattern && !t.plain):
		chars := []rune(v.Text())
		if len(chars) > longestShown {
			return value.Quote(string(chars[:longestShown])) + "..."
		}
		return value.Quote(v.Text())
	}
	return ""
}

// found returns the text for Mismatch.Found. The value v must not have type t.
func (t *Type) found(v value.Value) string {
	t = t.resolved()
	switch k := v.Kind(); {
	case k == value.Int && t.kind == Integer && v.Int() < t.min, k == value.Float && t.kind == Float &&
		v.Float() < t.from:
		return "a smaller number"
	case k == value.Int && t.kind == Integer, k == value.Float && t.kind == Float:
		return "a larger number"
	case k == value.Array && (t.kind == Array || t.kind == Tuple || t.kind == Collection):
		return fmt.Sprintf("an Array of length %d", v.Len())
	case k == value.Hash && (t.kind == Hash || t.kind == Collection):
		return fmt.Sprintf("a Hash of length %d", v.Len())
	case k == value.String && t.kind == String:
		return fmt.Sprintf("a String of length %d", len([]rune(v.Text())))
	case k == value.String && t.kind == Enum:
		return "another String"
	case k == value.String && t.kind == Pattern && !t.plain:
		return "a String that does not match"
	}
	return Infer(v).String()
}

func step(path []value.Value, key value.Value) []value.Value {
	return append(path[:len(path):len(path)], key)
}

func explainElems(v value.Value, path []value.Value, how manner, at func(int) *Type) *Mismatch {
	i := 0
	for e := range v.Elems() {
		if t := at(i); !t.holds(e, how) {
			return t.explain(e, step(path, value.FromInt(int64(i))), how)
		}
		i++
	}
	return nil
}

func (t *Type) explainPairs(v value.Value, path []value.Value, how manner) *Mismatch {
	key, val := t.entry(how)
	for k, e := range v.Pairs() {
		if !key.holds(k, how) {
			return &Mismatch{Expected: key, Found: key.found(k) + " as a key", Path: step(path, k)}
		}
		if !val.holds(e, how) {
			return val.explain(e, step(path, k), how)
		}
	}
	return nil
}

func (t *Type) explainStruct(v value.Value, path []value.Value, how manner) *Mismatch {
	members := make(map[string]bool, len(t.members))
	for _, m := range t.members {
		members[m.name] = true
		name := value.FromString(m.name)
		e, ok := v.Get(name)
		switch {
		case !ok && !m.optional:
			return &Mismatch{Expected: m.value, Found: "no such key", Path: step(path, name)}
		case ok && !m.value.holds(e, how):
			return m.value.explain(e, step(path, name), how)
		}
	}
	for k := range v.Pairs() {
		if k.Kind() != value.String || !members[k.Text()] {
			return &Mismatch{Expected: t, Found: "an unknown key", Path: step(path, k)}
		}
	}
	return nil
}

func explainData(v value.Value, path []value.Value, how manner) *Mismatch {
	if v.Kind() == value.Array {
		return explainElems(v, path, how, func(int) *Type { return Of(Data) })
	}
	key := Of(Scalar)
	if how == strictly {
		key = Of(String)
	}
	return (&Type{kind: Hash, args: []*Type{key, Of(Data)}}).explainPairs(v, path, how)
}
