package place

import (
	"testing"

	"bindc/internal/bindingsfile"
	"bindc/internal/datafile"
	"bindc/internal/recipe"
	"bindc/loader"
)

// Placement distinguishes bindings, which are in scopes, contributions, which belong to multibindings, and aliases,
// which depend on other bindings. The total counts all of them and the entries of files.
func TestBindingsPlacesEachKindOfBinding(t *testing.T) {
	constant := &recipe.Recipe{Kind: recipe.Constant, Sensitive: true}
	file := loader.DataFile{Condition: 1}
	file.Entries = []datafile.Entry{{Key: 0, Value: 0}, {Key: 1, Value: 2}}
	site := &loader.Site{
		Dimensions: []loader.Dimension{{Category: 0}},
		Conditions: []loader.Condition{nil, {{Dimension: 0, Value: "n"}}},
		Keys:       []string{"a", "b", "alias"},
		Values:     []string{"c1", "c2", "c3"},
		Layers: []loader.Layer{{Contributions: []loader.Contribution{{
			Files: []loader.DataFile{file},
			Bindings: []loader.Binding{
				{Key: "a", When: []int{0, 1}, Number: 0, Value: 1},
				{Key: "part", When: []int{1},
					More: &bindingsfile.Compiled{Recipe: constant, In: &bindingsfile.Reference{ID: "m"}}},
				{Key: "alias", When: []int{0}, Number: 2,
					More: &bindingsfile.Compiled{Rebinds: &bindingsfile.Reference{ID: "a"}}},
			}}}}},
	}
	p := Bindings(site, RankConditions(site))
	if len(p.Scopes) != 2 || p.Scopes[0].Condition != 1 || p.Scopes[1].Condition != 0 {
		t.Fatalf("the scopes are %+v, want one under the condition of the file and an unconditional one", p.Scopes)
	}
	if n, m := len(p.Scopes[0].Members), len(p.Scopes[1].Members); n != 2 || m != 1 {
		t.Errorf("the scopes have %d and %d members, want the file with the binding, and the binding", n, m)
	}
	if order := p.Scopes[1].Members[0].Order; order != 2 {
		t.Errorf("the binding after a file of two entries has order %d", order)
	}
	if parts := p.Multibinds.Contributions["m"]; len(parts) != 1 || parts[0].Condition != 1 || parts[0].Rank != 0 {
		t.Errorf("the contributions to m are %+v", parts)
	}
	if len(p.Rebound) != 1 || p.Rebound[0].Old() != "a" {
		t.Errorf("the bindings that wait are %+v", p.Rebound)
	}
	if want := (Totals{Bindings: 5, Sensitive: true}); p.Totals != want {
		t.Errorf("the totals are %+v, want %+v", p.Totals, want)
	}
	if len(p.Kept) != 3 || p.Kept[0] != 0 || p.Kept[1] != 2 || p.Kept[2] != 1 {
		t.Errorf("the snapshot has the values %v, want those of the file and that of the binding", p.Kept)
	}
}
