package relation

import "slices"

// Ways splits c into conditions that exclude each other: whenever c holds, exactly one of them does. If there are
// several, they have additional terms for the values of unknowns, on dimensions for which IsNamed is false. If c never
// holds, ways is empty. all is false if a term was not split, because it can hold in too many ways.
func (r *Relations) Ways(c Condition) (ways []Condition, all bool) {
	if !slices.ContainsFunc(c, r.isRelated) {
		return []Condition{c}, true
	}
	found, all := r.solve(c)
	if len(found) == 1 {
		return []Condition{c}, all
	}
	for _, w := range found {
		ways = append(ways, Union(c, r.termsOf(w)))
	}
	return ways, all
}

func (r *Relations) termsOf(w assignment) Condition {
	var out Condition
	for v, text := range w {
		out = append(out, Term{Dimension: r.named + v, Value: text})
	}
	return out
}

// IsNamed reports whether a dimension belongs to the site. Otherwise it is an unknown.
func (r *Relations) IsNamed(dim int) bool { return dim < r.named }

// Settled returns c in a normal form for use in an index. It replaces terms of related dimensions by terms for the
// unknowns that they determine, if this loses no information. If a condition implies another, its settled form has all
// unknowns of the other's.
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
	return r.withKnown(c, known)
}

// withKnown returns c with terms for the unknowns in values, and without terms that follow from these.
func (r *Relations) withKnown(c Condition, values assignment) Condition {
	var out Condition
	for _, t := range c {
		if _, all := r.text(t.Dimension, values); !r.isRelated(t) || !all {
			out = append(out, t)
		}
	}
	out = append(out, r.termsOf(values)...)
	sortTerms(out)
	return out
}

// SettledOf returns Settled(c). It caches the result by the number of the condition.
func (r *Relations) SettledOf(number int, c Condition) Condition {
	out, ok := r.conditions[number]
	if !ok {
		out = r.Settled(c)
		r.conditions[number] = out
	}
	return out
}

// IsOpen reports whether a term for dim in a settled condition may follow from other terms.
func (r *Relations) IsOpen(dim int) bool { return r.IsNamed(dim) && r.related[dim] }

// Undecided returns two dimensions of c, at least one of them computed, that depend on a common variable in different
// ways. It ignores the terms added by Ways.
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

// mentions reports whether dim, a dimension of the site, has another unknown with a variable of unknown n.
func (r *Relations) mentions(dim, n int) bool {
	return r.IsNamed(dim) && slices.ContainsFunc(r.templates[dim], func(p part) bool {
		return isUnknown(p) && p.unknown != n && slices.ContainsFunc(r.unknowns[p.unknown].mentions,
			func(name string) bool { return slices.Contains(r.unknowns[n].mentions, name) })
	})
}

// Case is one way in which a condition can hold. For all requests of a case, the same other conditions hold.
type Case struct {
	Condition // a condition that Settled returned
	original  Condition
	way       assignment
}

// Cases returns the ways in which c can hold, or none if c never holds. If they cannot be determined, it returns one
// case with the known variables.
func (r *Relations) Cases(c Condition) []Case {
	if !slices.ContainsFunc(c, r.isRelated) {
		return []Case{{Condition: c, original: c}}
	}
	var out []Case
	for _, w := range r.solutions(c) {
		out = append(out, Case{r.withKnown(c, w), c, w})
	}
	return out
}

// Holds reports whether c holds in a case. If this cannot be decided, it returns false.
func (r *Relations) Holds(c Condition, in Case) bool {
	return !slices.ContainsFunc(c, func(t Term) bool {
		return !slices.Contains(in.original, t) && !(r.isRelated(t) && r.holds(t, in.original, in.way))
	})
}
