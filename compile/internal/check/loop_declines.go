package check

import (
	"errors"
	"slices"
	"strings"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/relation"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// plainRequests finds the bindings that provide values in the plain requests of a condition (see loopFinder).
type plainRequests struct {
	*pass.Env
	values   *place.Tables
	indexes  keyIndexes
	undef    map[*recipe.Recipe]bool // results of isUndef for expressions without lookups
	deciding map[string]bool         // see decidingVariables
}

// decidingVariables returns the variables that categories and guards use.
func decidingVariables(site *loader.Site) map[string]bool {
	out := map[string]bool{}
	for _, d := range site.Dimensions {
		d.Value.Variables(func(name string) { out[name] = true })
	}
	return out
}

// declines reports whether cand certainly declines in the plain requests of terms (see loopFinder). It returns false
// if the value depends on a fact. The keys in path led to cand.
func (p *plainRequests) declines(cand *place.Candidate, terms loader.Condition, path []uint32) bool {
	r := cand.Computed()
	if r == nil || !r.Declines() || !p.Effort.Spend(1+len(path)) {
		return false
	}
	needs := needsOf(r, p.indexes.names)
	for _, key := range needs.below {
		c, decided := p.answer(key, terms, cand.Rank, path)
		return decided && c == nil
	}
	for _, a := range needs.tried {
		if slices.Contains(path, a.key) {
			return false
		}
		c, decided := p.answer(a.key, terms, -1, append(path, a.key))
		if !decided || c != nil && (r.Kind == recipe.AliasOf || !p.isUndefFor(c, a)) {
			return false
		}
	}
	switch r.Kind {
	case recipe.Expression:
		return p.isUndef(r, terms, path)
	case recipe.Custom:
		return false
	}
	return true
}

// answer returns the candidate that provides the value of key in the plain requests of terms, or nil if there is none.
// It ignores candidates that are not below the given rank. decided is false if it is unknown which candidate provides
// the value. The keys in path led to this key.
func (p *plainRequests) answer(key uint32, terms loader.Condition, below int, path []uint32) (found *place.Candidate,
	decided bool) {

	k := p.indexes.of[key]
	if k == nil {
		return nil, false
	}
	certain, possible := k.split(terms, below)
	last := index.NoRank
	for _, cand := range certain {
		if !p.declines(cand, terms, path) {
			found, last = cand, cand.Rank
			break
		}
	}
	for _, cand := range possible {
		if _, _, open := p.Relations.Undecided(p.together(terms, cand)); open && cand.Rank < last {
			return nil, false
		}
	}
	if found != nil && found.Erases() {
		found = nil
	}
	return found, true
}

// isUndefFor reports whether cand is undef and the target of a accepts undef, so that the next target is tried.
func (p *plainRequests) isUndefFor(cand *place.Candidate, a attempt) bool {
	undef := value.Value{}
	return p.values.Values[cand.Value] == string(recipe.AppendConstant(nil, undef)) && a.target.Type.Check(undef) == nil
}

func (p *plainRequests) together(terms loader.Condition, cand *place.Candidate) loader.Condition {
	return relation.Union(terms, p.Site.Conditions[cand.Condition])
}

// undefSteps limits the evaluation steps of an expression in isUndef.
const undefSteps = 1000

// isUndef reports whether the expression r is certainly undef in the plain requests of terms that set no facts. Even
// these requests set well-known facts and the variables that determine categories, so isUndef returns false for an
// expression that reads such a variable. All expressions are evaluated for the same requests, so their results are
// consistent.
func (p *plainRequests) isUndef(r *recipe.Recipe, terms loader.Condition, path []uint32) bool {
	if undef, ok := p.undef[r]; ok {
		return undef
	}
	free := !p.Strict // with strict variables, an unset variable is an error
	r.Expr.Variables(func(name string) { free = free && !p.deciding[name] && !syntax.WellKnown(name) })
	env := factless{p, terms, path, new(bool)}
	v, err := expr.Eval(r.Expr, env, expr.Options{Functions: stdlib.Functions, Steps: undefSteps})
	undef := free && err == nil && v.IsUndef()
	if !*env.looked {
		p.undef[r] = undef
	}
	return undef
}

// factless is the expr.Env of requests without facts.
type factless struct {
	*plainRequests
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
		v, constant = s.values.Constant(answer.Value)
		decided = constant && t.Check(v) == nil // a value of the wrong type is an error
	}
	if !decided {
		err = errUndecided
	}
	return v, true, err
}

// answering is answer for a key given by name. The result is undecided if the key is dotted, or if it is on the path.
func (s factless) answering(key string) (found *place.Candidate, decided bool) {
	number, bound := s.indexes.names.Find(key)
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
