package bindingsfile

import (
	"iter"

	"bindc/diag"
	"bindc/internal/value"
)

// Literal is a value in a bindings file, with the positions of the values inside it.
type Literal struct {
	Value value.Value
	Pos   diag.Pos
	Kids  []Literal // elements of an array, or alternating keys and values of a hash
}

// Within returns the literal inside l at path, whose elements are hash keys and array indexes. If
// that literal has no position, Within returns the innermost one around it that has.
func (l *Literal) Within(path []value.Value) *Literal {
	if len(path) == 0 {
		return l
	}
	if i := path[0].Int(); l.Value.Kind() == value.Array && path[0].Kind() == value.Int && i < int64(len(l.Kids)) {
		return l.Kids[i].Within(path[1:])
	}
	for key, val := range l.pairs() {
		if value.Identical(key.Value, path[0]) {
			return val.Within(path[1:])
		}
	}
	return l
}

// Entry returns the literals of a hash's entry i, which has the given key. If the hash is computed,
// both have the position of l.
func (l *Literal) Entry(i int, key value.Value) (name, val Literal) {
	if 2*i < len(l.Kids) && value.Identical(l.Kids[2*i].Value, key) {
		return l.Kids[2*i], l.Kids[2*i+1]
	}
	return Literal{Value: key, Pos: l.Pos}, Literal{Pos: l.Pos}
}

// Named returns the value of a key in a hash. It returns nil if the key is missing or l is not a
// hash.
func (l *Literal) Named(name string) *Literal {
	for key, val := range l.pairs() {
		if text, _ := key.text(); text == name {
			return val
		}
	}
	return nil
}

// ScalarText returns a string, number or boolean as text. It returns "" for all other values, and
// if l is nil.
func (l *Literal) ScalarText() string {
	if l == nil {
		return ""
	}
	return scalarText(l.Value)
}

// scalarText returns a string, number or boolean as text. It returns "" for all other values.
func scalarText(v value.Value) string {
	switch v.Kind() {
	case value.String, value.Int, value.Bool, value.Float:
		return string(value.AppendText(nil, v))
	}
	return ""
}

// text returns the value if it is a string. Otherwise it returns false, also for a regular
// expression.
func (l *Literal) text() (text string, ok bool) {
	if l.Value.Kind() != value.String {
		return "", false
	}
	return l.Value.Text(), true
}

// pairs returns an iterator over the entries of a hash, in order. For other values, it yields
// nothing.
func (l *Literal) pairs() iter.Seq2[*Literal, *Literal] {
	return func(yield func(*Literal, *Literal) bool) {
		if l.Value.Kind() != value.Hash {
			return
		}
		for i := 0; i < len(l.Kids); i += 2 {
			if !yield(&l.Kids[i], &l.Kids[i+1]) {
				return
			}
		}
	}
}

// collect returns a hash or an array of the kids' values. For a hash, keys and values alternate.
func collect(isHash bool, kids []Literal) value.Value {
	if isHash {
		var b value.Builder
		for i := 0; i < len(kids); i += 2 {
			b.Set(kids[i].Value, kids[i+1].Value)
		}
		return b.Hash()
	}
	elems := make([]value.Value, len(kids))
	for i := range kids {
		elems[i] = kids[i].Value
	}
	return value.FromSlice(elems)
}
