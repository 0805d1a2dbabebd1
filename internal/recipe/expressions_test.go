package recipe

import (
	"slices"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/value"
)

// Lookups returns only keys that the expression looks up in every request (language.md, section 7).
func TestLookupsOmitsKeysInBranches(t *testing.T) {
	for source, want := range map[string][]string{
		"lookup('a')":                                   {"a"},
		"lookup('a', Integer)":                          {"a"},
		"lookup('b') + lookup('a') + lookup('b')":       {"b", "a"},
		"[lookup('a'), {k => lookup('b')}]":             {"a", "b"},
		"upcase(lookup('a'))":                           {"a"},
		"upcase('a')":                                   nil,
		"if lookup('a') { lookup('b') }":                {"a"},
		"if $x { lookup('b') } else { lookup('c') }":    nil,
		"unless lookup('a') { lookup('b') }":            {"a"},
		"case lookup('a') { 1: { lookup('b') } }":       {"a"},
		"lookup('a') ? { 1 => lookup('b') }":            {"a"},
		"lookup('a') and lookup('b')":                   {"a"},
		"lookup('a') or lookup('b')":                    {"a"},
		"lookup('a') == lookup('b')":                    {"a", "b"},
		"lookup('a') |$key| { lookup('b') }":            {"a"},
		"$x.map |$e| { lookup('b') }":                   nil,
		"lookup($x)":                                    nil,
		`lookup("a${x}")`:                               nil,
		"lookup(lookup('a'))":                           {"a"},
		"$lookup = 'a'\n$lookup":                        nil,
		"$x = lookup('a')\nif $x { lookup('b') }\n'c'":  {"a"},
		"[$x, 'a'].join(lookup('b'))":                   {"b"},
		"\"${lookup('a')} and ${if $x {lookup('b')}}\"": {"a"},
	} {
		r := &Recipe{Kind: Expression, Expr: expression(t, source)}
		if got := r.Lookups(); !slices.Equal(got, want) {
			t.Errorf("%s looks up %q, expected %q", source, got, want)
		}
	}
	for what, n := range map[string]*expr.Node{ // only a forged file has these nodes
		"lookup without arguments": {Op: expr.Call, Name: "lookup"},
		"lookup of a number":       {Op: expr.Call, Name: "lookup", Kids: []*expr.Node{{Value: value.FromInt(1)}}},
		"variable named and":       {Op: expr.Var, Name: "and"},
	} {
		if got := (&Recipe{Kind: Expression, Expr: n}).Lookups(); got != nil {
			t.Errorf("%s: looks up %q", what, got)
		}
	}
}

func TestLookupsIncludesKeysInTransformers(t *testing.T) {
	transformer := lambda(t, "|$v| { $v + lookup('a') + lookup('b') }")
	for _, row := range []struct {
		recipe Recipe
		want   []string
	}{
		{Recipe{Kind: Constant}, nil},
		{Recipe{Kind: Constant, Transformer: transformer}, []string{"a", "b"}},
		{Recipe{Kind: Expression, Expr: expression(t, "lookup('b')"), Transformer: transformer}, []string{"b", "a"}},
	} {
		if got := row.recipe.Lookups(); !slices.Equal(got, row.want) {
			t.Errorf("kind %d: %q, expected %q", row.recipe.Kind, got, row.want)
		}
	}
}

func TestVariablesCoversAllExpressionsOfRecipe(t *testing.T) {
	of := &Recipe{Kind: Expression, Expr: expression(t, "$e")}
	transformed := &Recipe{Kind: Constant, Transformer: lambda(t, "|$v| { $t }")}
	combined := &Recipe{Kind: Multibind, Options: &Options{Combinator: lambda(t, "|$a, $b| { $c }")}}
	for what, row := range map[string]struct {
		recipe *Recipe
		want   []string
	}{
		"constant":    {&Recipe{Kind: Constant}, nil},
		"expression":  {of, []string{"e"}},
		"transformer": {transformed, []string{"t"}},
		"expression and transformer": {&Recipe{Kind: Expression, Expr: of.Expr, Transformer: transformed.Transformer},
			[]string{"e", "t"}},
		"combinator":                 {combined, []string{"c"}},
		"options without combinator": {&Recipe{Kind: Multibind, Options: &Options{}}, nil},
		"one contribution":           {&Recipe{Kind: Contributions, Parts: []Part{{Recipe: combined}}}, []string{"c"}},
		"several contributions": {&Recipe{Kind: Contributions, Parts: []Part{{Recipe: of}, {Recipe: transformed}}},
			[]string{"e", "t"}},
		"no contributions": {&Recipe{Kind: Contributions}, nil},
	} {
		var got []string
		row.recipe.Variables(func(name string) { got = append(got, name) })
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, expected %q", what, got, row.want)
		}
	}
}
