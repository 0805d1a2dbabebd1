package check

import (
	"iter"
	"slices"
	"strings"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/loader"
)

// keyIndex finds, for one key, the candidates that can be effective together. It sorts them into groups when it is
// first asked.
type keyIndex struct {
	*pass.Env
	name    string
	renamed bool              // the key has another name somewhere
	all     []place.Candidate // highest rank first
	groups  []*group
}

// group is the candidates whose settled conditions name the same dimensions.
type group struct {
	dims    []int
	members []settledCandidate
	// projected has the members by the values that they have for some of the dimensions, by these dimensions.
	projected map[string]map[string][]int
}

// settledCandidate is a candidate, by its index in keyIndex.all, and its settled condition.
type settledCandidate struct {
	candidate int
	terms     loader.Condition
}

// terms returns the condition of candidate i.
func (k *keyIndex) terms(i int) loader.Condition { return k.Site.Conditions[k.all[i].Condition] }

// group returns the groups of the candidates.
func (k *keyIndex) group() []*group {
	if k.groups != nil {
		return k.groups
	}
	byDims := map[string]*group{}
	for i := range k.all {
		terms := k.Relations.SettledOf(k.all[i].Condition, k.terms(i))
		dims := place.DimsOf(terms)
		key := string(place.AppendDims(nil, dims))
		g := byDims[key]
		if g == nil {
			g = &group{dims: dims, projected: map[string]map[string][]int{}}
			byDims[key] = g
			k.groups = append(k.groups, g)
		}
		g.members = append(g.members, settledCandidate{i, terms})
	}
	return k.groups
}

// compatible ranges over the candidates above rank that can be effective together with terms.
func (k *keyIndex) compatible(terms loader.Condition, rank int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for list := range k.near(terms, false) {
			for _, i := range list {
				if k.all[i].Rank >= rank || !k.Effort.Spend(1) {
					break
				}
				if k.Relations.Together(terms, k.terms(i)) && !yield(i) {
					return
				}
			}
		}
	}
}

// implied ranges over the candidates above rank that are effective whenever terms hold.
func (k *keyIndex) implied(terms loader.Condition, rank int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for list := range k.near(terms, true) {
			for _, i := range list {
				if k.all[i].Rank >= rank || !k.Effort.Spend(1) {
					break
				}
				if k.Relations.Implies(terms, k.terms(i)) && !yield(i) {
					return
				}
			}
		}
	}
}

// near ranges over the candidates that have the same value as terms for each dimension that both name. With implied, it
// leaves out the candidates that name other dimensions too. It yields lists, each with the highest rank first.
func (k *keyIndex) near(terms loader.Condition, implied bool) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		terms := k.Relations.Settled(terms)
		for _, g := range k.group() {
			if !k.Effort.Spend(len(g.dims) + 1) {
				return
			}
			shared := sharedDims(g.dims, terms)
			other := func(d int) bool { return !slices.Contains(shared, d) && !k.Relations.IsOpen(d) }
			if implied && slices.ContainsFunc(g.dims, other) {
				continue
			}
			if list := k.project(g, shared)[projection(terms, shared)]; len(list) > 0 && !yield(list) {
				return
			}
		}
	}
}

// project returns the members of a group by the values that they have for some of its dimensions, see projection.
func (k *keyIndex) project(g *group, shared []int) map[string][]int {
	key := string(place.AppendDims(nil, shared))
	m := g.projected[key]
	if m == nil {
		if !k.Effort.Spend(4 * len(g.members)) {
			return nil
		}
		m = map[string][]int{}
		for _, c := range g.members {
			p := projection(c.terms, shared)
			m[p] = append(m[p], c.candidate)
		}
		g.projected[key] = m
	}
	return m
}

// sharedDims returns those of dims that terms name.
func sharedDims(dims []int, terms loader.Condition) []int {
	var out []int
	for _, t := range terms {
		if slices.Contains(dims, t.Dimension) {
			out = append(out, t.Dimension)
		}
	}
	return out
}

// projection returns the values of terms for some dimensions as one text.
func projection(terms loader.Condition, dims []int) string {
	var b strings.Builder
	for _, t := range terms {
		if slices.Contains(dims, t.Dimension) {
			b.WriteString(t.Value)
			b.WriteByte(0)
		}
	}
	return b.String()
}

// hidden reports whether a candidate above rank is effective whenever terms hold, so that no lookup continues below it.
// A lookup by a new name begins below the rename. So only candidates below the rename can hide anything from it.
func (k *keyIndex) hidden(rank int, terms loader.Condition) bool {
	from := k.erasedAbove(rank, terms)
	for j := range k.implied(terms, rank) {
		if k.all[j].Rank > from && k.all[j].Final() {
			return true
		}
	}
	return false
}

// erasedAbove returns the lowest rank above rank at which the key may be renamed where terms hold, or -1.
func (k *keyIndex) erasedAbove(rank int, terms loader.Condition) int {
	out := -1
	if !k.renamed {
		return out
	}
	for j := range k.compatible(terms, rank) {
		if k.all[j].Erases() {
			out = max(out, k.all[j].Rank)
		}
	}
	return out
}

// neverWins reports whether candidate i is never effective, or is hidden whenever it is.
func (k *keyIndex) neverWins(i int) bool {
	return !k.Relations.Possible(k.terms(i)) || k.hidden(k.all[i].Rank, k.terms(i))
}
