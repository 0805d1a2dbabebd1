package check

import (
	"math/rand/v2"
	"slices"
	"testing"

	"bindc/compile/internal/index"
	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/internal/syntax"
	"bindc/loader"
)

// related has dimensions as in the tests of internal/relation.
var related = []struct{ name, template string }{
	{"a", "${a}"}, {"ab", "${a}-${b}"}, {"b", "${::b}"}, {"xa", "x-${a}"}, {"loud", "${upcase($a)}"},
	{"guard", "${b}/${a}"}, {"free", "${b}"}, {"fixed", "text"}, {"fact", "${facts['a']['x']}"}, {"far", "${c}"},
	{"node", "${fqdn}"}, {"path", "${fqdn}/${c}"}, {"louder", "${upcase($a)}-${b}"}, {"again", "${ upcase($a) }"},
}

// The index must find the same candidates as a comparison with each of them.
func TestKeyIndexFindsSameCandidatesAsComparison(t *testing.T) {
	var dims []loader.Dimension
	for i, d := range related {
		n, errs := syntax.ParseString(d.template)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		dims = append(dims, loader.Dimension{Name: d.name, Category: i, Value: n})
	}
	dims[5].Guard, dims[5].Category, dims[6].Guard, dims[6].Category = true, 0, true, -1
	r := pass.NewEnv(&loader.Site{Dimensions: dims}, false, 1<<25, nil).Relations
	random := rand.New(rand.NewPCG(1, 2))
	values := map[string][]string{"ab": {"x-y", "y-x", "x-y-z", "-x"}, "xa": {"x-x", "x-y", "y"},
		"guard": {"y/x", "x/", "x/y"},
		"fixed": {"text", "other"}, "path": {"x/y", "x/y/z", "/x"}, "louder": {"x-y", "x-x-y"}, "mixed": {"x-y", "x-x"},
		"folded": {"tx", "x"}}
	for round := range 60 {
		conditions := []loader.Condition{nil}
		for range 25 {
			var c loader.Condition
			for d := range dims {
				if random.IntN(len(dims)) > 1 {
					continue
				}
				of := values[related[d].name]
				if of == nil {
					of = []string{"x", "y"}
				}
				c = append(c, loader.Term{Dimension: d, Value: of[random.IntN(len(of))]})
			}
			conditions = append(conditions, c)
		}
		k := &keyIndex{Env: pass.NewEnv(&loader.Site{Dimensions: dims, Conditions: conditions}, false, 1<<25, nil)}
		for i := range conditions {
			k.all = append(k.all, place.Candidate{Condition: i, Rank: i / 2})
		}
		for range k.compatible(nil, index.NoRank) {
			break // callers may stop early
		}
		for range k.implied(conditions[1], index.NoRank) {
			break
		}
		for _, c := range conditions {
			rank := random.IntN(len(conditions))
			var together, implied []int
			for i := range k.all {
				if k.all[i].Rank < rank && r.Together(c, k.terms(i)) {
					together = append(together, i)
				}
				if k.all[i].Rank < rank && r.Implies(c, k.terms(i)) {
					implied = append(implied, i)
				}
			}
			if got := slices.Sorted(k.compatible(c, rank)); !slices.Equal(got, together) {
				t.Fatalf("round %d: with %v hold %v, want %v", round, c, got, together)
			}
			if !r.Possible(c) {
				continue // an impossible condition implies everything
			}
			if got := slices.Sorted(k.implied(c, rank)); !slices.Equal(got, implied) {
				t.Fatalf("round %d: %v implies %v, want %v", round, c, got, implied)
			}
		}
	}
}
