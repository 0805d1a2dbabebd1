package value

import "math/bits"

// Source provides values that are decoded only when they are read. Lookups need not decode values that their callers
// never read.
type Source struct {
	b     body
	owned [Type + 1]body // like the variable plain, but with this Source as owner
}

// NewSource returns a Source. Value number n is encoded at Position(n) of cells. If that position is outside cells, or
// does not begin a short value, load(n) reads the value. Values are not cached, so each Read decodes again.
func NewSource(cells string, load func(n uint64) (Value, error)) *Source {
	s := &Source{}
	s.b = body{reader: &reader{cells, load}, owner: s}
	for k := range s.owned {
		s.owned[k] = body{kind: Kind(k), owner: s}
	}
	return s
}

// Own returns v as a value that refers to s, so that everything that load refers to stays alive. If s is nil, it
// returns v.
func (s *Source) Own(v Value) Value {
	switch {
	case s == nil || v.ref == nil || v.ref.owner == s:
	case v.ref.built || v.ref.reader != nil || v.ref.typ != nil:
		b := *v.ref
		b.owner = s
		v.ref = &b
	default:
		v.ref = &s.owned[v.ref.kind]
	}
	return v
}

// Owner returns the source that v refers to, or nil.
func (v Value) Owner() *Source {
	if v.ref == nil {
		return nil
	}
	return v.ref.owner
}

// Value returns value number n. Only Read, ReadKind and ReadText work on it.
func (s *Source) Value(n uint64) Value { return Value{ref: &s.b, num: n} }

// At returns the value at a position in the cells.
func (s *Source) At(position uint64) Value { return s.Value(bits.RotateLeft64(position, -1)) }

// Deferred reports whether v must be read by Read before use, because it comes from a Source or is sensitive.
func (v Value) Deferred() bool { return v.ref != nil && v.ref.reader != nil }

// Read decodes a value of a Source and removes the mark of a sensitive value. It returns any other value unchanged.
func (v Value) Read() (_ Value, err error) { // inlined
	if v.ref != nil && v.ref.reader != nil {
		v, err = v.ref.reader.read(v.num)
	}
	return v, err
}

// ReadKind returns the kind of the value that Read returns, or Invalid if Read returns an error.
func (v Value) ReadKind() Kind { // inlined
	if v.ref == nil {
		return Undef
	}
	return v.ref.readKind(v.num)
}

// ReadText returns the text of a short String of a Source. For any other value ok is false, and the caller uses Read.
func (v Value) ReadText() (text string, ok bool) { // inlined
	if v.ref == nil || v.ref.reader == nil {
		return "", false
	}
	return v.ref.reader.text(v.num)
}
