package compile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"bindc/internal/syntax"
	"bindc/loader"
)

// related are some dimensions of those that internal/relation is tested with, the guards at the same places.
var related = []struct{ name, template string }{
	{"a", "${a}"}, {"ab", "${a}-${b}"}, {"b", "${::b}"}, {"xa", "x-${a}"}, {"loud", "${upcase($a)}"},
	{"guard", "${b}/${a}"}, {"free", "${b}"}, {"fixed", "text"}, {"fact", "${facts['a']['x']}"}, {"far", "${c}"},
	{"node", "${fqdn}"}, {"path", "${fqdn}/${c}"}, {"louder", "${upcase($a)}-${b}"}, {"again", "${ upcase($a) }"},
}

// An index of many conditions finds those that a comparison with each finds, from the highest rank on.
func TestTheIndexFindsWhatAComparisonFinds(t *testing.T) {
	var dims []loader.Dimension
	for i, d := range related {
		n, errs := syntax.ParseString(d.template)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		dims = append(dims, loader.Dimension{Name: d.name, Category: i, Value: n})
	}
	dims[5].Guard, dims[5].Category, dims[6].Guard, dims[6].Category = true, 0, true, -1
	r := relationsOf(dims, newEffort(0))
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
		k := &keyIndex{env: &env{site: &loader.Site{Dimensions: dims, Conditions: conditions},
			relations: relationsOf(dims, newEffort(0)), effort: newEffort(0)}}
		for i := range conditions {
			k.all = append(k.all, candidate{condition: i, rank: i / 2})
		}
		for range k.compatible(nil, noRank) {
			break // as who looks for one does
		}
		for range k.implied(conditions[1], noRank) {
			break
		}
		for _, c := range conditions {
			rank := random.IntN(len(conditions))
			var together, implied []int
			for i := range k.all {
				if k.all[i].rank < rank && r.Together(c, k.terms(i)) {
					together = append(together, i)
				}
				if k.all[i].rank < rank && r.Implies(c, k.terms(i)) {
					implied = append(implied, i)
				}
			}
			if got := slices.Sorted(k.compatible(c, rank)); !slices.Equal(got, together) {
				t.Fatalf("round %d: with %v hold %v, want %v", round, c, got, together)
			}
			if !r.Possible(c) {
				continue // everything follows
			}
			if got := slices.Sorted(k.implied(c, rank)); !slices.Equal(got, implied) {
				t.Fatalf("round %d: %v implies %v, want %v", round, c, got, implied)
			}
		}
	}
}

// Of a dimension that compares exactly it is not known what others over the same variable are where it has a value:
// that is known of folded values.
func TestExactDimensionsAreRelatedToNone(t *testing.T) {
	a, errs := syntax.ParseString("${a}")
	xa, more := syntax.ParseString("x-${a}")
	if len(errs)+len(more) > 0 {
		t.Fatal(errs, more)
	}
	for exact, want := range map[bool]bool{true: true, false: false} {
		left := newEffort(0)
		r := relationsOf([]loader.Dimension{{Name: "a", Category: -1, Guard: true, Value: a, Exact: exact},
			{Name: "xa", Category: 0, Value: xa}}, left)
		both := loader.Condition{{Dimension: 0, Value: "X"}, {Dimension: 1, Value: "x-y"}}
		if got := r.Possible(both); got != want {
			t.Errorf("exact %t: that both hold is possible: %t", exact, got)
		}
		if !exact && left.left == left.limit {
			t.Error("the comparison took no effort")
		}
	}
}
