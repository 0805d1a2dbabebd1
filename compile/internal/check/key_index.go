package check

import (
	"iter"
	"slices"
	"strings"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/loader"
)

// keyIndex finds the candidates of a key that can be effective together. It groups them on first use.
type keyIndex struct {
	*pass.Env
	name    string
	renamed bool              // a rename gives the key another name
	all     []place.Candidate // all candidates, highest rank first
	groups  []*group
}

// group holds the candidates whose settled conditions have the same dimensions.
type group struct {
	dims    []int
	members []settledCandidate
	// projected maps each subset of dims, in encoded form, to an index of the members by their values for that subset.
	projected map[string]map[string][]int
}

// settledCandidate is an index in keyIndex.all, with the candidate's settled condition.
type settledCandidate struct {
	candidate int
	terms     loader.Condition
}

func (k *keyIndex) terms(i int) loader.Condition { return k.Site.Conditions[k.all[i].Condition] }

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

// compatible returns an iterator over the candidates above rank that can be effective where terms hold. They are given
// as indexes in k.all.
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

// implied returns an iterator over the candidates above rank that are always effective where terms hold. They are
// given as indexes in k.all.
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

// near returns an iterator over lists of candidates, each with the highest rank first. A candidate has the same values
// as terms in all dimensions that both have. If implied is set, near omits candidates with further dimensions, unless
// these dimensions are open.
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

// project indexes the members of g by their values for shared, a subset of its dimensions. It returns nil if the effort
// is used up.
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

func sharedDims(dims []int, terms loader.Condition) []int {
	var out []int
	for _, t := range terms {
		if slices.Contains(dims, t.Dimension) {
			out = append(out, t.Dimension)
		}
	}
	return out
}

// projection encodes the values of terms for dims as a map key.
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

// split returns the candidates below a rank that can be effective where terms hold. The candidates in certain are
// always effective, and are sorted, highest first. The candidates in possible are effective only in some of these
// requests.
func (k *keyIndex) split(terms loader.Condition, below int) (certain, possible []*place.Candidate) {
	for i := range k.compatible(terms, index.NoRank) {
		switch cand := &k.all[i]; {
		case cand.Rank <= below:
		case k.Relations.Implies(terms, k.terms(i)):
			certain = append(certain, cand)
		default:
			possible = append(possible, cand)
		}
	}
	slices.SortStableFunc(certain, func(a, b *place.Candidate) int { return place.ByRank(*a, *b) })
	return certain, possible
}

// hidden reports whether a candidate above rank is always effective where terms hold and ends the lookup. A lookup by a
// new name begins below the rename, so only candidates below the rename can hide something from it.
func (k *keyIndex) hidden(rank int, terms loader.Condition) bool {
	from := k.erasedAbove(rank, terms)
	for j := range k.implied(terms, rank) {
		if k.all[j].Rank > from && k.all[j].Final() {
			return true
		}
	}
	return false
}

// erasedAbove returns the rank of the lowest rename above rank that may be effective where terms hold, or -1.
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

func (k *keyIndex) neverWins(i int) bool {
	return !k.Relations.Possible(k.terms(i)) || k.hidden(k.all[i].Rank, k.terms(i))
}
