package runtime_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/expr"
	"bindc/internal/recipe"
	"bindc/internal/testmode"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// chain returns n keys that form a chain of lookups.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("bindings_version: 1\nname: default\nbind:\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "  - {name: k%d, to_lookup_of: k%d}\n", i, i+1)
	}
	fmt.Fprintf(&b, "  - {name: k%d, to: '${word}'}\n", n-1)
	return b.String()
}

// A chain of 500 lookups is allowed. A longer one fails at the first key after the limit.
func TestChainOfLookupsIsLimited(t *testing.T) {
	checkLookups(t, chain(502), "n1", map[string]string{"k0": "evaluation", "k1": "evaluation", "k2": `"hunter"`,
		"k501": `"hunter"`})
}

// Each of the n keys looks the next one up twice, so the first causes 2^n lookups.
func TestExponentialLookupsAreLimited(t *testing.T) {
	testmode.SkipUnderRace(t)
	var b strings.Builder
	b.WriteString("bindings_version: 1\nname: default\nbind:\n  - {name: k0, to: '${word}'}\n")
	for i := range 16 {
		fmt.Fprintf(&b, "  - {name: k%d, to_expression: \"[lookup('k%d'), lookup('k%d')][1]\"}\n", i+1, i, i)
	}
	checkLookups(t, b.String(), "n1", map[string]string{"k15": `"hunter"`, "k16": "evaluation", "k1": `"hunter"`})
}

// One lookup may cause at most 100000 others.
func TestLookupLimitsLookupsItCauses(t *testing.T) {
	testmode.SkipUnderRace(t)
	checkLookups(t, `bindings_version: 1
name: default
bind:
  - {name: k, to: '${word}'}
  - {name: all, to_expression: "length(100000.map |$i| { lookup('k') })"}
  - {name: more, to_expression: "length(100001.map |$i| { lookup('k') })"}
`, "n1", map[string]string{"all": "100000", "more": "evaluation"})
}

// The message for a loop names the keys on the loop, not those that lead to it.
func TestLoopErrorNamesItsKeys(t *testing.T) {
	const source = `bindings_version: 1
name: default
bind:
  - {name: a, to_expression: "if $word { lookup('b') }"}
  - {name: b, to_expression: "if $word { lookup('c') }"}
  - {name: c, to_expression: "if $word { lookup('b') }"}
  - {name: list, multibind_id: list, type: Array}
  - {in: list, to_expression: "if $word { lookup('other') }"}
  - {name: other, to_expression: "if $word { lookup('list') }"}
`
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, source)
	req := requestOf(t, path, "n1", map[string]any{"word": "w"})
	for key, want := range map[string]bindings.Error{
		"a": {Key: "b", Code: bindings.CodeLoop, Message: "'b' depends on itself: b -> c -> b"},
		"other": {Key: "other", Code: bindings.CodeLoop,
			Message: "'other' depends on itself: other -> list -> multibind list -> other"},
		"list": {Key: "list", Code: bindings.CodeLoop,
			Message: "'list' depends on itself: list -> multibind list -> other -> list"},
	} {
		_, found, err := req.Lookup(key)
		var e *bindings.Error
		if !errors.As(err, &e) || found || *e != want {
			t.Errorf("%s: %#v, found is %v", key, e, found)
		}
	}
}

func TestStrictVariablesMakeLookupsFail(t *testing.T) {
	const source = `bindings_version: 1
name: default
bind:
  - {name: text, to: 'x${nowhere}'}
  - {name: known, to: 'x${facts}'}
  - {name: transformed, to: 'x', transformer: '|$v| { "${v}${nowhere}" }'}
`
	for _, strict := range []bool{false, true} {
		req, err := open(t, source, bindings.Options{StrictVariables: strict}).Request(nodeFacts(t, "n1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"text", "known", "transformed"} {
			v, found, err := req.Lookup(key)
			var e *bindings.Error
			switch {
			case !strict || key == "known":
				if err != nil || !found || !strings.HasPrefix(textOf(v), "x") {
					t.Errorf("%s: %v, %v, %v", key, v, found, err)
				}
			case !errors.As(err, &e) || e.Code != bindings.CodeEvaluation || e.Key != key || e.Err == nil || found:
				t.Errorf("%s, strict: %v, %v, %v", key, v, found, err)
			}
		}
	}
}

// If a category cannot be evaluated, Request and Reset fail. After an error, Reset may be called again.
func TestFailingCategoryFailsRequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	buildSite(t, path, map[string]string{
		"binder_config.yaml":    "version: 1\ncategories: [[checked, '${Integer($number)}']]\n",
		"bindings/default.yaml": "{bindings_version: 1, name: default, bind: [{when: {checked: 5}, bind: [[a, 5]]}]}",
	})
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	facts := func(number string) *bindings.Facts {
		f, err := parseFacts([]byte(`{"number": "`+number+`"}`), bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	req, err := snap.Request(facts("5"))
	if err != nil {
		t.Fatal(err)
	}
	_, plain := snap.Request(facts("five"))
	for _, err := range []error{plain, req.Reset(facts("five"))} {
		var e *bindings.Error
		if !errors.As(err, &e) || e.Code != bindings.CodeEvaluation || e.Key != "" || e.Err == nil ||
			!strings.HasPrefix(e.Message, "the category 'checked': ") {
			t.Errorf("%v", err)
		}
	}
	for number, want := range map[string]bool{"5": true, "6": false} {
		if err := req.Reset(facts(number)); err != nil {
			t.Fatal(err)
		}
		if _, found, err := req.Lookup("a"); found != want || err != nil {
			t.Errorf("for %s: %v, %v", number, found, err)
		}
	}
}

// forge opens a snapshot with keys bound unconditionally to the given values.
func forge(t *testing.T, keys map[string]snapshot.Stored) (*bindings.Snapshot, *bindings.Request) {
	t.Helper()
	c := &snapshot.Content{Layers: []string{"site"}}
	names := make([]string, 0, len(keys))
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		c.Keys = append(c.Keys, snapshot.Key{Name: name, Default: i})
		c.Values = append(c.Values, keys[name])
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, c); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	req, err := snap.Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	return snap, req
}

func computed(r *recipe.Recipe) snapshot.Stored {
	return snapshot.Stored{Computed: true, Bytes: string(recipe.Append(nil, r))}
}

// If a key's value is damaged, every lookup that needs it reports damage. Other keys have their normal results.
func TestDamageOfValueIsReportedAsDamage(t *testing.T) {
	const arrayOfNoSuchTag = "\x09\x02\x01\x0b"
	ask := func(key string) snapshot.Stored {
		return computed(&recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: key}}})
	}
	snap, req := forge(t, map[string]snapshot.Stored{
		"sound":   {Bytes: string(value.Append(nil, value.FromString("sound")))},
		"elems":   {Bytes: arrayOfNoSuchTag},
		"tag":     {Bytes: "\x0b"},
		"recipe":  {Computed: true, Bytes: "\xff"},
		"stray":   computed(&recipe.Recipe{Kind: recipe.Contributions}),
		"asks":    ask("sound"),
		"asks_e":  ask("elems"),
		"asks_t":  ask("tag"),
		"asks_r":  ask("recipe"),
		"asks_s":  ask("stray"),
		"asks_2r": ask("asks_r"),
		"both": computed(&recipe.Recipe{Kind: recipe.FirstFound,
			Targets: []recipe.Target{{Key: "asks_r"}, {Key: "sound"}}}),
		"\x00in": computed(&recipe.Recipe{Kind: recipe.Contributions}),
		"asks_i": ask("\x00in"),
	})
	for _, key := range []string{"recipe", "stray", "asks_t", "asks_e", "asks_r", "asks_s", "asks_2r", "both"} {
		v, found, err := req.Lookup(key)
		var damage *bindings.DamageError
		var failed *bindings.Error
		if !errors.As(err, &damage) || errors.As(err, &failed) || found || !v.IsUndef() {
			t.Errorf("%s: %v, %v, %v", key, v, found, err)
		}
	}
	for range 2 { // the second time, the recipe is cached
		if v, found, err := req.Lookup("asks"); err != nil || !found || textOf(v) != "sound" {
			t.Errorf("asks: %v, %v, %v", v, found, err)
		}
	}
	if v, found, err := req.Lookup("asks_i"); err != nil || !found || !v.IsUndef() {
		t.Errorf("a lookup of contributions: %v, %v, %v", v, found, err)
	}
	var damage *bindings.DamageError
	if err := snap.Verify(); !errors.As(err, &damage) {
		t.Errorf("Verify: %v", err)
	}
	v, _, err := req.Lookup("elems")
	if err != nil {
		t.Fatal(err)
	}
	if json, err := v.MarshalJSON(); !errors.As(err, &damage) || json != nil {
		t.Errorf("as JSON: %s, %v", json, err)
	}
}

// The lookup of a multibinding reports damaged contributions, and so does Verify.
func TestDamagedContributionIsReported(t *testing.T) {
	list := computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00in", Options: &recipe.Options{Array: true}})
	snap, req := forge(t, map[string]snapshot.Stored{"\x00in": {Computed: true, Bytes: "\xff"}, "list": list})
	var damage *bindings.DamageError
	if v, found, err := req.Lookup("list"); !errors.As(err, &damage) || found {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	if err := snap.Verify(); !errors.As(err, &damage) {
		t.Errorf("Verify: %v", err)
	}
}

func TestVerifyRejectsMisplacedContributions(t *testing.T) {
	constant := computed(&recipe.Recipe{Kind: recipe.Constant})
	contributions := computed(&recipe.Recipe{Kind: recipe.Contributions})
	for _, c := range []struct {
		plain, internal snapshot.Stored
		sound           bool
	}{{constant, contributions, true}, {contributions, contributions, false}, {constant, constant, false}} {
		snap, _ := forge(t, map[string]snapshot.Stored{"key": c.plain, "\x00in": c.internal})
		if err := snap.Verify(); (err == nil) != c.sound {
			t.Errorf("%q and %q: %v", c.plain.Bytes, c.internal.Bytes, err)
		}
		if keys := slices.Collect(snap.Keys()); !slices.Equal(keys, []string{"key"}) {
			t.Errorf("keys are %q", keys)
		}
	}
}

func TestKeysStopsEarly(t *testing.T) {
	snap := open(t, generation(1), bindings.Options{})
	n := 0
	for range snap.Keys() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d keys after the first break", n)
	}
}

// The cache stores recipes in chunks. With more recipes than one chunk has, each key still gets its own.
func TestEachKeyHasItsOwnRecipe(t *testing.T) {
	keys := map[string]snapshot.Stored{}
	for i := range 600 {
		keys[fmt.Sprint("key", i)] = computed(&recipe.Recipe{Kind: recipe.Constant, Value: value.FromInt(int64(i))})
	}
	_, req := forge(t, keys)
	for range 2 {
		for i := range 600 {
			v, found, err := req.Lookup(fmt.Sprint("key", i))
			if err != nil || !found || intOf(v) != int64(i) {
				t.Fatalf("key%d is %v, %v, %v", i, v, found, err)
			}
		}
	}
}

func TestInvalidCategoryExpressionIsDamage(t *testing.T) {
	good := expr.Append(nil, &expr.Node{Op: expr.Var, Name: "role"})
	path := filepath.Join(t.TempDir(), "site.bsnap")
	for _, program := range [][]byte{{0xff}, good} {
		_, err := snapshot.Write(path, &snapshot.Content{Layers: []string{"site"},
			Dimensions: []snapshot.Dimension{{Name: "role", Category: -1, Program: program}}})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := bindings.Open(path, bindings.Options{})
		if err == nil {
			snap.Close()
		}
		var damage *bindings.DamageError
		if bad := program[0] == 0xff; bad != errors.As(err, &damage) || bad && (damage.Section != "meta" ||
			!strings.Contains(err.Error(), path) || snap != nil) {
			t.Errorf("%x: %v", program, err)
		}
	}
}

// An expression may look a multibinding up twice. A lookup of a key that this request does not bind yields undef.
func TestExpressionsLookUpRepeatedAndUnboundKeys(t *testing.T) {
	const source = `bindings_version: 1
name: default
bind:
  - {name: list, multibind_id: list, type: Array}
  - {in: list, to: '${word}'}
  - {name: twice, to_expression: "[lookup('list'), lookup('list')]"}
  - {name: of_elsewhere, to_lookup_of: elsewhere}
  - {name: first, to_first_found: [absent, elsewhere, list]}
  - {name: asked, to_expression: "[lookup('elsewhere') |$v| { $v =~ Undef }]"}
  - when: {node: n1}
    bind: [[a, 1], [elsewhere_not, 2], [of_n1, 3]]
  - when: {node: n2}
    bind: [[elsewhere, there]]
`
	checkLookups(t, source, "n1", map[string]string{"twice": `[["hunter"],["hunter"]]`, "of_elsewhere": "null",
		"first": `["hunter"]`, "asked": "[true]", "elsewhere": "", "absent": "", "of_n1": "3"})
	checkLookups(t, source, "n2", map[string]string{"of_elsewhere": `"there"`, "first": `"there"`, "asked": "[false]",
		"elsewhere": `"there"`, "of_n1": ""})
}

// Contributions are sorted by precedence and then by place, regardless of their order in the file. Of several with
// the same place, the first is used.
func TestContributionsAreOrderedByPrecedenceAndPlace(t *testing.T) {
	part := func(precedence, place uint32, text string) recipe.Part {
		return recipe.Part{Precedence: precedence, Place: place,
			Recipe: &recipe.Recipe{Kind: recipe.Constant, Value: value.FromString(text)}}
	}
	_, req := forge(t, map[string]snapshot.Stored{
		"\x00in": computed(&recipe.Recipe{Kind: recipe.Contributions, Parts: []recipe.Part{
			part(2, 1, "c"), part(1, 4, "b"), part(3, 4, "hidden"), part(1, 3, "a"), part(2, 9, "d")}}),
		"list": computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00in",
			Options: &recipe.Options{Array: true}}),
	})
	v, found, err := req.Lookup("list")
	if got := v.String(); err != nil || !found || got != "[a, b, c, d]" {
		t.Errorf("%s, %v, %v", got, found, err)
	}
}

func TestErrorNamesTheContribution(t *testing.T) {
	const source = `bindings_version: 1
name: default
bind:
  - {name: numbers, multibind_id: numbers, type: 'Array[Integer]'}
  - {in: numbers, to_expression: '$word'}
  - {name: named, multibind_id: named, type: 'Hash[Integer]'}
  - {name: n, in: named, to_expression: '$word'}
  - {name: once, multibind_id: once, type: Hash, options: {conflict_resolution: error}}
  - {name: n, in: once, to: 1}
  - {name: merged, multibind_id: merged, type: Hash, options: {conflict_resolution: merge}}
  - {name: n, in: merged, to: "${if $word { [1] }}"}
  - {name: appended, multibind_id: appended, type: 'Hash[Array[Integer]]', options: {conflict_resolution: append}}
  - {name: n, in: appended, to_expression: '$word'}
  - when: {node: n1}
    bind:
      - {name: n, in: once, to: 2}
`
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, source)
	req := requestOf(t, path, "n1", map[string]any{"word": "w"})
	for key, want := range map[string]string{
		"numbers":  "a contribution to 'numbers': ",
		"named":    "a contribution to 'named' named 'n': ",
		"once":     "two contributions to 'once' named 'n' are effective, and its conflict_resolution is 'error'",
		"merged":   "a contribution to 'merged' named 'n': expected a hash to merge, found ",
		"appended": "a contribution to 'appended' named 'n': ",
	} {
		v, found, err := req.Lookup(key)
		var e *bindings.Error
		if !errors.As(err, &e) || e.Key != key || !strings.HasPrefix(e.Message, want) || found || !v.IsUndef() {
			t.Errorf("%s: %v, %v", key, err, found)
		}
	}
}

// A guard may have no category, values of a category need not be valid UTF-8, and a file may demand strict
// variables.
func TestGuardsWithoutCategoryAndInvalidUTF8AreMatched(t *testing.T) {
	variable := func(name string) []byte { return expr.Append(nil, &expr.Node{Op: expr.Var, Name: name}) }
	c := &snapshot.Content{
		Layers: []string{"site"},
		Strict: true,
		Dimensions: []snapshot.Dimension{{Name: "role", Category: -1, Program: variable("role")},
			{Name: "guard", Guard: true, Category: -1, Program: variable("site")},
			{Name: "role", Guard: true, Category: 0, Program: variable("site")}},
		Keys: []snapshot.Key{{Name: "guarded", Default: -1}, {Name: "replaced", Default: -1},
			{Name: "strict", Default: 1}, {Name: "with_role", Default: -1}},
		Values: []snapshot.Stored{{Bytes: string(value.Append(nil, value.FromInt(1)))},
			computed(&recipe.Recipe{Kind: recipe.Expression, Expr: &expr.Node{Op: expr.Var, Name: "nowhere"}})},
		Levels: []snapshot.Level{
			{Dimensions: []int{0}, Scopes: []snapshot.Scope{
				{Values: []string{"a\ufffd"}, Entries: []snapshot.Entry{{Key: 1}}},
				{Values: []string{""}, Entries: []snapshot.Entry{{Key: 1}}}}},
			{Dimensions: []int{1}, Scopes: []snapshot.Scope{{Values: []string{"ams"},
				Entries: []snapshot.Entry{{Key: 0}}}}},
			{Dimensions: []int{2}, Scopes: []snapshot.Scope{{Values: []string{""},
				Entries: []snapshot.Entry{{Key: 3}}}}},
		},
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, c); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		facts map[string]any
		found string
	}{
		{map[string]any{"site": "ams", "role": "A\x80"}, "guarded replaced"},
		{map[string]any{"site": "AMS"}, "guarded"},
		{map[string]any{"role": "db"}, "with_role"},
		{map[string]any{"role": ""}, ""},
	} {
		req := requestOf(t, path, "n1", c.facts)
		var got []string
		for _, key := range []string{"guarded", "replaced", "with_role"} {
			if _, found, err := req.Lookup(key); err != nil {
				t.Error(err)
			} else if found {
				got = append(got, key)
			}
		}
		if strings.Join(got, " ") != c.found {
			t.Errorf("%v: %v are found, expected %s", c.facts, got, c.found)
		}
		var e *bindings.Error
		if _, _, err := req.Lookup("strict"); !errors.As(err, &e) || e.Code != bindings.CodeEvaluation {
			t.Errorf("an unknown variable: %v", err)
		}
		if text, has := req.Category("guard"); has {
			t.Errorf("a guard is returned as a category: %q", text)
		}
	}
}

// A reference to a list of values, a recipe or a table outside the file is damage, also for keys that look such a
// key up.
func TestReferenceOutsideFileIsReportedAsDamage(t *testing.T) {
	ask := func(key string) snapshot.Stored {
		return computed(&recipe.Recipe{Kind: recipe.LookupOf, Targets: []recipe.Target{{Key: key}}})
	}
	c := &snapshot.Content{
		Layers: []string{"site"},
		Dimensions: []snapshot.Dimension{{Name: "role", Category: -1,
			Program: expr.Append(nil, &expr.Node{Op: expr.Var, Name: "role"})}},
		Keys: []snapshot.Key{{Name: "\x00contributed", Default: -1}, {Name: "asks_listed", Default: 2},
			{Name: "list", Default: 1}, {Name: "listed", Default: -1}, {Name: "recipe", Default: 3}},
		Values: []snapshot.Stored{computed(&recipe.Recipe{Kind: recipe.Contributions}),
			computed(&recipe.Recipe{Kind: recipe.Multibind, Name: "\x00contributed",
				Options: &recipe.Options{Array: true}}), ask("listed"), ask("list"),
			{Bytes: string(value.Append(nil, value.FromInt(1)))}},
		Levels: []snapshot.Level{{Scopes: []snapshot.Scope{{Entries: []snapshot.Entry{{Key: 0, Value: 0},
			{Key: 3, Value: 4}}}}}, {Dimensions: []int{0}}},
	}
	for i := range 100 { // too many for separate columns, so they have tables
		c.Levels[1].Scopes = append(c.Levels[1].Scopes, snapshot.Scope{Values: []string{fmt.Sprint("role", i)},
			Entries: []snapshot.Entry{{Key: 3, Value: 4}}})
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, c); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, sec := range s.Info().Sections {
		if sec.Name == "tables" {
			for at := range sec.Bytes {
				file[sec.Offset+at] = 0xff
			}
		}
	}
	s.Close()
	// In a key record (format.md), the key is preceded by its length (1 byte), the offset of the list (4) and the
	// default (4).
	put := func(key string, before int, number string) {
		copy(file[bytes.Index(file, []byte(key))-before:], number)
	}
	put("\x0c\x00contributed", 4, "\xf0\xff\xff\xff")
	put("\x06listed", 4, "\xf0\xff\xff\xff")
	put("\x06recipe", 8, "\x88\x13\x00\x80")
	replace(t, path, file)
	req := requestOf(t, path, "n1", nil)
	var damage *bindings.DamageError
	for _, key := range []string{"list", "listed", "asks_listed", "recipe"} {
		if v, found, err := req.Lookup(key); !errors.As(err, &damage) || found {
			t.Errorf("%s: %v, %v, %v", key, v, found, err)
		}
	}
	if _, _, err := req.Lookup("recipe"); !errors.As(err, &damage) || damage.Expected != "a recipe number below 4" {
		t.Errorf("recipe 5000: %v", err)
	}
	facts, err := parseFacts([]byte(`{"role": "role7"}`), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := req.Reset(facts); !errors.As(err, &damage) {
		t.Errorf("a request with a table outside the file: %v", err)
	}
}

func TestErrorComesWithoutValue(t *testing.T) {
	req, err := open(t, `bindings_version: 1
name: default
bind:
  - {name: secret, sensitive: true, to_expression: 'Integer($fqdn)'}
`, bindings.Options{}).Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	if v, found, err := req.Lookup("secret"); err == nil || found || v.Sensitive() || !v.IsUndef() {
		t.Errorf("%v, %v, %v", v, found, err)
	}
}

func TestContainerOfSensitiveValueIsSensitive(t *testing.T) {
	req, err := open(t, `bindings_version: 1
name: default
bind: [{name: secret, sensitive: true, to: hunter2}, [plain, text]]
`, bindings.Options{}).Request(nodeFacts(t, "n1"))
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]bindings.Value{}
	for _, key := range []string{"secret", "plain"} {
		if of[key], _, err = req.Lookup(key); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		x    any
		want bool
	}{
		{of["plain"], false}, {of["secret"], true},
		{[]bindings.Value{of["plain"]}, false},
		{[]bindings.Value{of["secret"], of["plain"]}, true},
		{map[string]any{"a": of["plain"], "b": []any{of["secret"]}}, true},
	} {
		if v, err := bindings.ValueOf(c.x); err != nil || v.Sensitive() != c.want {
			t.Errorf("%v is sensitive: %t, %v", c.x, v.Sensitive(), err)
		}
	}
	if typ, err := bindings.ParseType("Array["); err == nil || typ != nil {
		t.Errorf("half a type is %v, %v", typ, err)
	}
}

// Internal keys, for contributions and for merges and options of Hiera 5, are not found, even in quotes. Looking
// them up does not report damage.
func TestInternalKeysAreNotFound(t *testing.T) {
	files := maps.Clone(decliningSite)
	files["bindings/default.yaml"] += `  - {name: list, multibind_id: list, type: Array}
  - {in: list, to: 5}
  - {name: asks, to_expression: "lookup($key)"}
`
	for _, key := range []string{"\x00list", recipe.MergeKey("users"), recipe.LookupOptionsKey} {
		for _, asked := range []string{key, "'" + key + "'", "'" + key + "'.a"} {
			fact, err := json.Marshal(asked)
			if err != nil {
				t.Fatal(err)
			}
			r := decliningRequest(t, files, `, "key": `+string(fact))
			if got := outcomeOf(r.Lookup("asks")); got != "null" {
				t.Errorf("a lookup of %q: %s", asked, got)
			}
			ask := map[string]func(*bindings.Request) (bindings.Value, bool, error){"Lookup": lookupOf(asked)}
			for _, name := range []string{"first", "hash"} {
				s, err := bindings.ValueOf(name)
				if err != nil {
					t.Fatal(err)
				}
				ask["LookupMerged, "+name] = func(r *bindings.Request) (bindings.Value, bool, error) {
					return lookupMerged(r, asked, s)
				}
				ask["LookupEntries, "+name] = func(r *bindings.Request) (bindings.Value, bool, error) {
					return lookupEntries(r, asked, 0, -1, s)
				}
			}
			for what, by := range ask {
				if got := outcomeOf(by(r)); got != "nothing" {
					t.Errorf("%s of %q: %s", what, asked, got)
				}
			}
			e, err := engine(r).Explain(asked)
			if err != nil || e.Outcome.Found || e.Outcome.Err != nil || len(e.Candidates) > 0 {
				t.Errorf("Explain of %q: %+v, %v", asked, e, err)
			}
		}
	}
}
