package runtime_test

import (
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/types"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// optionalPart returns an optional contribution of the variable asks. Only $word is set, so others decline.
func optionalPart(name string, precedence uint32, asks string) recipe.Part {
	return recipe.Part{Name: name, Named: name != "", Precedence: precedence,
		Recipe: &recipe.Recipe{Kind: recipe.Expression, Expr: variable(asks), Optional: true}}
}

// hashPart returns a contribution of the hash that json encodes.
func hashPart(t *testing.T, name string, precedence uint32, json string) recipe.Part {
	t.Helper()
	v, err := parseJSON([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	expr := newNode(expr.HashLit, "")
	for k, e := range v.Entries() {
		expr.Kids = append(expr.Kids, literal(value.FromString(textOf(k))), literal(value.FromInt(intOf(e))))
	}
	return recipe.Part{Name: name, Named: true, Precedence: precedence,
		Recipe: &recipe.Recipe{Kind: recipe.Expression, Expr: expr}}
}

func literal(v value.Value) *expr.Node { return &expr.Node{Op: expr.Const, Value: v} }

// under returns a part that renames the contributions called old to name, or makes name an alias of them.
func under(kind recipe.Kind, name, old string, precedence uint32) recipe.Part {
	return recipe.Part{Name: name, Named: true, Precedence: precedence, Recipe: &recipe.Recipe{Kind: kind, Name: old}}
}

// collect returns the value of a multibinding with these options and contributions as JSON, or the
// code of the error.
func collect(t *testing.T, options recipe.Options, parts ...recipe.Part) string {
	t.Helper()
	s := openFile(t, &snapshot.Content{Layers: []string{"site"}, ARM8: true,
		Keys: []snapshot.Key{{Name: "\x00m", Default: 0}, {Name: "m", Default: 1}},
		Values: []snapshot.Stored{contribute(parts...), computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00m",
			Options: &options})}}, bindings.Options{}, nil)
	return outcomeOf(requestFor(t, s, `{"word": "there"}`).Lookup("m"))
}

// A contribution that declines is ignored with all options. A lower one of the same name is used, and it is not a
// duplicate.
func TestDecliningContributionIsIgnored(t *testing.T) {
	array := recipe.Options{Array: true, PriorityOnNamed: true}
	unnamed := recipe.Options{Array: true, PriorityOnUnnamed: true}
	hash := func(r recipe.Resolution) recipe.Options { return recipe.Options{Resolution: r} }
	for _, c := range []struct {
		what    string
		options recipe.Options
		parts   []recipe.Part
		want    string
	}{
		{"array uses lower one", array, []recipe.Part{optionalPart("n", 1, "no"), part("n", 2, "low")}, `["low"]`},
		{"array of scalars uses lower one", recipe.Options{Array: true, PriorityOnNamed: true,
			Element: types.Of(types.Scalar)}, []recipe.Part{optionalPart("n", 1, "no"), part("n", 2, "low")},
			`["low"]`},
		{"array uses optional one that has a value", array,
			[]recipe.Part{optionalPart("n", 1, "word"), part("n", 2, "low")}, `["there"]`},
		{"array ignores one of equal precedence", array,
			[]recipe.Part{part("n", 1, "a"), optionalPart("n", 1, "no"), part("m", 1, "b")},
			`["a","b"]`},
		{"array uses one of equal precedence", array,
			[]recipe.Part{optionalPart("n", 1, "no"), part("n", 1, "a")}, `["a"]`},
		{"array has duplicate if optional one has a value", array,
			[]recipe.Part{part("n", 1, "a"), optionalPart("n", 1, "word")},
			"duplicate"},
		{"unnamed one declines", unnamed, []recipe.Part{part("", 1, "a"), optionalPart("", 1, "no")}, `["a"]`},
		{"unnamed duplicate", unnamed, []recipe.Part{part("", 1, "a"), optionalPart("", 1, "word")},
			"duplicate"},
		{"hash uses lower one", hash(recipe.Priority), []recipe.Part{optionalPart("n", 1, "no"), part("n", 2, "low")},
			`{"n":"low"}`},
		{"hash ignores lower optional one", hash(recipe.Priority),
			[]recipe.Part{part("n", 1, "high"), optionalPart("n", 2, "word")},
			`{"n":"high"}`},
		{"hash ignores one of equal precedence", hash(recipe.Priority),
			[]recipe.Part{part("n", 1, "a"), optionalPart("n", 1, "no"),
				part("m", 1, "b")}, `{"n":"a","m":"b"}`},
		{"hash has duplicate if optional one has a value", hash(recipe.Priority), []recipe.Part{part("n", 1, "a"),
			optionalPart("n", 1, "word")}, "duplicate"},
		{"'ignore' uses lower one if first declines", hash(recipe.Ignore), []recipe.Part{optionalPart("n", 1, "no"),
			part("n", 2, "low"), part("m", 2, "b")}, `{"n":"low","m":"b"}`},
		{"'error' ignores one that declines", hash(recipe.ErrorOnConflict), []recipe.Part{part("n", 1, "a"),
			optionalPart("n", 2, "no"), part("m", 3, "b")}, `{"n":"a","m":"b"}`},
		{"'error' fails if optional one has a value", hash(recipe.ErrorOnConflict), []recipe.Part{part("n", 1, "a"),
			optionalPart("n", 2, "word")}, "duplicate"},
		{"'append' omits those that decline", hash(recipe.AppendAll),
			[]recipe.Part{part("n", 1, "a"), optionalPart("n", 1, "no"),
				part("n", 2, "b"), optionalPart("m", 2, "no")}, `{"n":["a","b"]}`},
		{"'merge' omits those that decline", hash(recipe.Merge), []recipe.Part{hashPart(t, "n", 1, `{"x":1}`),
			optionalPart("n", 1, "no"), hashPart(t, "n", 2, `{"y":2,"x":3}`)}, `{"n":{"y":2,"x":1}}`},
		{"classes omit those that decline", hash(recipe.Included),
			[]recipe.Part{part("a", 1, recipe.Include), optionalPart("b", 1, "no"),
				part("a", 2, "exclude"), part("c", 2, "exclude"), part("c", 3, recipe.Include),
				part("d", 3, recipe.Include)}, `["a","d"]`},
		{"undef of a required contribution is an element", array, []recipe.Part{{Recipe: &recipe.Recipe{
			Kind: recipe.Expression, Expr: variable("no")}}, part("m", 1, "a")}, `[null,"a"]`},
	} {
		if got := collect(t, c.options, c.parts...); got != c.want {
			t.Errorf("%s: %s, expected %s", c.what, got, c.want)
		}
	}
	fails := part("n", 1, "")
	fails.Recipe = &recipe.Recipe{Kind: recipe.Abstract}
	// the type is not checked if a contribution fails
	texts := recipe.Options{Array: true, Element: types.Of(types.Scalar)}
	for _, options := range []recipe.Options{array, texts, hash(recipe.Priority), hash(recipe.Included)} {
		if got := collect(t, options, part("m", 1, "a"), fails); got != "abstract" {
			t.Errorf("one that fails, %+v: %s", options, got)
		}
	}
	for _, options := range []recipe.Options{array, hash(recipe.Priority), hash(recipe.ErrorOnConflict)} {
		// duplicates do not depend on the facts
		if got := collect(t, options, part("n", 1, "a"), fails); got != "duplicate" {
			t.Errorf("two of one name, one failing, %+v: %s", options, got)
		}
	}
}

// A rename applies to contributions of lower precedence. The lowest rename is applied first. Aliases are added after
// that and in no order, as with keys.
func TestRenamesApplyToLowerContributionsAndBeforeAliases(t *testing.T) {
	rename := func(name, old string, precedence uint32) recipe.Part {
		return under(recipe.RenamedPart, name, old, precedence)
	}
	alias := func(name, old string, precedence uint32) recipe.Part {
		return under(recipe.AliasedPart, name, old, precedence)
	}
	for _, c := range []struct {
		what  string
		parts []recipe.Part
		want  string
	}{
		{"only lower contributions are renamed", []recipe.Part{part("old", 1, "high"), rename("new", "old", 2),
			part("old", 2, "same"), part("old", 3, "low"), part("other", 3, "other")},
			`{"old":["high","same"],"new":["low"],"other":["other"]}`},
		{"a name renamed twice",
			[]recipe.Part{rename("c", "b", 1), rename("b", "a", 2), part("a", 3, "v"), part("b", 3, "w")},
			`{"c":["v","w"]}`},
		{"two renames of one name", []recipe.Part{rename("c", "a", 1), rename("b", "a", 2),
			part("a", 2, "w"), part("a", 3, "v")}, `{"c":["w"],"b":["v"]}`},
		{"the lower rename comes first", []recipe.Part{rename("b", "a", 1), rename("c", "b", 2), part("a", 3, "v")},
			`{"b":["v"]}`},
		{"renames of equal precedence are simultaneous",
			[]recipe.Part{rename("a", "b", 1), rename("b", "a", 1), part("a", 2, "1"),
				part("b", 2, "2")}, `{"b":["1"],"a":["2"]}`},
		{"two names renamed to one", []recipe.Part{rename("n", "a", 1), rename("n", "b", 1), part("b", 2, "2"),
			part("a", 3, "1"), part("a", 2, "3")}, `{"n":["2","3","1"]}`},
		{"renamed to an existing name", []recipe.Part{part("a", 1, "high"), rename("a", "b", 2),
			part("b", 3, "b"), part("a", 3, "low")}, `{"a":["high","b","low"]}`},
		{"an alias applies to higher and lower contributions",
			[]recipe.Part{part("old", 1, "high"), alias("new", "old", 2), part("old", 3, "low")},
			`{"old":["high","low"],"new":["high","low"]}`},
		{"an alias of an alias", []recipe.Part{alias("b", "a", 1), alias("c", "b", 1), part("a", 2, "v"),
			part("b", 2, "w")}, `{"a":["v"],"b":["v","w"],"c":["v","w"]}`},
		{"an alias of a higher alias", []recipe.Part{alias("b", "a", 1), part("a", 2, "v"),
			alias("c", "b", 3)}, `{"a":["v"],"b":["v"],"c":["v"]}`},
		{"an alias of a lower alias", []recipe.Part{alias("c", "b", 1), part("a", 2, "v"),
			alias("b", "a", 3)}, `{"a":["v"],"b":["v"],"c":["v"]}`},
		{"aliases of one another", []recipe.Part{alias("b", "a", 1), alias("a", "b", 1), part("a", 2, "v")},
			`{"a":["v"],"b":["v"]}`},
		{"several aliases", []recipe.Part{alias("b", "a", 1), alias("c", "a", 3), part("a", 2, "v")},
			`{"a":["v"],"b":["v"],"c":["v"]}`},
		{"renames come before aliases", []recipe.Part{part("old", 1, "high"), alias("other", "old", 1),
			rename("new", "old", 2), part("old", 3, "low")}, `{"old":["high"],"other":["high"],"new":["low"]}`},
		{"an alias of a renamed contribution", []recipe.Part{alias("also", "new", 1), rename("new", "old", 1),
			part("old", 2, "v")}, `{"new":["v"],"also":["v"]}`},
		{"an alias and a rename of an absent name",
			[]recipe.Part{alias("b", "none", 1), rename("c", "none", 1), part("a", 2, "v")},
			`{"a":["v"]}`},
	} {
		if got := collect(t, recipe.Options{Resolution: recipe.AppendAll}, c.parts...); got != c.want {
			t.Errorf("%s: %s, expected %s", c.what, got, c.want)
		}
	}
	// Renames and aliases do not apply to unnamed contributions. In an array, an alias adds an element.
	array := recipe.Options{Array: true}
	if got := collect(t, array, alias("b", "a", 1), rename("c", "", 1), alias("d", "", 1), part("a", 2, "v"),
		part("", 2, "w")); got != `["v","v","w"]` {
		t.Errorf("in an array: %s", got)
	}
}

// A combinator replaces the built-in resolution. The option uniq is applied to its result.
func TestCombinatorCombinesContributions(t *testing.T) {
	const declines = `to_expression: '$no', optional: true`
	const source = `bindings_version: 1
name: default
bind:
  - {name: twice, multibind_id: twice, type: Array, options: {combinator: '|$memo, $x| { $memo + [$x, $x] }'}}
  - {in: twice, to: 1}
  - {in: twice, ` + declines + `}
  - {in: twice, to: 2}
  - {name: uniq, multibind_id: uniq, type: Array, options: {combinator: '|$memo, $x| { $memo + [$x, $x] }', uniq: true}}
  - {in: uniq, to: 1}
  - {in: uniq, to: 2}
  - {name: text, multibind_id: text, type: Array, options: {combinator: '|$memo, $x| { "${memo}${x}" }', uniq: true}}
  - {in: text, to: 1}
  - {name: none, multibind_id: none, type: Array, options: {combinator: '|$memo, $x| { $memo + [$x] }'}}
  - {name: named, multibind_id: named, options: {combinator: '|$key, $current, $x| { [$key, $current, $x] }'}}
  - {in: named, name: a, to: 1}
  - {in: named, name: b, ` + declines + `}
  - {in: named, name: c, to: 2}
  - when: {node: n1}
    bind: [{in: named, name: a, to: 3}]
  - {name: each, multibind_id: each, options: {combinator: '|$key, $current, $x| { [$x, $x] }', uniq: true}}
  - {in: each, name: a, to: 1}
  - {in: each, name: b, to: 2}
  - {name: whole, multibind_id: whole, options: {combinator: '|$key, $current, $x| { $x }', uniq: true}}
  - {in: whole, name: a, to: 1}
  - {name: fails, multibind_id: fails, type: Array, options: {combinator: '|$memo, $x| { 1 / $x }'}}
  - {in: fails, to: 0}
  - {name: fails_named, multibind_id: fails_named, options: {combinator: '|$key, $current, $x| { 1 / $x }'}}
  - {in: fails_named, name: a, to: 0}
  - {in: fails_named, name: b, to: 1}
  - {name: failing, multibind_id: failing, type: Array, options: {combinator: '|$memo, $x| { $memo + [$x] }'}}
  - {in: failing, to_expression: 'Integer($word)'}
  - {in: failing, to: 1}
  - {name: failing_named, multibind_id: failing_named, options: {combinator: '|$key, $current, $x| { $x }'}}
  - {in: failing_named, name: a, to_expression: 'Integer($word)'}
  - {in: failing_named, name: b, to: 1}
`
	checkLookups(t, source, "n1", map[string]string{
		"twice": `[1,1,2,2]`, "uniq": `[1,2]`, "text": "type_mismatch", "none": `[]`,
		"named": `{"a":["a",["a",null,3],1],"c":["c",null,2]}`,
		"each":  `{"a":[1],"b":[2]}`, "whole": `{"a":1}`,
		"fails": "evaluation", "fails_named": "evaluation", "failing": "evaluation", "failing_named": "evaluation",
	})
}

// Explanations show that a contribution was renamed, declines, or renames others.
func TestExplainShowsRenamedAndDecliningContributions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	buildSite(t, path, map[string]string{
		"binder_config.yaml": `version: 1
layers:
  - {name: site, include: 'confdir:/default'}
  - {name: low, include: 'confdir:/low'}
  - {name: lowest, include: 'confdir:/lowest'}
`,
		"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - {name: set, multibind_id: set}
  - {name: new, to_renamed: old}
  - {name: also, to_alias_of: other}
  - {when: {node: n2}, bind: [{name: newer, to_renamed: old}]}
  - {in: set, name: optional, to_expression: '$no', optional: true}
  - [covered, 1]
  - {in: first, to: high}
`,
		"bindings/low.yaml": `bindings_version: 1
name: low
bind:
  - {in: set, name: old, to: 1}
  - {in: set, name: other, to: 2}
  - {in: set, name: optional, to: 4}
  - {name: covered, multibind_id: covered, type: Array}
  - {in: covered, to: 2}
  - {name: first, multibind_id: first, type: Array, options: {priority_on_unnamed: true}}
  - {in: first, to: low}
  - {name: all, multibind_id: all, options: {conflict_resolution: append}}
  - {when: {node: n1}, bind: [{in: all, name: one, to: 1}]}
  - {when: [{node: n1}, {environment: production}], bind: [{in: all, name: one, to: 2}]}
  - {when: [{node: n1}, {environment: production}], bind: [{in: all, name: two, to_expression: '$no', optional: true}]}
`,
		"bindings/lowest.yaml": `bindings_version: 1
name: lowest
bind:
  - {in: set, name: new, to: 3}
  - {in: set, name: optional, to: 5}
`})
	req := requestOf(t, path, "n1", nil)
	var got []string
	for _, key := range []string{"set", "covered", "first", "all"} {
		e, err := engine(req).Explain(key)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, explanationText(e, "")...)
	}
	const want = `
set: {new => 1, other => 2, also => 2, optional => 4}
  wins site  [] bindings/default.yaml:4:12: {new => 1, other => 2, also => 2, optional => 4}
  contribution not effective site newer [{node n2}] bindings/default.yaml:7:38: not found ` +
		`(condition does not hold: node is n1)
  contribution renames site new [] bindings/default.yaml:5:12: not found ` +
		`(contributions below it named 'old' have this name)
  contribution renames site also [] bindings/default.yaml:6:12: not found ` +
		`(contributions named 'other' have this name too)
  contribution declined site optional [] bindings/default.yaml:8:21: not found ` +
		`(it has no value to contribute)
  contribution wins low old [] bindings/low.yaml:4:21: 1
  contribution wins low other [] bindings/low.yaml:5:21: 2
  contribution wins low optional [] bindings/low.yaml:6:21: 4
  contribution hidden lowest new [] bindings/lowest.yaml:4:21: 3 (hidden by bindings/low.yaml:4:21)
  contribution hidden lowest optional [] bindings/lowest.yaml:5:21: 5 (hidden by bindings/low.yaml:6:21)
covered: 1
  wins site  [] bindings/default.yaml:9:6: 1
  hidden low  [] bindings/low.yaml:7:12: [2] (hidden by bindings/default.yaml:9:6)
first: [high]
  wins low  [] bindings/low.yaml:9:12: [high]
  contribution wins site  [] bindings/default.yaml:10:5: high
  contribution hidden low  [] bindings/low.yaml:10:5: low (hidden by bindings/default.yaml:10:5)
all: {one => [1, 2]}
  wins low  [] bindings/low.yaml:11:12: {one => [1, 2]}
  contribution wins low one [{node n1}] bindings/low.yaml:12:47: 1
  contribution wins low one [{node n1}] bindings/low.yaml:13:76: 2
  contribution declined low two [{node n1}] bindings/low.yaml:14:76: not found ` +
		`(it has no value to contribute)
  contribution hidden low one [{environment production}] bindings/low.yaml:13:76: 2 ` +
		`(hidden by bindings/low.yaml:13:76)
  contribution hidden low two [{environment production}] bindings/low.yaml:14:76: not found ` +
		`(hidden by bindings/low.yaml:14:76)`
	if got := "\n" + strings.Join(got, "\n"); got != want {
		t.Errorf("%s\nexpected%s", got, want)
	}
}
