package merge

import (
	"slices"

	"bindc/internal/types"
	"bindc/internal/value"
)

// Candidate is one of the values to be merged for a key. Candidates are sorted by precedence. Merge combines the paths
// of each entry first, then the entries of each layer, then the layers, so the candidates of an entry or layer must be
// adjacent.
type Candidate struct {
	Layer, Entry int
	// OnlyPath means that the entry has only this path in the request, counting paths without a file and each file that
	// a glob matches. OnlyEntry means that the layer has only this entry. A single value is not merged: 'unique' keeps
	// a single string as it is, and does not flatten nested arrays.
	OnlyPath, OnlyEntry bool
	// Value reads the value. Merge calls it at most once, and for the strategy 'first' only until a value is found.
	Value func() (v value.Value, found bool, err error)
}

// Merge merges the values of candidates. found is false if none of them has a value. The error is a *MergeError or
// comes from a candidate's Value. 'hash' and 'unique' reject sensitive values.
func (s Strategy) Merge(candidates []Candidate) (v value.Value, found bool, err error) {
	return s.merge(candidates, layers)
}

// MergeDefaults merges candidates of a default_hierarchy, which has no layers.
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

// level is a level of nested merges: layers consist of entries, and entries of paths.
type level int

const (
	layers level = iota
	entries
	paths
	single
)

// together reports whether a and b belong to the same group at level l. Merges combine each group first.
func (l level) together(a, b Candidate) bool {
	return l == layers && a.Layer == b.Layer || l == entries && a.Entry == b.Entry
}

// alone reports whether c is the only candidate at level l. It returns false for layers: there is always more than one.
func (l level) alone(c Candidate) bool {
	return l == entries && c.OnlyEntry || l == paths && c.OnlyPath
}

// part is the merged value of some of the candidates.
type part struct {
	v      value.Value
	found  bool
	from   int  // number of the first candidate merged into the value
	merged bool // the result of merging two or more values
}

// nest merges candidates at level l, after merging each group at the levels below. at is the number of the first
// candidate.
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

// alone returns the result of a merge of a single value: for 'unique', an array without duplicates.
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

// pair merges a and b. a has the higher precedence.
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

// Check returns a *MergeError if s cannot merge v with other values.
func (s Strategy) Check(v value.Value) error { return s.check(v, 0) }

// check is Check for the candidate with number at.
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

func (s Strategy) merges(v value.Value) bool {
	switch s.kind {
	case unique:
		return types.Of(types.Scalar).Instance(v) || v.Kind() == value.Array && types.Of(types.Data).Instance(v)
	case hash:
		return v.Kind() == value.Hash && types.Of(types.Data).Instance(v)
	}
	return true
}

// hashMerge returns the keys of low followed by the new keys of high. Values of high override those of low.
func hashMerge(high, low value.Value) value.Value {
	b := value.BuilderOf(low, high.Len())
	for k, v := range high.Pairs() {
		b.Set(k, v)
	}
	return b.Hash()
}

// fewElements is the largest length for which comparing all pairs is faster than using a map.
const fewElements = 16

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

func repeats(list []value.Value) bool { return len(distinct(nil, list)) < len(list) }

// flat appends v, or the elements of v and of nested arrays.
func flat(dst []value.Value, v value.Value) []value.Value {
	if v.Kind() != value.Array {
		return append(dst, v)
	}
	for e := range v.Elems() {
		dst = flat(dst, e)
	}
	return dst
}
