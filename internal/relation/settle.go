package relation

import "slices"

// Ways splits c by the ways in which it can hold: the conditions it returns exclude one another, and one of them holds
// wherever c does. Those of several ways ask variables to have texts too, by dimensions that are not IsNamed. There are
// none where c never holds. Not all: some terms can hold in more ways than are followed, and are not split.
func (r *Relations) Ways(c Condition) (ways []Condition, all bool) {
	if !slices.ContainsFunc(c, r.isRelated) {
		return []Condition{c}, true
	}
	found, all := r.solve(c)
	if len(found) == 1 {
		return []Condition{c}, all
	}
	for _, w := range found {
		ways = append(ways, Union(c, r.asked(w)))
	}
	return ways, all
}

// asked returns the condition that unknowns have the texts of w.
func (r *Relations) asked(w assignment) Condition {
	var out Condition
	for v, text := range w {
		out = append(out, Term{Dimension: r.named + v, Value: text})
	}
	return out
}

// IsNamed reports whether a dimension is one of the site, and not an unknown.
func (r *Relations) IsNamed(dim int) bool { return dim < r.named }

// Settled is c in a form for an index: of related dimensions, the variables that it determines, numbered behind the
// dimensions, and those of its terms that say more. Where b follows from a, the variables of b are among those of a.
func (r *Relations) Settled(c Condition) Condition {
	if !slices.ContainsFunc(c, r.isRelated) {
		return c
	}
	ways := r.solutions(c)
	if len(ways) == 0 {
		return c
	}
	known := ways[0]
	for _, w := range ways[1:] {
		for v, text := range known {
			if other, ok := w[v]; !ok || other != text {
				delete(known, v)
			}
		}
	}
	return r.in(c, known)
}

// in is c with the unknowns that are known, and without those of its terms which say nothing more.
func (r *Relations) in(c Condition, values assignment) Condition {
	var out Condition
	for _, t := range c {
		if _, all := r.text(t.Dimension, values); !r.isRelated(t) || !all {
			out = append(out, t)
		}
	}
	out = append(out, r.asked(values)...)
	sortTerms(out)
	return out
}

// SettledOf is the condition of a number, settled.
func (r *Relations) SettledOf(number int, c Condition) Condition {
	out, ok := r.conditions[number]
	if !ok {
		out = r.Settled(c)
		r.conditions[number] = out
	}
	return out
}

// IsOpen tells whether a dimension of a settled condition may follow from others.
func (r *Relations) IsOpen(dim int) bool { return r.IsNamed(dim) && r.related[dim] }

// Undecided finds two dimensions of c that depend on one variable in different ways, of which one is computed by more
// than text around variables. What Ways adds to c makes no difference.
func (r *Relations) Undecided(c Condition) (computed, other int, ok bool) {
	for _, t := range c {
		for _, p := range r.templates[t.Dimension] {
			if !r.IsNamed(t.Dimension) || !isUnknown(p) || !r.unknowns[p.unknown].computed {
				continue
			}
			i := slices.IndexFunc(c, func(u Term) bool {
				return u.Dimension != t.Dimension && r.mentions(u.Dimension, p.unknown)
			})
			if i >= 0 {
				return t.Dimension, c[i].Dimension, true
			}
		}
	}
	return 0, 0, false
}

// mentions tells whether a variable of unknown n occurs in another unknown of a dimension of the site.
func (r *Relations) mentions(dim, n int) bool {
	return r.IsNamed(dim) && slices.ContainsFunc(r.templates[dim], func(p part) bool {
		return isUnknown(p) && p.unknown != n && slices.ContainsFunc(r.unknowns[p.unknown].mentions,
			func(name string) bool { return slices.Contains(r.unknowns[n].mentions, name) })
	})
}

// Case is a way in which a condition can hold. What else holds is the same for all requests in which it does so.
type Case struct {
	Condition // settled: in a form for an index
	original  Condition
	way       assignment
}

// Cases are the ways in which c can hold; none where it never does. Of what cannot be decided there is one, in which
// only what is known holds.
func (r *Relations) Cases(c Condition) []Case {
	if !slices.ContainsFunc(c, r.isRelated) {
		return []Case{{Condition: c, original: c}}
	}
	var out []Case
	for _, w := range r.solutions(c) {
		out = append(out, Case{r.in(c, w), c, w})
	}
	return out
}

// Holds tells whether c holds in a case. What cannot be decided does not.
func (r *Relations) Holds(c Condition, in Case) bool {
	return !slices.ContainsFunc(c, func(t Term) bool {
		return !slices.Contains(in.original, t) && !(r.isRelated(t) && r.holds(t, in.original, in.way))
	})
}
