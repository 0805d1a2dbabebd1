package relation

import (
	"cmp"
	"slices"
	"strings"
)

// assignment is the folded texts of some unknowns.
type assignment map[int]string

// Bounds on the ways that are followed in which a condition can hold. What has more is not decided.
const (
	maxWays  = 64
	maxSteps = 4096
)

// solutions are the ways in which the variables of related dimensions can be so that c holds; none where it never does.
// A term that can hold in too many ways is passed over, as if it said nothing.
func (r *Relations) solutions(c Condition) []assignment {
	ways, _ := r.solve(c)
	return ways
}

// solve returns the solutions, and whether they are all: no term was passed over.
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

// outside tells whether a guard of c belongs to a category that no request with the variables of w has a value of.
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

// solver collects the ways to give variables texts so that a template yields a text.
type solver struct {
	unknowns []unknown
	ways     []assignment
	steps    int
}

// solve adds the ways in which parts yield text where the variables of w are known. w is the same when it returns.
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
	if len(parts) > 1 { // or else there is nothing that could take the rest
		for n := range text {
			s.give(parts, text, n, w)
		}
	}
	s.give(parts, text, len(text), w)
	delete(w, parts[0].unknown)
}

// give solves the equation where the first part, an unknown, is the first n bytes of text.
func (s *solver) give(parts []part, text string, n int, w assignment) {
	if s.unknowns[parts[0].unknown].slashless && strings.Contains(text[:n], "/") {
		return
	}
	w[parts[0].unknown] = text[:n]
	s.solve(parts[1:], text[n:], w)
}
