package place

import (
	"testing"

	"bindc/loader"
)

// Lists of categories are compared element by element. A list that continues another one is higher. Guards do not
// count. A higher layer is always higher.
func TestRankConditionsComparesCategoriesInOrder(t *testing.T) {
	const node, osfamily, guard = 0, 1, 2
	site := &loader.Site{
		Dimensions: []loader.Dimension{{Category: node}, {Category: osfamily}, {Category: -1, Guard: true}},
		Conditions: []loader.Condition{
			nil,
			{{Dimension: osfamily, Value: "debian"}},
			{{Dimension: node, Value: "n"}},
			{{Dimension: node, Value: "n"}, {Dimension: osfamily, Value: "debian"}},
			{{Dimension: osfamily, Value: "redhat"}, {Dimension: guard, Value: "g"}},
			{{Dimension: guard, Value: "g"}},
		},
	}
	ranks := RankConditions(site)
	for condition, want := range []int{3, 2, 1, 0, 2, 3} {
		if got := ranks.Rank(0, condition); got != want {
			t.Errorf("condition %v has rank %d, want %d", site.Conditions[condition], got, want)
		}
		if low := ranks.Rank(1, condition); low != want+4 {
			t.Errorf("in the second layer condition %v has rank %d, want %d", site.Conditions[condition], low, want+4)
		}
	}
	if a, b := ranks.ShapeOf[1], ranks.ShapeOf[4]; a == b {
		t.Error("a condition with a guard has the shape of the one without")
	}
}
