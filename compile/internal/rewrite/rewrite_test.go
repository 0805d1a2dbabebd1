package rewrite

import (
	"slices"
	"testing"

	"bindc/compile/internal/pass"
	"bindc/compile/internal/place"
	"bindc/diag"
	"bindc/internal/bindingsfile"
	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/loader"
)

// twoLayers returns a site with unconditional bindings in two layers.
func twoLayers(high, low []loader.Binding) *loader.Site {
	site := &loader.Site{Conditions: []loader.Condition{nil}}
	for _, list := range [][]loader.Binding{high, low} {
		for i := range list {
			list[i].Number, list[i].Value = uint32(len(site.Keys)), uint32(len(site.Values))
			list[i].When = []int{0}
			r := &recipe.Recipe{Kind: recipe.Constant}
			if list[i].More != nil && list[i].More.Recipe != nil {
				r = list[i].More.Recipe
			}
			site.Keys = append(site.Keys, list[i].Key)
			site.Values = append(site.Values, string(recipe.AppendCompiled(nil, r)))
		}
		site.Layers = append(site.Layers, loader.Layer{Contributions: []loader.Contribution{{Bindings: list}}})
	}
	return site
}

func placed(site *loader.Site) (*pass.Env, *place.Placement, *diag.List) {
	diags := &diag.List{}
	return pass.NewEnv(site, false, 1000, diags), place.Bindings(site, place.RankConditions(site)), diags
}

// An alias only adds a binding. A rename also erases its old name, and no other.
func TestRebindAddsBindings(t *testing.T) {
	for erases, want := range map[bool][]string{false: {"new"}, true: {"new", "old"}} {
		more := &bindingsfile.Compiled{
			Recipe:  &recipe.Recipe{Kind: recipe.AliasOf, Targets: []recipe.Target{{Key: "old"}}},
			Rebinds: &bindingsfile.Reference{ID: "old"}, Erases: erases}
		e, p, diags := placed(twoLayers([]loader.Binding{{Key: "new", More: more}}, []loader.Binding{{Key: "old"}}))
		r := rebind(e, p)
		var keys []string
		for _, b := range r.bindings {
			keys = append(keys, b.Key)
		}
		if !slices.Equal(keys, want) || diags.Failed() {
			t.Errorf("erases %t: added are bindings of %v, want %v; reported is %v", erases, keys, want, diags.Sorted())
		}
		if r.erased[1] != erases || len(r.erased) > 1 { // the key called old has number 1
			t.Errorf("erases %t: erased are %v", erases, r.erased)
		}
		if !r.rebound[0].OfKey || r.rebound[0].OfPart {
			t.Errorf("erases %t: the old name is not that of a key only", erases)
		}
		if p.Rebound[0].OfKey || len(p.Scopes) != 1 {
			t.Errorf("erases %t: the pass has changed its input", erases)
		}
	}
}

func TestRebindReportsUnboundName(t *testing.T) {
	more := &bindingsfile.Compiled{Rebinds: &bindingsfile.Reference{ID: "old"}}
	e, p, diags := placed(twoLayers([]loader.Binding{{Key: "new", More: more}}, []loader.Binding{{Key: "odd"}}))
	rebind(e, p)
	if found := diags.Sorted(); len(found) != 1 || found[0].Code != "rebind" || found[0].Hint != "did you mean 'odd'?" {
		t.Errorf("reported is %v", found)
	}
}

// Only computed bindings in higher layers get a check: constants are checked at build time. The input of the pass does
// not change.
func TestConstrainAddsTypeChecks(t *testing.T) {
	integer, err := types.Parse("Integer")
	if err != nil {
		t.Fatal(err)
	}
	computed := &recipe.Recipe{Kind: recipe.Expression, Expr: &expr.Node{Op: expr.Var, Name: "x"}}
	e, p, _ := placed(twoLayers(
		[]loader.Binding{{Key: "a", More: &bindingsfile.Compiled{Recipe: computed}}, {Key: "b"}},
		[]loader.Binding{{Key: "a", More: &bindingsfile.Compiled{Abstract: true, Type: integer}}}))
	p.Scopes[1].Members[0].Key = 0 // both bindings have the same key
	before := p.Scopes[0].Members[0].Value
	scopes := constrain(e, p.Tables, p.Scopes)
	r, err := p.Recipe(scopes[0].Members[0].Value)
	if err != nil || r.Type == nil || r.Type.String() != "Integer" {
		t.Errorf("the computed binding has the recipe %+v, %v", r, err)
	}
	if got := scopes[0].Members[1].Value; got != p.Scopes[0].Members[1].Value {
		t.Errorf("the constant became value %d", got)
	}
	if p.Scopes[0].Members[0].Value != before {
		t.Error("the pass has changed its input")
	}
}
