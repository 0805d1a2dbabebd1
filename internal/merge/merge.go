package merge

import (
	"slices"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Candidate is one value of a key. Candidates come in order of precedence, those of a layer and of an entry of its
// hierarchy together: the paths of an entry are merged first, then the entries of a layer, then the layers.
type Candidate struct {
	Layer, Entry int
	// OnlyPath says that the entry has no other location for this request, whether a file is there or not (a glob
	// has as many as match); OnlyEntry that the layer has no other entry. What is alone is not merged with anything,
	// and 'unique' leaves a text that nothing was to be merged with a text, and arrays in arrays.
	OnlyPath, OnlyEntry bool
	// Value is asked once at the most, and of the strategy 'first' only until one is found.
	Value func() (v value.Value, found bool, err error)
}

// Merge makes one value of candidates. It is not found where none is. The error is that of a candidate's Value, or an
// *Error. What is sensitive is merged with nothing, and 'hash' and 'unique' refuse it.
func (s Strategy) Merge(candidates []Candidate) (v value.Value, found bool, err error) {
	return s.merge(candidates, layers)
}

// MergeDefaults is Merge for a default_hierarchy, which is no layer among others.
func (s Strategy) MergeDefaults(candidates []Candidate) (v value.Value, found bool, err error) {
	return s.merge(candidates, entries)
}

func (s Strategy) merge(candidates []Candidate, from level) (value.Value, bool, error) {
	if s.kind == first {
		return firstFound(candidates)
	}
	p, err := s.nest(candidates, 0, from)
	return p.v, p.found, err
}

func firstFound(candidates []Candidate) (value.Value, bool, error) {
	for _, c := range candidates {
		v, found, err := c.Value()
		if err != nil {
			return value.Value{}, false, err
		}
		if found {
			return v, true, nil
		}
	}
	return value.Value{}, false, nil
}

// level is one of those on which values are merged.
type level int

const (
	layers level = iota
	entries
	paths
	single
)

// together tells whether a and b are merged before l is.
func (l level) together(a, b Candidate) bool {
	return l == layers && a.Layer == b.Layer || l == entries && a.Entry == b.Entry
}

// alone tells whether c has nothing beside it on l. There are always several layers.
func (l level) alone(c Candidate) bool {
	return l == entries && c.OnlyEntry || l == paths && c.OnlyPath
}

// part is what has been found so far.
type part struct {
	v      value.Value
	found  bool
	from   int  // the first candidate it is made of
	merged bool // it is the outcome of a merge, and can be merged again
}

// nest merges candidates, which are together on the levels above l. at is the number of the first.
func (s Strategy) nest(candidates []Candidate, at int, l level) (part, error) {
	if l == single {
		return s.value(candidates[0], at)
	}
	var sum part
	for i := 0; i < len(candidates); {
		end := i + 1
		for end < len(candidates) && l.together(candidates[i], candidates[end]) {
			end++
		}
		p, err := s.nest(candidates[i:end], at+i, l+1)
		switch {
		case err != nil:
			return part{}, err
		case !p.found:
		case sum.found:
			sum, err = s.pair(sum, p)
		case l.alone(candidates[i]):
			sum = s.alone(p)
		default:
			sum = s.begin(p)
		}
		if err != nil {
			return part{}, err
		}
		i = end
	}
	return sum, nil
}

func (s Strategy) value(c Candidate, at int) (part, error) {
	v, found, err := c.Value()
	if err != nil || !found {
		return part{}, err
	}
	if !v.IsSensitive() {
		v, err = v.Read()
	}
	return part{v: v, found: true, from: at}, err
}

// alone is what becomes of a value that nothing is merged with, begin of the first of several.
func (s Strategy) alone(p part) part {
	if s.kind == unique && p.v.Kind() == value.Array {
		p.v = value.FromSlice(distinct(nil, p.v.Slice()))
	}
	return p
}

func (s Strategy) begin(p part) part {
	if s.kind == unique {
		p.v = value.FromSlice(flat(nil, p.v))
	}
	return p
}

// pair merges b, which is of less precedence, into a.
func (s Strategy) pair(a, b part) (part, error) {
	for _, p := range []part{a, b} {
		if p.merged {
			continue
		}
		if err := s.check(p.v, p.from); err != nil {
			return part{}, err
		}
	}
	a.merged = true
	var err error
	switch s.kind {
	case unique:
		a.v = value.FromSlice(distinct(flat(nil, a.v), flat(nil, b.v)))
	case hash:
		a.v = hashMerge(a.v, b.v)
	default:
		a.v, err = s.deep.merge(a.v, b.v, b.from)
	}
	return a, err
}

var needs = [...]string{unique: "scalars and Arrays of Data", hash: "Hashes of Data with Strings as keys"}

// Check tells why s cannot merge v with anything. The error is an *Error.
func (s Strategy) Check(v value.Value) error { return s.check(v, 0) }

// check is Check of candidate at.
func (s Strategy) check(v value.Value, at int) error {
	if s.merges(v) {
		return nil
	}
	what := "of the kind " + v.Kind().String()
	if _, sensitive, _ := v.Unveiled(); sensitive {
		what = "sensitive, or something in it is"
	}
	return &MergeError{Class: Mismatch, Candidate: at, Message: "the merge strategy '" + s.String() + "' needs " +
		needs[s.kind] + ", and this is " + what}
}

// merges tells whether s can merge v with something.
func (s Strategy) merges(v value.Value) bool {
	switch s.kind {
	case unique:
		return types.Of(types.Scalar).Instance(v) || v.Kind() == value.Array && types.Of(types.Data).Instance(v)
	case hash:
		return v.Kind() == value.Hash && types.Of(types.Data).Instance(v)
	}
	return true
}

// hashMerge has the keys of low first, and the values of high.
func hashMerge(high, low value.Value) value.Value {
	b := value.BuilderOf(low, high.Len())
	for k, v := range high.Pairs() {
		b.Set(k, v)
	}
	return b.Hash()
}

// fewElements are compared with one another sooner than they are told apart by a map.
const fewElements = 16

// distinct are the elements of both lists, each once.
func distinct(a, b []value.Value) []value.Value {
	out := make([]value.Value, 0, len(a)+len(b))
	if cap(out) <= fewElements {
		for _, list := range [][]value.Value{a, b} {
			for _, v := range list {
				if !slices.ContainsFunc(out, func(e value.Value) bool { return value.Identical(e, v) }) {
					out = append(out, v)
				}
			}
		}
		return out
	}
	seen := make(map[string]bool, cap(out))
	var id []byte
	for _, list := range [][]value.Value{a, b} {
		for _, v := range list {
			if id = value.AppendDistinct(id[:0], v); !seen[string(id)] {
				seen[string(id)] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// repeats tells whether distinct makes list shorter.
func repeats(list []value.Value) bool { return len(distinct(nil, list)) < len(list) }

// flat appends v, or the elements of an array, those of arrays in it as well.
func flat(dst []value.Value, v value.Value) []value.Value {
	if v.Kind() != value.Array {
		return append(dst, v)
	}
	for e := range v.Elems() {
		dst = flat(dst, e)
	}
	return dst
}
