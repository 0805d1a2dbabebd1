package compile

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"bindc/internal/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// descend finds the candidates of k below a rank that a lookup comes to in the plain requests of v: the one that
// answers, and those above it that decline. Those that are effective in other requests of v are queued. Not known: what
// answers cannot be decided.
func (f *loopFinder) descend(v visit, k *keyIndex, below int) (found []*candidate, known bool) {
	terms := f.conditions[v.condition]
	sure, further := k.split(terms, below)
	last := noRank
	for _, cand := range sure {
		last = cand.rank
		if cand.erases() {
			break
		}
		found = append(found, cand)
		if !f.declines(cand, terms, nil) {
			f.wait(v, cand)
			break
		}
		last = noRank
	}
	known = true
	for _, cand := range further {
		if cand.rank >= last {
			continue
		}
		if _, _, open := f.relations.Undecided(f.with(terms, cand)); open {
			known = false
		} else {
			f.enqueue(cand, f.with(terms, cand))
		}
	}
	if !known {
		found = nil
	}
	return found, known
}

// split is the candidates below a rank that are effective in the plain requests of terms, highest first, and those that
// are so in others.
func (k *keyIndex) split(terms loader.Condition, below int) (sure, further []*candidate) {
	for i := range k.compatible(terms, noRank) {
		switch cand := &k.all[i]; {
		case cand.rank <= below:
		case k.relations.Implies(terms, k.terms(i)):
			sure = append(sure, cand)
		default:
			further = append(further, cand)
		}
	}
	slices.SortStableFunc(sure, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.place, b.place))
	})
	return sure, further
}

// wait queues v for the requests in which a candidate that it came to declines.
func (f *loopFinder) wait(v visit, cand *candidate) {
	r := cand.computed()
	if r == nil || !r.Declines() {
		return
	}
	for _, a := range f.recipeNeeds(r).tried {
		f.pass(v, a)
	}
}

// declines tells whether a candidate is known to decline in the plain requests of terms. Of what hangs on
// the value of a fact it is taken that it does not. path is the keys that led to it.
func (f *loopFinder) declines(cand *candidate, terms loader.Condition, path []uint32) bool {
	r := cand.computed()
	if r == nil || !r.Declines() || !f.effort.spend(1+len(path)) {
		return false
	}
	needs := f.recipeNeeds(r)
	for _, key := range needs.below {
		c, known := f.answer(key, terms, cand.rank, path)
		return known && c == nil
	}
	for _, a := range needs.tried {
		if slices.Contains(path, a.key) {
			return false
		}
		c, known := f.answer(a.key, terms, -1, append(path, a.key))
		if !known || c != nil && (r.Kind == recipe.AliasOf || !f.isPassed(c, a)) {
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

// undefSteps is how many nodes of an expression are evaluated to see whether it is undef.
const undefSteps = 1000

// isUndef tells whether an expression is known to be undef in those of the plain requests of terms that have no facts
// but well-known ones, which others may be derived from, and those that decide categories. Each condition has such
// requests, and all expressions are asked about the same ones, so that what is followed behind several is met in one.
// No candidate that needs something is passed over for it: one that declines leaves to others what it would else answer
// itself.
func (f *loopFinder) isUndef(r *recipe.Recipe, terms loader.Condition, path []uint32) bool {
	if undef, known := f.undef[r]; known {
		return undef
	}
	free := !f.opts.StrictVariables // or else it is an error
	r.Expr.Variables(func(name string) { free = free && !f.deciding[name] && !syntax.WellKnown(name) })
	e := factless{f, terms, path, new(bool)}
	v, err := expr.Eval(r.Expr, e, expr.Options{Functions: stdlib.Functions, Steps: undefSteps})
	undef := free && err == nil && v.IsUndef()
	if !*e.looked {
		f.undef[r] = undef
	}
	return undef
}

// deciding is the variables on which it depends what a category is.
func (c *composer) deciding() map[string]bool {
	out := map[string]bool{}
	for _, d := range c.site.Dimensions {
		d.Value.Variables(func(name string) { out[name] = true })
	}
	return out
}

// factless is what an expression of facts that are free to be missing knows where they are.
type factless struct {
	*loopFinder
	terms  loader.Condition
	path   []uint32
	looked *bool // something was looked up
}

func (factless) Variable(string) (value.Value, bool) { return value.Value{}, false }

var errNotKnown = errors.New("what a key is here is not known")

func (e factless) Lookup(key string, t *types.Type) (v value.Value, found bool, err error) {
	*e.looked = true
	answer, known := e.bound(key)
	if known && answer == nil {
		return v, false, nil
	}
	if known {
		c := e.constant(answer.value, diag.Pos{})
		v, known = c.v, c.known && t.Check(c.v) == nil // or else it is rather an error
	}
	if !known {
		err = errNotKnown
	}
	return v, true, err
}

// bound is the candidate of a key that answers, as answer has it.
func (e factless) bound(key string) (found *candidate, known bool) {
	number, bound := e.keyNumber(key)
	switch {
	case strings.Contains(key, "."):
		return nil, false
	case !bound:
		return nil, true
	case slices.Contains(e.path, number):
		return nil, false
	}
	return e.answer(number, e.terms, -1, append(e.path, number))
}

// answer is the candidate of a key below a rank that answers in the plain requests of terms; nil if none does. path is
// the keys that led to it.
func (f *loopFinder) answer(key uint32, terms loader.Condition, below int, path []uint32) (found *candidate,
	known bool) {

	k := f.indexes[key]
	if k == nil {
		return nil, false
	}
	sure, further := k.split(terms, below)
	last := noRank
	for _, cand := range sure {
		if !f.declines(cand, terms, path) {
			found, last = cand, cand.rank
			break
		}
	}
	for _, cand := range further {
		if _, _, open := f.relations.Undecided(f.with(terms, cand)); open && cand.rank < last {
			return nil, false
		}
	}
	if found != nil && found.erases() {
		found = nil
	}
	return found, true
}
