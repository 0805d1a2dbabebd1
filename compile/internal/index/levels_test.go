package index

import (
	"slices"
	"testing"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/compile/internal/rewrite"
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/recipe"
	"bindc/internal/value"
	"bindc/loader"
)

// ordered returns a site with one layer. It binds a and b unconditionally, and a for node n.
func ordered(t *testing.T, more *bindingsfile.Compiled) (*pass.Env, *Ordered) {
	t.Helper()
	site := &loader.Site{
		Dimensions: []loader.Dimension{{Name: "node", Category: 0}},
		Conditions: []loader.Condition{nil, {{Dimension: 0, Value: "n"}}},
		Keys:       []string{"unbound", "b", "a"},
		Layers: []loader.Layer{{Contributions: []loader.Contribution{{Bindings: []loader.Binding{
			{Key: "b", When: []int{0}, Number: 1, Value: 0},
			{Key: "a", When: []int{0}, Number: 2, Value: 1, More: more},
			{Key: "a", When: []int{1}, Number: 2, Value: 2},
		}}}}},
	}
	for i := range 3 {
		r := &recipe.Recipe{Kind: recipe.Constant, Value: value.FromInt(int64(i))}
		site.Values = append(site.Values, string(recipe.AppendCompiled(nil, r)))
	}
	var diags diag.List
	e := pass.NewEnv(site, false, 1000, &diags)
	s := OrderKeys(rewrite.Apply(e, place.Bindings(site, place.RankConditions(site))))
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	return e, s
}

// Names does not contain keys that are not bound.
func TestOrderKeysSortsBoundKeys(t *testing.T) {
	_, s := ordered(t, nil)
	if want := []string{"a", "b"}; !slices.Equal(s.Names, want) {
		t.Errorf("the keys are %v, want %v", s.Names, want)
	}
	for name, want := range map[string]uint32{"a": 0, "b": 1} {
		if n, ok := s.Names.Find(name); !ok || n != want {
			t.Errorf("%s is key %d, %t", name, n, ok)
		}
	}
	if _, ok := s.Names.Find("unbound"); ok {
		t.Error("a key that nothing binds is found")
	}
}

// The unconditional binding is the default of its key. Only the binding above it is in a level.
func TestFillLevelsOmitsDefaults(t *testing.T) {
	e, s := ordered(t, nil)
	l := FillLevels(e, s, ListContributions(e, s))
	if a, b := l.Defaults[0], l.Defaults[1]; a.Rank != 1 || b.Rank != 1 || a.value != 1 || b.value != 0 {
		t.Errorf("the defaults are %+v and %+v", a, b)
	}
	if got := l.Conditional(); !got[0] || got[1] {
		t.Errorf("conditional are %v, want only a", got)
	}
	if len(l.byKey) != 1 || len(l.cold[0]) != 1 || len(l.cold[1]) != 1 {
		t.Errorf("there are %d levels, and %d and %d cold bindings", len(l.byKey), len(l.cold[0]), len(l.cold[1]))
	}
}

// A lookup may continue below a binding that may decline, so the binding is in a level without dimensions.
func TestDecliningBindingIsInLevel(t *testing.T) {
	e, s := ordered(t, &bindingsfile.Compiled{Recipe: &recipe.Recipe{Kind: recipe.LookupOf, Optional: true,
		Targets: []recipe.Target{{Key: "b"}}}})
	l := FillLevels(e, s, ListContributions(e, s))
	if a := l.Defaults[0]; a.Rank != NoRank || a.value != -1 {
		t.Errorf("the default of a is %+v", a)
	}
	if len(l.byKey) != 2 || len(l.cold[0]) != 0 {
		t.Errorf("there are %d levels and %d cold bindings of a, want 2 and none", len(l.byKey), len(l.cold[0]))
	}
}
