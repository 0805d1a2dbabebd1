package bindingsfile

import (
	"iter"

	"bindc/internal/diag"
	"bindc/internal/value"
)

// Literal is a value as it is written, with its place and those of its parts.
type Literal struct {
	Value value.Value
	Pos   diag.Pos
	Kids  []Literal // of an array its elements; of a hash its keys and values in turn
}

// pairs ranges over the keys and values of a hash, in order; over nothing for another value.
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

// entry is the value of a hash under a name, or nil.
func (l *Literal) entry(name string) *Literal {
	for key, val := range l.pairs() {
		if text, _ := key.text(); text == name {
			return val
		}
	}
	return nil
}

// text is that of a string, "" of what is none: the text of a pattern is no name.
func (l *Literal) text() (text string, ok bool) {
	if l.Value.Kind() != value.String {
		return "", false
	}
	return l.Value.Text(), true
}

// Within is the part of l that path leads to, keys and indexes from the outside in, as far as it is written out.
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

// Entry is entry i of a hash, which has the key, as it is written; where that is not known, it stands where l does.
func (l *Literal) Entry(i int, key value.Value) (name, val Literal) {
	if 2*i < len(l.Kids) && value.Identical(l.Kids[2*i].Value, key) {
		return l.Kids[2*i], l.Kids[2*i+1]
	}
	return Literal{Value: key, Pos: l.Pos}, Literal{Pos: l.Pos}
}

// Named is the value of a hash under a name, or nil.
func (l *Literal) Named(name string) *Literal { return l.entry(name) }
