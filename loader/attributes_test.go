package loader_test

import (
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/expr"
	"bindc/internal/expr/stdlib"
	"bindc/internal/recipe"
	"bindc/internal/syntax"
	"bindc/internal/types"
	"bindc/internal/value"
	"bindc/loader"
)

// only loads a site with a single binding. It returns the site and its bindings.
func only(t *testing.T, text string, diags *diag.List) (*loader.Site, []loader.Binding) {
	t.Helper()
	text = "bindings_version: 1\nname: default\nbind:\n- " + text + "\n"
	dir := writeSite(t, map[string]string{"bindings/default.yaml": text})
	site := loader.Load(dir, loader.Options{}, diags)
	for _, layer := range site.Layers {
		for _, c := range layer.Contributions {
			if len(c.Bindings) > 0 {
				return site, c.Bindings
			}
		}
	}
	return site, nil
}

// parsed parses an expression or a lambda.
func parsed(t *testing.T, text string) *expr.Node {
	t.Helper()
	n, errs := syntax.ParseExpression(text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return expr.Fold(n, stdlib.Functions)
}

func typed(t *testing.T, text string) *types.Type {
	t.Helper()
	typ, err := types.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// The test compares the recipe of each attribute in each of its forms.
func TestAttributesBecomeRecipes(t *testing.T) {
	integer, data, text := typed(t, "Integer"), typed(t, "Data"), value.FromString
	lambda, errs := syntax.ParseLambda("|$x| { $x + 1 }")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	pair := func(key, val string) value.Value {
		return value.FromPairs(value.Pair{Key: text(key), Value: text(val)})
	}
	hash, class := pair("k", "v"), pair("class_name", "Vault")
	list, none := value.FromSlice([]value.Value{text("x"), value.FromInt(1)}), value.FromPairs()
	one, two := value.FromInt(1), value.FromInt(2)
	variable := parsed(t, "$x")
	interpolated, errs := syntax.ParseString("${x}")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	folding, errs := syntax.ParseLambda("|$memo, $x| { $x }")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	merging, errs := syntax.ParseLambda("|$key, $current, $value| { $value }")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	listOf := func(elems ...value.Value) value.Value { return value.FromSlice(elems) }
	equals := func(name, want string) value.Value { return listOf(text("="), text(name), text(want)) }
	query := listOf(text("and"), equals("type", "Sql"), equals("name", "one"))
	for _, c := range []struct {
		attributes string
		want       recipe.Recipe
	}{
		{"to: x", recipe.Recipe{Value: text("x")}},
		{"to: [x, 1]", recipe.Recipe{Value: list}},
		{"to: {k: v}", recipe.Recipe{Value: hash}},
		{"to: null", recipe.Recipe{}},
		{"to: '${1 + 1}'", recipe.Recipe{Value: text("2")}},
		{"to: '${x}'", recipe.Recipe{Kind: recipe.Expression, Expr: interpolated}},
		{"type: Integer, to: 1", recipe.Recipe{Value: one}}, // the loader has checked the type already
		{"to: 1, sensitive: false, abstract: false, override: false", recipe.Recipe{Value: one}},
		{"to: 1, sensitive: true", recipe.Recipe{Value: one, Sensitive: true}},
		{"to: 1, override: true", recipe.Recipe{Value: one}},
		{"abstract: true", recipe.Recipe{Kind: recipe.Abstract}},
		{"abstract: true, type: String", recipe.Recipe{Kind: recipe.Abstract}},
		{"to_expression: '$x'", recipe.Recipe{Kind: recipe.Expression, Expr: variable}},
		{"to_expression: '1 + 1'", recipe.Recipe{Value: two}},
		{"to_expression: true", recipe.Recipe{Value: value.FromBool(true)}},
		{"type: Integer, to_expression: '$x'", recipe.Recipe{Kind: recipe.Expression, Expr: variable, Type: integer}},
		{"type: Integer, to: 1, transformer: '|$x| { $x + 1 }'",
			recipe.Recipe{Value: one, Type: integer, Transformer: lambda}},
		{"type: Integer, to: '${x}', transformer: '|$x| { $x + 1 }'",
			recipe.Recipe{Kind: recipe.Expression, Expr: interpolated, Type: integer, Transformer: lambda}},
		{"to_expression: '$x', optional: true", recipe.Recipe{Kind: recipe.Expression, Expr: variable, Optional: true}},
		{"to_query: \"Sql[?? name == 'one']\"", recipe.Recipe{Kind: recipe.Custom, Name: "query", Value: query}},
		{"to_alias_of: b", recipe.Recipe{Kind: recipe.AliasOf, Targets: []recipe.Target{{Key: "b"}}}},
		{"to_renamed: b", recipe.Recipe{Kind: recipe.Below, Name: "b"}},
		{"to_lookup_of: b", recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: "b"}}}},
		{"to_lookup_of: [Integer, b]",
			recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: "b", Type: integer}}}},
		{"to_first_found: [b, [Integer, c]]",
			recipe.Recipe{Kind: recipe.FirstFound, Targets: []recipe.Target{{Key: "b"}, {Key: "c", Type: integer}}}},
		{"to_hash_lookup: {name: b, key: k}", hashLookup(typed(t, "Hash"), text("k"))},
		{"to_hash_lookup: {name: [Data, b], key: 1}", hashLookup(data, one)},
		{"to_hash_lookup: {name: b, key: k, type: 'Hash[Integer]'}", hashLookup(typed(t, "Hash[Integer]"), text("k"))},
		{"to_producer: Vault", recipe.Recipe{Kind: recipe.Custom, Name: "Vault", Value: none}},
		{"to_instance: [Vault, x, 1]", recipe.Recipe{Kind: recipe.Custom, Name: "Vault", Value: list}},
		{"to_producer: [Vault]", recipe.Recipe{Kind: recipe.Custom, Name: "Vault", Value: listOf()}},
		{"to_instance: Vault, options: {k: v}", recipe.Recipe{Kind: recipe.Custom, Name: "Vault", Value: hash}},
		{"to_producer: {class_name: Vault}", recipe.Recipe{Kind: recipe.Custom, Name: "Vault", Value: class}},
		{"to_producer: [Vault, x], options: {k: v}", recipe.Recipe{Kind: recipe.Custom, Name: "Vault", Value: hash}},
		{"multibind_id: m", collecting(nil, recipe.Options{PriorityOnNamed: true})},
		{"multibind_id: m, type: Array",
			collecting(typed(t, "Array"), recipe.Options{Array: true, PriorityOnNamed: true, Element: data})},
		{"multibind_id: m, type: 'Hash[Integer]'",
			collecting(typed(t, "Hash[Integer]"), recipe.Options{PriorityOnNamed: true, Element: integer})},
		{"multibind_id: m, options: {conflict_resolution: ignore}",
			collecting(nil, recipe.Options{PriorityOnNamed: true, Resolution: recipe.Ignore})},
		{"multibind_id: m, options: {conflict_resolution: append, flatten: true, uniq: true}",
			collecting(nil, recipe.Options{
				PriorityOnNamed: true, Resolution: recipe.AppendAll, Flatten: -1, Uniq: true})},
		{"multibind_id: m, type: Array, options: {flatten: 2, priority_on_named: false, priority_on_unnamed: true}",
			collecting(typed(t, "Array"), recipe.Options{
				Array: true, Flatten: 2, PriorityOnUnnamed: true, Element: data})},
		{"multibind_id: m, options: {conflict_resolution: priority}",
			collecting(nil, recipe.Options{PriorityOnNamed: true})},
		{"multibind_id: m, type: Array, options: {flatten: -1}", collecting(typed(t, "Array"), recipe.Options{
			Array: true, Flatten: -1, PriorityOnNamed: true, Element: data})},
		{"multibind_id: m, type: Array, options: {flatten: false}", collecting(typed(t, "Array"), recipe.Options{
			Array: true, PriorityOnNamed: true, Element: data})},
		{"multibind_id: m, type: Array, options: {combinator: '|$memo, $x| { $x }', uniq: true}",
			collecting(typed(t, "Array"), recipe.Options{
				Array: true, Resolution: recipe.AppendAll, Uniq: true, Combinator: folding})},
		{"multibind_id: m, options: {combinator: '|$key, $current, $value| { $value }'}",
			collecting(nil, recipe.Options{Resolution: recipe.AppendAll, Combinator: merging})},
	} {
		source, want := "{name: a, "+c.attributes+"}", c.want
		var diags diag.List
		site, bound := only(t, source, &diags)
		if found := diags.Sorted(); len(found) > 0 || len(bound) != 1 {
			t.Errorf("%s: %v", source, found)
			continue
		}
		b := bound[0]
		if got, want := string(recipe.Append(nil, b.More.Recipe)), string(recipe.Append(nil, &want)); got != want {
			t.Errorf("%s: the recipe is %q, want %q", source, got, want)
		}
		if b.Key != "a" || site.Keys[b.Number] != "a" || b.Pos.Line != 4 || b.Pos.Col != 10 {
			t.Errorf("%s: the key is '%s' at %s", source, b.Key, b.Pos)
		}
		constant := want.Kind == recipe.Constant && !want.Sensitive && want.Transformer == nil
		stored := string(recipe.Append([]byte{site.Values[b.Value][0]}, &want))
		if constant {
			stored = string(value.Append([]byte{recipe.CompiledConstant}, want.Value))
		}
		if site.Values[b.Value] != stored {
			t.Errorf("%s: the value is %q, want %q", source, site.Values[b.Value], stored)
		}
	}
}

// hashLookup returns the recipe that looks up b and takes an entry of the hash.
func hashLookup(typ *types.Type, entry value.Value) recipe.Recipe {
	return recipe.Recipe{Kind: recipe.HashLookup, Targets: []recipe.Target{{Key: "b", Type: typ}}, Value: entry}
}

// collecting returns the recipe of a multibinding m.
func collecting(typ *types.Type, o recipe.Options) recipe.Recipe {
	return recipe.Recipe{Kind: recipe.Multibind, Name: "\x00m", Type: typ, Options: &o}
}

// The multibinding of a contribution and the flags of a binding are stored next to the recipe.
func TestStoresContributionsAndFlagsNextToRecipe(t *testing.T) {
	for source, check := range map[string]func(b *loader.Binding) bool{
		"{in: m, to: 1}": func(b *loader.Binding) bool {
			return b.Key == "" && b.Pos.Col == 3 && b.More.In.ID == "m" && b.More.In.Pos.Col == 8 &&
				b.More.Literal.Pos.Col == 15
		},
		"{in: m, name: n, to: [1, {k: v}]}": func(b *loader.Binding) bool {
			path := []value.Value{value.FromInt(1), value.FromString("k")}
			return b.Key == "n" && b.Pos.Col == 17 && b.More.Literal.Within(path).Pos.Col == 32
		},
		"{in: m, to: 1, transformer: '|$x| { $x }'}": func(b *loader.Binding) bool { return b.More.Literal == nil },
		"{in: m, to_lookup_of: x}":                   func(b *loader.Binding) bool { return b.More.Literal == nil },
		"{in: m, to: null, optional: true}":          func(b *loader.Binding) bool { return b.More.Literal == nil },
		"{in: m, name: n, to_alias_of: n}": func(b *loader.Binding) bool {
			return b.Key == "n" && b.More.Rebinds.ID == "n" && !b.More.Erases
		},
		"{name: n, to_renamed: old}": func(b *loader.Binding) bool {
			return b.Key == "n" && b.More.Rebinds.ID == "old" && b.More.Rebinds.Pos.Col == 25 && b.More.Erases
		},
		"{rebind: n}": func(b *loader.Binding) bool {
			return b.Key == "n" && b.Pos.Col == 12 && b.More.Rebinds.ID == "n" && !b.More.Erases &&
				b.More.Recipe.Kind == recipe.Below
		},
		"{in: m, multibind_id: inner}": func(b *loader.Binding) bool {
			return b.More.In.ID == "m" && b.More.Multibind.ID == "inner" && b.More.Multibind.Options != nil
		},
		"{name: a, to: 1}": func(b *loader.Binding) bool {
			return b.More.In == nil && b.More.Multibind == nil && !b.More.Abstract && !b.More.Override &&
				b.More.Literal == nil && b.More.Rebinds == nil
		},
		"{name: a, abstract: true, override: true}": func(b *loader.Binding) bool {
			return b.More.Abstract && b.More.Override
		},
		"[a, 1]": func(b *loader.Binding) bool { return b.Key == "a" && b.Pos.Col == 4 && b.More == nil },
	} {
		var diags diag.List
		site, bound := only(t, source, &diags)
		if found := diags.Sorted(); len(found) > 0 || len(bound) != 1 || !check(&bound[0]) {
			t.Errorf("%s: %v %+v", source, found, bound)
		} else if in := bound[0].More; in != nil && in.In != nil && len(site.Keys)+len(site.Values) > 0 {
			t.Errorf("%s: a contribution is numbered, %q and %q", source, site.Keys, site.Values)
		}
	}
}

// Each error is reported at the mark. The binding still exists, with the value null, and other bindings are still
// checked.
func TestInvalidAttributesAreReportedAtTheirPosition(t *testing.T) {
	for _, c := range []struct {
		source, code string
		kept         bool // the error does not change the value
	}{
		{"{name: a, to: '¦${'}", "interpolation", false},
		{"{name: a, type: Integer, to: '¦${'}", "interpolation", false},
		{"[a, '¦${']", "interpolation", false},
		{"{name: a, to: {k: ['x', '${¦nope(1)}']}}", "name", false},
		{"{name: a, ¦typ: Integer, to: 1}", "attribute", true},
		{"{name: a, type: ¦[x], to: 1}", "type", false},
		{"{name: a, type: ¦Strin, to: 1}", "type", false},
		{"{name: a, type: Integer, to: ¦x}", "type_mismatch", false},
		{"{name: a, type: 'Hash[Array[Integer]]', to: {k: [1], l: [1, ¦x]}}", "type_mismatch", false},
		{"{name: a, type: String, to_expression: ¦'1 + 1'}", "type_mismatch", false},
		{"{name: a, to: 1, to_expression: ¦'2'}", "attribute", false},
		{"¦{name: a}", "attribute", false},
		{"¦{name: a, type: Integer}", "attribute", false},
		{"{name: a, to: 1, abstract: ¦maybe}", "attribute", true},
		{"{name: a, to: 1, override: ¦1}", "attribute", true},
		{"{name: a, to: 1, sensitive: ¦'true'}", "attribute", true},
		{"{name: a, to: 1, options: ¦{uniq: true}}", "attribute", false},
		{"{name: a, abstract: true, options: ¦{uniq: true}}", "attribute", false},
		{"{name: a, to: 1, transformer: ¦[x]}", "attribute", false},
		{"{name: a, to: 1, transformer: '¦x'}", "expression", false},
		{"{name: a, to: 1, transformer: '|$x| { ¦nope($x) }'}", "name", false},
		{"{name: a, to_expression: ¦[1]}", "attribute", false},
		{"{name: a, to_expression: '1 +¦'}", "expression", false},
		{"{name: a, to_expression: '¦nope(1)'}", "name", false},
		{"{name: a, to_lookup_of: ¦12}", "attribute", false},
		{"{name: a, to_lookup_of: ¦[Integer, 2]}", "attribute", false},
		{"{name: a, to_lookup_of: ¦[a]}", "attribute", false},
		{"{name: a, to_lookup_of: [¦Nope, b]}", "type", false},
		{"{name: a, to_lookup_of: [¦1, b]}", "type", false},
		{"{name: a, to_first_found: ¦x}", "attribute", false},
		{"{name: a, to_first_found: [x, ¦1]}", "attribute", false},
		{"{name: a, to_hash_lookup: ¦x}", "attribute", false},
		{"{name: a, to_hash_lookup: ¦{name: x}}", "attribute", false},
		{"{name: a, to_hash_lookup: ¦{key: x}}", "attribute", false},
		{"{name: a, to_hash_lookup: ¦{name: x, key: [y]}}", "attribute", false},
		{"{name: a, to_hash_lookup: {name: ¦1, key: y}}", "attribute", false},
		{"{name: a, to_hash_lookup: {name: x, key: y, ¦tpe: Hash}}", "attribute", false},
		{"{name: a, to_hash_lookup: {name: x, key: y, ¦5: Hash}}", "attribute", false},
		{"{name: a, to_hash_lookup: {name: x, key: y, type: ¦Nope}}", "type", false},
		{"{name: a, to_producer: ¦5}", "attribute", false},
		{"{name: a, to_producer: ¦''}", "attribute", false},
		{"{name: a, to_instance: ¦[]}", "attribute", false},
		{"{name: a, to_instance: ¦[1]}", "attribute", false},
		{"{name: a, to_producer: ¦{class: x}}", "attribute", false},
		{"{name: a, multibind_id: ¦5}", "multibind", false},
		{"{name: a, multibind_id: ¦''}", "multibind", false},
		{"{name: a, multibind_id: m, type: ¦Nope}", "type", false},
		{"{name: a, multibind_id: m, type: ¦Integer}", "multibind", false},
		{"{name: a, multibind_id: m, type: ¦'Hash[Integer, String]'}", "multibind", false},
		{"{name: a, multibind_id: m, options: ¦x}", "multibind", false},
		{"{name: a, multibind_id: m, options: {¦priority_on_named: true}}", "attribute", false},
		{"{name: a, multibind_id: m, type: Array, options: {¦conflict_resolution: append}}", "attribute", false},
		{"{name: a, multibind_id: m, type: Array, options: {uniq: ¦1}}", "multibind", false},
		{"{name: a, multibind_id: m, type: Array, options: {priority_on_named: ¦x}}", "multibind", false},
		{"{name: a, multibind_id: m, type: Array, options: {priority_on_unnamed: ¦x}}", "multibind", false},
		{"{name: a, multibind_id: m, type: Array, options: {flatten: ¦-2}}", "multibind", false},
		{"{name: a, multibind_id: m, type: Array, options: {flatten: ¦x}}", "multibind", false},
		{"{name: a, multibind_id: m, options: {conflict_resolution: ¦prio}}", "multibind", false},
		{"{name: a, multibind_id: m, options: ¦{flatten: true}}", "multibind", false},
		{"{name: a, multibind_id: m, options: ¦{uniq: true, conflict_resolution: merge}}", "multibind", false},
		{"{name: a, multibind_id: m, type: 'Hash[Float]', options: ¦{conflict_resolution: append}}",
			"multibind", false},
		{"{name: a, type: Integer, to: ¦'x${y}'}", "type_mismatch", false},
		{"{name: a, type: 'Array[Integer]', to: [1, ¦'x${y}']}", "type_mismatch", false},
		{"{name: a, type: Integer, to: x, transformer: ¦[x]}",
			"attribute", false}, // the transformer may return an integer
		{"{name: a, type: Integer, to: 'x${y}', transformer: ¦[x]}", "attribute", false},
		{"{name: a, multibind_id: m, to: ¦1, options: {conflict_resolution: ignore}}", "attribute", false},
		{"{name: a, to_lookup_of: ¦{Integer: b}}", "attribute", false},
		{"{name: a, to_hash_lookup: ¦[name, x, key, y]}", "attribute", false},
		{"{name: a, to_hash_lookup: ¦{name: x, key: {y: z}}}", "attribute", false},
		{"{name: a, multibind_id: ¦\"a\\0b\"}", "multibind", false},
		{"{name: a, multibind_id: m, type: ¦Nope, options: {flatten: x}}", "type", false}, // options are not checked
		{"{name: a, multibind_id: m, type: ¦Integer, options: {flatten: x}}", "multibind", false},
		{"{name: a, multibind_id: m, type: ¦'Hash[Integer, String]', options: {flatten: x}}", "multibind", false},
		{"{name: a, multibind_id: m, options: {combinator: ¦[x]}}", "attribute", false},
		{"{name: a, multibind_id: m, options: {combinator: '|$k, $c, $v| { $v }', ¦flatten: 1}}", "multibind", false},
		{"{name: a, multibind_id: m, options: {combinator: ¦'|$memo, $x| { $x }'}}", "multibind", false},
		{"{name: a, multibind_id: m, type: Array, options: {combinator: ¦'|$k, $c, $v| { $v }'}}", "multibind", false},
		{"{name: a, rebind: ¦b}", "rebind", false},
		{"{name: a, rebind: ¦a}", "rebind", false},
		{"{name: a, to_alias_of: ¦5}", "rebind", false},
		{"{name: a, to_alias_of: ¦''}", "rebind", false},
		{"{name: a, to_alias_of: ¦a}", "rebind", false},
		{"{name: a, to_renamed: ¦[b]}", "rebind", false},
		{"{name: a, to_renamed: ¦a}", "rebind", false},
		{"{in: m, name: n, to_renamed: ¦b}", "rebind", false},
		{"{in: m, rebind: ¦b}", "rebind", false},
		{"¦{name: a, optional: true}", "attribute", false},
		{"{name: a, optional: true, to: '¦${'}", "interpolation", false},
		{"{name: ¦a, optional: true, abstract: true}", "optional", false},
		{"{name: ¦a, optional: true, abstract: true, to_lookup_of: b}", "optional", false},
		{"{name: a, optional: true, to: ¦1}", "optional", false},
		{"{name: a, optional: true, to: ¦'x${y}'}", "optional", false},
		{"{name: a, optional: true, to: ¦[1, '${x}']}", "optional", false},
		{"{name: a, optional: true, to: ¦{k: '${x}'}}", "optional", false},
		{"{name: a, optional: true, multibind_id: ¦m}", "optional", false},
		{"{name: a, optional: true, to_alias_of: ¦b}", "optional", false},
		{"{optional: true, rebind: ¦b}", "optional", false},
		{"{in: ¦5, to: 1}", "multibind", false},
		{"{in: ¦'', to: 1}", "multibind", false},
		{"¦{in: m, abstract: true}", "multibind", false},
		{"{in: m, name: ¦n, override: true, to: 1}", "multibind", false},
		{"{in: m, type: Integer, to: ¦x}", "type_mismatch", false},
	} {
		source := strings.Replace(c.source, "¦", "", 1)
		var diags diag.List
		site, bound := only(t, source, &diags)
		found := diags.Sorted()
		if len(found) != 1 || string(found[0].Code) != c.code || found[0].Pos.Col != marked(c.source) {
			t.Errorf("%s: found %v, want %s at column %d", source, found, c.code, marked(c.source))
			continue
		}
		if diags.Incomplete() || len(bound) != 1 {
			t.Errorf("%s: the others are not judged", source)
			continue
		}
		b := bound[0]
		null := string(recipe.AppendConstant(nil, value.Value{}))
		if b.Key == "a" && !c.kept && site.Values[b.Value] != null {
			t.Errorf("%s: the value is %q", source, site.Values[b.Value])
		}
	}
}

// marked returns the column of the mark in the bindings file that contains source.
func marked(source string) int {
	before, _, _ := strings.Cut(source, "¦")
	return len("- ") + len([]rune(before)) + 1
}

// If an error leaves the key of a binding unknown, the site is incomplete: it must not look as if it had fewer
// bindings.
func TestErrorsInKeysMakeSiteIncomplete(t *testing.T) {
	for _, c := range []struct{ source, code string }{
		{"¦{to: 1}", "attribute"},
		{"{name: ¦5, to: 1}", "key"},
		{"{name: ¦'', to: 1}", "key"},
		{"[¦1, 2]", "key"},
		{"¦[a]", "bindings"},
		{"¦a", "bindings"},
	} {
		source := strings.Replace(c.source, "¦", "", 1)
		var diags diag.List
		_, bound := only(t, source, &diags)
		found := diags.Sorted()
		if len(found) != 1 || string(found[0].Code) != c.code || found[0].Pos.Col != marked(c.source) {
			t.Errorf("%s: found %v, want %s at column %d", source, found, c.code, marked(c.source))
		}
		if !diags.Incomplete() || len(bound) != 0 {
			t.Errorf("%s: others are judged as if it were not there", source)
		}
	}
}

// An attribute may be an expression with a constant value. The result is the same as for a literal.
func TestConstantExpressionEqualsLiteralAttribute(t *testing.T) {
	for _, c := range []struct{ computed, written string }{
		{"{ to_first_found => ['x'] + [['Integer', 'y']] }", "{ to_first_found => ['x', ['Integer', 'y']] }"},
		{"{ to_lookup_of => ['Integer'] + ['x'] }", "{ to_lookup_of => ['Integer', 'x'] }"},
		{"{ to_hash_lookup => { 'name' => 'x' } + { 'key' => 'y' } }",
			"{ to_hash_lookup => { 'name' => 'x', 'key' => 'y' } }"},
		{"{ to_producer => ['Vault'] + ['x'] }", "{ to_producer => ['Vault', 'x'] }"},
		{"{ to_producer => { 'class_name' => 'Vault' } + { 'x' => 1 } }",
			"{ to_producer => { 'class_name' => 'Vault', 'x' => 1 } }"},
		{"{ multibind_id => 'm', options => { 'conflict_resolution' => 'append' } + { 'uniq' => true } }",
			"{ multibind_id => 'm', options => { 'conflict_resolution' => 'append', 'uniq' => true } }"},
	} {
		var recipes []string
		for _, options := range []string{c.computed, c.written} {
			for _, b := range puppet(t, "bind 'a' "+options, "") {
				recipes = append(recipes, string(recipe.Append(nil, b.More.Recipe)))
			}
		}
		if len(recipes) != 2 || recipes[0] != recipes[1] {
			t.Errorf("%s: the recipes are %q", c.computed, recipes)
		}
	}
	puppet(t, "bind 'a' { to_first_found => ¦['x'] + [5] }", "attribute")
	puppet(t, "bind 'a' { multibind_id => 'm', options => ¦{ 'uniq' => true } + { 'nope' => 5 } }", "attribute")
}

// puppet loads a bindings file in Puppet syntax with one statement, and returns its bindings. code is the expected
// error at the mark, if any.
func puppet(t *testing.T, statement, code string) []loader.Binding {
	t.Helper()
	before, after, _ := strings.Cut(statement, "¦")
	dir := writeSite(t, map[string]string{"bindings/default.pp": "bindings default {\n" + before + after + "\n}\n"})
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	found := diags.Sorted()
	switch {
	case code == "" && len(found) > 0:
		t.Errorf("%s: %v", statement, found)
	case code != "" && (len(found) != 1 || string(found[0].Code) != code || found[0].Pos.Col != len(before)+1):
		t.Errorf("%s: %v, want %s at column %d", statement, found, code, len(before)+1)
	}
	for _, layer := range site.Layers {
		for _, c := range layer.Contributions {
			if len(c.Bindings) > 0 {
				return c.Bindings
			}
		}
	}
	return nil
}
