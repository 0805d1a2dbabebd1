package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// These constants limit the search for solutions.
const (
	maxWays  = 64
	maxSteps = 10_000
)

// solve returns assignments of variables for which all equations hold. complete is false if there may be more, because
// the search was cut off.
func (s *space) solve(equations []equation) (ways []way, complete bool) {
	ordered := slices.Clone(equations)
	// Exact equations come first, because they determine upper and lower case.
	slices.SortStableFunc(ordered, func(a, b equation) int {
		if a.exact != b.exact {
			return cmp.Compare(b2i(b.exact), b2i(a.exact))
		}
		return cmp.Compare(len(a.parts), len(b.parts))
	})
	v := solver{space: s, values: way{}}
	v.solve(ordered)
	return v.ways, v.steps <= maxSteps && len(v.ways) <= maxWays
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

type solver struct {
	space  *space
	values way
	ways   []way
	steps  int
}

func (v *solver) solve(left []equation) {
	if v.steps++; v.steps > maxSteps || len(v.ways) > maxWays {
		return
	}
	if len(left) == 0 {
		v.ways = append(v.ways, maps.Clone(v.values))
		return
	}
	e := left[0]
	if len(e.parts) == 0 {
		if e.text == "" {
			v.solve(left[1:])
		}
		return
	}
	p, rest := e.parts[0], append([]equation{e}, left[1:]...)
	rest[0].parts = e.parts[1:]
	text, known := p.Text, true
	if p.Variable != "" {
		text, known = v.values[p.Variable]
	}
	if known {
		if !e.exact {
			text = fold(text)
		}
		after, fits := strings.CutPrefix(e.text, text)
		if rest[0].text = after; fits {
			v.solve(rest)
		}
		return
	}
	for n := 0; n <= len(e.text); n++ {
		if len(e.parts) == 1 {
			n = len(e.text) // the last part must take all the remaining text
		}
		rest[0].text = e.text[n:]
		for _, spelling := range v.spellings(p.Variable, e, e.text[:n]) {
			v.values[p.Variable] = spelling
			v.solve(slices.Clone(rest))
		}
	}
	delete(v.values, p.Variable)
}

// spellings returns the values to try for a variable whose case-folded value must be text. If e is exact, that is only
// text itself.
func (v *solver) spellings(variable string, e equation, text string) []string {
	if e.exact || text == "" {
		return []string{text}
	}
	if known := v.space.spelledIn()[variable][text]; len(known) > 0 {
		return known
	}
	if fold(e.close) == text {
		return []string{e.close}
	}
	return []string{text}
}
