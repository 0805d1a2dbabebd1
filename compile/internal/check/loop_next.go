package check

import (
	"strings"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
	"bindc/internal/recipe"
)

// next returns the candidates that a binding needs in the plain requests of a condition. It schedules those that the
// binding needs in other requests of the condition.
func (f *loopFinder) next(v visit) []*place.Candidate {
	n := f.needsOfCandidate(v.cand)
	var out []*place.Candidate
	for _, key := range n.keys {
		found, _ := f.descend(v, f.indexes[key], -1)
		out = append(out, found...)
	}
	for _, key := range n.below {
		found, _ := f.descend(v, f.indexes[key], v.cand.Rank)
		out = append(out, found...)
	}
	out = append(out, f.nextTried(v, n.tried)...)
	if n.collects == nil {
		return out
	}
	id := strings.TrimPrefix(n.collects.Name, recipe.ContributionKey(""))
	if !f.Multibinds.Renamed[id] {
		for _, k := range f.partsOf(id) {
			out = append(out, f.nextPart(v, k, takesOne(n.collects.Options, k.name != ""))...)
		}
	}
	return out
}

// nextTried returns the candidates of targets that are tried, up to the first target that is certain to have a value.
func (f *loopFinder) nextTried(v visit, tried []attempt) (out []*place.Candidate) {
	for _, a := range tried {
		found, decided := f.descend(v, f.indexes[a.key], -1)
		out = append(out, found...)
		f.enqueueUndef(v, a)
		if !decided || len(found) > 0 && !f.isUndefFor(found[len(found)-1], a) &&
			!f.declines(found[len(found)-1], f.conditions.list[v.condition], nil) {
			break
		}
	}
	return out
}

// takesOne reports whether only the first of several contributions of one name, or without a name, is produced.
func takesOne(o *recipe.Options, named bool) bool {
	return decides(o, named) || o.Resolution == recipe.Ignore
}

// nextPart returns the contributions of one name that are effective in the plain requests of v. With single, it returns
// only the one that wins, or none if that cannot be decided. It schedules those that are effective in other requests.
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

// descend returns the candidates of k below a rank that a lookup reaches in the plain requests of
// v: the one with the value, and those above it that decline. It schedules those that are effective
// in other requests of v. decided is false if the one with the value is unknown.
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

// enqueueDeclining schedules v in the requests in which a candidate that it reached declines.
func (f *loopFinder) enqueueDeclining(v visit, cand *place.Candidate) {
	r := cand.Computed()
	if r == nil || !r.Declines() {
		return
	}
	for _, a := range f.needsOf(r).tried {
		f.enqueueUndef(v, a)
	}
}
