package params

import (
	"slices"

	"bindc/internal/lookup"
	"bindc/internal/types"
	"bindc/internal/value"
)

// culprit returns the position to blame for the mismatch m in v. If the values fit without lookup_options, that is the
// options. Otherwise it is the binding that supplied the wrong part.
func (p *param) culprit(e *lookup.Explanation, winners []lookup.Candidate, v lookup.Value, m *types.Mismatch) string {
	if e.Options != nil && !slices.ContainsFunc(winners, func(w lookup.Candidate) bool {
		return !p.fitsAlone(&w)
	}) {
		return e.Options.At
	}
	return holder(winners, v, m.Path).At
}

// fitsAlone reports whether the value of c fits if it is neither merged nor converted.
func (p *param) fitsAlone(c *lookup.Candidate) bool {
	m, err := p.misfitOf(c.Outcome.Value)
	return m == nil && err == nil
}

// holder returns the binding that supplied the part of v at path. v was merged from winners, which are sorted highest
// first. If no single binding has the part, holder returns the highest.
func holder(winners []lookup.Candidate, v lookup.Value, path []value.Value) *lookup.Candidate {
	if whole, err := v.Whole(); err == nil && len(winners) > 1 {
		part := partAt(whole, path)
		for i := range winners {
			if own, err := winners[i].Outcome.Value.Whole(); err == nil && hasPart(own, path, part) {
				return &winners[i]
			}
		}
	}
	return &winners[0]
}

// partAt returns the part of v at path, or undef if there is none.
func partAt(v value.Value, path []value.Value) value.Value {
	for _, key := range path {
		switch {
		case v.Kind() == value.Hash:
			v, _ = v.Get(key)
		case v.Kind() == value.Array && key.Kind() == value.Int && key.Int() < int64(v.Len()):
			v = v.Slice()[key.Int()]
		default:
			return value.Value{}
		}
	}
	return v
}

// hasPart reports whether v has part at path. The indices of lists may differ, because merging moves elements.
func hasPart(v value.Value, path []value.Value, part value.Value) bool {
	switch {
	case len(path) == 0:
		return value.Same(v, part)
	case v.Kind() == value.Hash:
		inner, ok := v.Get(path[0])
		return ok && hasPart(inner, path[1:], part)
	case v.Kind() == value.Array:
		for e := range v.Elems() {
			if hasPart(e, path[1:], part) {
				return true
			}
		}
	case path[0].Kind() == value.Int: // merging may have wrapped v in a list, which adds an index to path
		return hasPart(v, path[1:], part)
	}
	return false
}
