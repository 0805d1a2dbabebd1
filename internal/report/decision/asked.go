package decision

import (
	"maps"
	"slices"
	"strings"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/snapshot"
)

// CustomVariables returns the names of the custom facts and other variables that answers can depend on. It omits
// variables that every node has, and cannot see variables in encrypted values.
func CustomVariables(f *snapshot.Snapshot) ([]string, error) {
	names := map[string]bool{}
	note := func(n *expr.Node) {
		own := map[string]bool{}
		n.Own(func(name string) { own[name] = true })
		n.Variables(func(name string) {
			if !own[name] {
				names[strings.Clone(name)] = true
			}
		})
	}
	var noteAll func(r *recipe.Recipe)
	noteAll = func(r *recipe.Recipe) {
		for _, n := range r.Expressions() {
			note(n)
		}
		for _, p := range r.Parts {
			noteAll(p.Recipe)
		}
	}
	for _, d := range f.Dimensions() {
		n, err := expr.Decode(string(d.Program))
		if err != nil {
			return nil, &snapshot.DamageError{Section: "meta", Expected: "the expression of " + d.Name}
		}
		note(n)
	}
	for encoded, err := range f.AllRecipes() {
		if err != nil {
			return nil, err
		}
		if recipe.IsSealed(encoded) {
			continue
		}
		r, err := recipe.Decode(encoded)
		if err != nil {
			return nil, &snapshot.DamageError{Section: "recipes", Expected: "a recipe: " + err.Error()}
		}
		noteAll(r)
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), syntax.Everywhere), nil
}
