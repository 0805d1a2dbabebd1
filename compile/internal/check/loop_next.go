package check

import (
	"strings"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
	"bindc/internal/recipe"
)

// next returns the candidates that v needs. It also schedules candidates that v needs only in some requests of the
// condition.
func (f *loopFinder) next(v visit) []*place.Candidate {
	n := f.graph.ofCandidate(v.cand)
	var out []*place.Candidate
	for _, key := range n.keys {
		found, _ := f.descend(v, f.indexes.of[key], -1)
		out = append(out, found...)
	}
	for _, key := range n.below {
		found, _ := f.descend(v, f.indexes.of[key], v.cand.Rank)
		out = append(out, found...)
	}
	out = append(out, f.nextTried(v, n.tried)...)
	if n.collects == nil {
		return out
	}
	id := strings.TrimPrefix(n.collects.Name, recipe.ContributionKey(""))
	if !f.multibinds.Renamed[id] {
		for _, k := range f.partsOf(id) {
			out = append(out, f.nextPart(v, k, takesOne(n.collects.Options, k.name != ""))...)
		}
	}
	return out
}

// nextTried returns the candidates of the targets in tried. It stops at the first target that certainly has a value or
// is undecided.
func (f *loopFinder) nextTried(v visit, tried []attempt) (out []*place.Candidate) {
	for _, a := range tried {
		found, decided := f.descend(v, f.indexes.of[a.key], -1)
		out = append(out, found...)
		f.enqueueUndef(v, a)
		if !decided || len(found) > 0 && !f.isUndefFor(found[len(found)-1], a) &&
			!f.declines(found[len(found)-1], f.conditions.list[v.condition], nil) {
			break
		}
	}
	return out
}

// takesOne reports whether a multibinding uses at most one of several contributions with the same name. If named is
// false, it reports this for contributions without a name.
func takesOne(o *recipe.Options, named bool) bool {
	return decides(o, named) || o.Resolution == recipe.Ignore
}

// nextPart returns the contributions of one name that are effective in the plain requests of v. If single is set, it
// returns only the contribution that wins, or none if the winner is unknown. It schedules contributions that are
// effective in other requests.
func (f *loopFinder) nextPart(v visit, k *keyIndex, single bool) (found []*place.Candidate) {
	terms := f.conditions.list[v.condition]
	var possible []*place.Candidate
	for i := range k.compatible(terms, index.NoRank) {
		cand := &k.all[i]
		switch {
		case !k.Relations.Implies(terms, k.terms(i)):
			possible = append(possible, cand)
		case !single || len(found) == 0:
			found = append(found, cand)
		case cand.Beats(found[0]):
			found[0] = cand
		}
	}
	decided := true
	for _, cand := range possible {
		if single && len(found) > 0 && !cand.Beats(found[0]) {
			continue
		}
		decided = f.enqueueFurther(cand, terms) && decided
	}
	if single && !decided {
		return nil
	}
	return found
}

// descend returns the candidates below a rank that a lookup of k reaches in the plain requests of v. These are the
// candidate that provides the value, and the candidates above it that decline. descend schedules candidates that are
// effective in other requests. decided is false if it is unknown which candidate provides the value.
func (f *loopFinder) descend(v visit, k *keyIndex, below int) (found []*place.Candidate, decided bool) {
	terms := f.conditions.list[v.condition]
	certain, possible := k.split(terms, below)
	last := index.NoRank
	for _, cand := range certain {
		last = cand.Rank
		if cand.Erases() {
			break
		}
		found = append(found, cand)
		if !f.declines(cand, terms, nil) {
			f.enqueueDeclining(v, cand)
			break
		}
		last = index.NoRank
	}
	decided = true
	for _, cand := range possible {
		if cand.Rank < last {
			decided = f.enqueueFurther(cand, terms) && decided
		}
	}
	if !decided {
		found = nil
	}
	return found, decided
}
