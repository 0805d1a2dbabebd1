package relation

import (
	"cmp"
	"slices"
	"strings"
)

// assignment maps unknowns to their folded values.
type assignment map[int]string

// Limits of the search for ways in which a condition can hold. Beyond them, the condition is undecided.
const (
	maxWays  = 64
	maxSteps = 4096
)

// solutions returns the assignments of unknowns that make c hold, or none if c never holds. It ignores terms that can
// hold in too many ways.
func (r *Relations) solutions(c Condition) []assignment {
	ways, _ := r.solve(c)
	return ways
}

// solve is like solutions. all is false if it ignored a term.
func (r *Relations) solve(c Condition) (ways []assignment, all bool) {
	terms := slices.DeleteFunc(slices.Clone(c), func(t Term) bool { return !r.isRelated(t) })
	slices.SortStableFunc(terms, func(a, b Term) int {
		return cmp.Compare(len(r.templates[a.Dimension]), len(r.templates[b.Dimension]))
	})
	ways, all = []assignment{{}}, true
	for _, t := range terms {
		s := solver{unknowns: r.unknowns}
		for _, w := range ways {
			s.solve(r.templates[t.Dimension], t.Value, w)
		}
		r.spend(4 * s.steps)
		if s.steps <= maxSteps && len(s.ways) <= maxWays {
			ways = s.ways
		} else {
			all = false
		}
	}
	return slices.DeleteFunc(ways, func(w assignment) bool { return r.outside(c, w) }), all
}

// outside reports whether c has a guard whose category has no value if the unknowns have the values in w.
func (r *Relations) outside(c Condition, w assignment) bool {
	return slices.ContainsFunc(c, func(t Term) bool {
		category := r.dims[t.Dimension].Category
		if category < 0 {
			return false
		}
		text, determined := r.text(category, w)
		return determined && text == ""
	})
}

// solver collects the assignments for which a template results in a given text.
type solver struct {
	unknowns []unknown
	ways     []assignment
	steps    int
}

// solve adds the assignments that extend w and make parts result in text. It restores w before it returns.
func (s *solver) solve(parts []part, text string, w assignment) {
	if s.steps++; s.steps > maxSteps || len(s.ways) > maxWays {
		return
	}
	if len(parts) == 0 {
		if text == "" {
			way := make(assignment, len(w))
			for v, t := range w {
				way[v] = t
			}
			s.ways = append(s.ways, way)
		}
		return
	}
	determined, ok := parts[0].text, true
	if isUnknown(parts[0]) {
		determined, ok = w[parts[0].unknown]
	}
	if ok {
		if rest, fits := strings.CutPrefix(text, determined); fits {
			s.solve(parts[1:], rest, w)
		}
		return
	}
	if len(parts) > 1 { // otherwise the unknown takes the whole text
		for n := range text {
			s.assign(parts, text, n, w)
		}
	}
	s.assign(parts, text, len(text), w)
	delete(w, parts[0].unknown)
}

// assign continues solve. It takes the first n bytes of text as the value of the first part, an unknown.
func (s *solver) assign(parts []part, text string, n int, w assignment) {
	if s.unknowns[parts[0].unknown].slashless && strings.Contains(text[:n], "/") {
		return
	}
	w[parts[0].unknown] = text[:n]
	s.solve(parts[1:], text[n:], w)
}
