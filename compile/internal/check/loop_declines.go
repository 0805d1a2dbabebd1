package check

import (
	"errors"
	"slices"
	"strings"

	"bindc/compile/internal/index"
	"bindc/compile/internal/place"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// declines reports whether cand certainly declines in the plain requests of terms (see loopFinder). It returns false
// if the value depends on a fact. The keys in path led to cand.
func (f *loopFinder) declines(cand *place.Candidate, terms loader.Condition, path []uint32) bool {
	r := cand.Computed()
	if r == nil || !r.Declines() || !f.Effort.Spend(1+len(path)) {
		return false
	}
	needs := f.needsOf(r)
	for _, key := range needs.below {
		c, decided := f.answer(key, terms, cand.Rank, path)
		return decided && c == nil
	}
	for _, a := range needs.tried {
		if slices.Contains(path, a.key) {
			return false
		}
		c, decided := f.answer(a.key, terms, -1, append(path, a.key))
		if !decided || c != nil && (r.Kind == recipe.AliasOf || !f.isUndefFor(c, a)) {
			return false
		}
	}
	switch r.Kind {
	case recipe.Expression:
		return f.isUndef(r, terms, path)
	case recipe.Custom:
		return false
	}
	return true
}

// answer returns the candidate that provides the value of key in the plain requests of terms, or nil if there is none.
// It ignores candidates that are not below the given rank. decided is false if it is unknown which candidate provides
// the value. The keys in path led to this key.
func (f *loopFinder) answer(key uint32, terms loader.Condition, below int, path []uint32) (found *place.Candidate,
	decided bool) {

	k := f.indexes[key]
	if k == nil {
		return nil, false
	}
	certain, possible := k.split(terms, below)
	last := index.NoRank
	for _, cand := range certain {
		if !f.declines(cand, terms, path) {
			found, last = cand, cand.Rank
			break
		}
	}
	for _, cand := range possible {
		if _, _, open := f.Relations.Undecided(f.together(terms, cand)); open && cand.Rank < last {
			return nil, false
		}
	}
	if found != nil && found.Erases() {
		found = nil
	}
	return found, true
}

// undefSteps limits the evaluation steps of an expression in isUndef.
const undefSteps = 1000

// isUndef reports whether the expression r is certainly undef in the plain requests of terms that set no facts. Even
// these requests set well-known facts and the variables that determine categories, so isUndef returns false for an
// expression that reads such a variable. All expressions are evaluated for the same requests, so their results are
// consistent.
func (f *loopFinder) isUndef(r *recipe.Recipe, terms loader.Condition, path []uint32) bool {
	if undef, ok := f.undef[r]; ok {
		return undef
	}
	free := !f.Strict // with strict variables, an unset variable is an error
	r.Expr.Variables(func(name string) { free = free && !f.deciding[name] && !syntax.WellKnown(name) })
	env := factless{f, terms, path, new(bool)}
	v, err := expr.Eval(r.Expr, env, expr.Options{Functions: stdlib.Functions, Steps: undefSteps})
	undef := free && err == nil && v.IsUndef()
	if !*env.looked {
		f.undef[r] = undef
	}
	return undef
}

// factless is the expr.Env of requests without facts.
type factless struct {
	*loopFinder
	terms  loader.Condition
	path   []uint32
	looked *bool // set when the expression looks up a key
}

func (factless) Variable(string) (value.Value, bool) { return value.Value{}, false }

var errUndecided = errors.New("the value of a looked-up key is unknown at this point")

func (s factless) Lookup(key string, t *types.Type) (v value.Value, found bool, err error) {
	*s.looked = true
	answer, decided := s.answering(key)
	if decided && answer == nil {
		return v, false, nil
	}
	if decided {
		var constant bool
		v, constant = s.Constant(answer.Value)
		decided = constant && t.Check(v) == nil // a value of the wrong type is an error
	}
	if !decided {
		err = errUndecided
	}
	return v, true, err
}

// answering is answer for a key given by name. The result is undecided if the key is dotted, or if it is on the path.
func (s factless) answering(key string) (found *place.Candidate, decided bool) {
	number, bound := s.Find(key)
	switch {
	case strings.Contains(key, "."):
		return nil, false
	case !bound:
		return nil, true
	case slices.Contains(s.path, number):
		return nil, false
	}
	return s.answer(number, s.terms, -1, append(s.path, number))
}
