package runtime_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/internal/testmode"
	"bindc/internal/types"
	"bindc/internal/value"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// decliningSite has bindings that decline above a hierarchy of Hiera 5 that merges.
var decliningSite = map[string]string{
	"binder_config.yaml": `version: 1
layers:
  - {name: site, include: 'confdir:/default'}
  - {name: hiera, include: 'hiera:/'}
  - {name: modules, include: 'module-hiera5:/*'}
`,
	"hiera.yaml": `version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
  - {name: node, path: '%{facts.fqdn}.yaml'}
  - {name: common, path: common.yaml}
`,
	"modules/m/hiera.yaml": "version: 5\ndefault_hierarchy: [{name: default, path: default.yaml}]\n",
	"modules/m/data/default.yaml": `m::low: {x: 1}
m::both: {x: 1}
`,
	"data/n1.yaml": `m::both: {y: 2}
users: {b: 2}
old: {y: 2}
plain: near
misfit: text
`,
	"data/common.yaml": `lookup_options:
  {users: {merge: hash}, old: {merge: hash}, again: {merge: hash}, misfit: {merge: hash}}
misfit: {a: 1}
hinted: 3
users: {a: 1}
old: {x: 1}
plain: low
again: {z: 3}
`,
	"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - {name: users, to_expression: '$users', optional: true}
  - {name: plain, to_expression: '$plain', optional: true}
  - {name: users.b, to_expression: '$b', optional: true}
  - [users.c, 9]
  - {name: asks_c, to_lookup_of: users.c}
  - {name: new, to_renamed: old}
  - {name: other, to_alias_of: users}
  - {name: dug, to_alias_of: users.a}
  - {rebind: again, sensitive: true}
  - {rebind: misfit}
  - {rebind: m::low, sensitive: true}
  - {rebind: m::both, transformer: '|$h| { $h + {z => 3} }'}
  - {name: hint, to: null, sensitive: true}
  - {name: hinted, to_lookup_of: hint, optional: true}
`,
}

// decliningRequest makes a request for the node n1 with additional facts in JSON.
func decliningRequest(t *testing.T, files map[string]string, more string) *bindings.Request {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	buildSite(t, path, files)
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	if err := snap.Verify(); err != nil {
		t.Fatal(err)
	}
	facts, err := parseFacts([]byte(`{"fqdn": "n1"`+more+`}`), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	req, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// outcomeOf summarizes the result of a lookup.
func outcomeOf(v bindings.Value, found bool, err error) string {
	var e *bindings.Error
	switch {
	case errors.As(err, &e):
		return string(e.Code)
	case err != nil:
		return err.Error()
	case !found:
		return "nothing"
	}
	text, _ := v.Reveal().MarshalJSON()
	if v.Sensitive() {
		return "sensitive " + string(text)
	}
	return string(text)
}

// If the structured bindings above decline, the value comes from the Hiera 5 hierarchy: merged, for dotted keys, and
// for LookupEntries.
func TestHieraValueIsUsedIfBindingsAboveDecline(t *testing.T) {
	hash, err := parseJSON([]byte(`"hash"`))
	if err != nil {
		t.Fatal(err)
	}
	first, err := parseJSON([]byte(`"first"`))
	if err != nil {
		t.Fatal(err)
	}
	declines := decliningRequest(t, decliningSite, "")
	answers := decliningRequest(t, decliningSite, `, "users": {"c": 3}`)
	for _, c := range []struct {
		what string
		ask  func(*bindings.Request) (bindings.Value, bool, error)
		low  string // result if the optional binding declines
		high string // result if it has a value
	}{
		{"users", lookupOf("users"), `{"a":1,"b":2}`, `{"c":3}`},
		{"users.a", lookupOf("users.a"), `1`, `nothing`},
		{"users.b, which is a key too", lookupOf("users.b"), `2`, `nothing`},
		{"users.c, which is bound itself", lookupOf("users.c"), `9`, `9`},
		{"a key that looks up users.c", lookupOf("asks_c"), `9`, `9`},
		{"other", lookupOf("other"), `{"a":1,"b":2}`, `{"c":3}`},
		{"dug", lookupOf("dug"), `1`, `nothing`},
		{"plain", lookupOf("plain"), `"near"`, `"near"`},
		{"'plain'", lookupOf("'plain'"), `"near"`, `"near"`},
		{"old", lookupOf("old"), `nothing`, `nothing`},
		{"old.x", lookupOf("old.x"), `nothing`, `nothing`},
		{"new", lookupOf("new"), `{"x":1,"y":2}`, `{"x":1,"y":2}`},
		{"new.x", lookupOf("new.x"), `1`, `1`},
		{"again", lookupOf("again"), `sensitive {"z":3}`, `sensitive {"z":3}`},
		{"again.z", lookupOf("again.z"), `sensitive 3`, `sensitive 3`},
		{"users merged as first", func(r *bindings.Request) (bindings.Value, bool, error) {
			return lookupMerged(r, "users", first)
		}, `{"b":2}`, `{"c":3}`},
		{"users in all entries", func(r *bindings.Request) (bindings.Value, bool, error) {
			return lookupEntries(r, "users", 0, -1, hash)
		}, `{"a":1,"b":2}`, `{"c":3}`},
		{"users in the first entry", func(r *bindings.Request) (bindings.Value, bool, error) {
			return lookupEntries(r, "users", 0, 0, first)
		}, `{"b":2}`, `{"c":3}`},
		{"plain in all entries", func(r *bindings.Request) (bindings.Value, bool, error) {
			return lookupEntries(r, "plain", 0, -1, first)
		}, `"near"`, `"near"`},
		{"users in all entries, merged as first", func(r *bindings.Request) (bindings.Value, bool, error) {
			return lookupEntries(r, "users", 0, -1, first)
		}, `{"b":2}`, `{"c":3}`},
		{"m::low in the default_hierarchy", lookupOf("m::low"), `sensitive {"x":1}`, `sensitive {"x":1}`},
		{"m::low.x", lookupOf("m::low.x"), `sensitive 1`, `sensitive 1`},
		{"m::low.y", lookupOf("m::low.y"), `nothing`, `nothing`},
		{"m::both", lookupOf("m::both"), `{"y":2,"z":3}`, `{"y":2,"z":3}`},
		{"m::both.y", lookupOf("m::both.y"), `2`, `2`},
		{"m::both.z", lookupOf("m::both.z"), `3`, `3`},
		{"m::both.x in the default_hierarchy", lookupOf("m::both.x"), `1`, `1`},
		{"key misfit, which cannot be merged", lookupOf("misfit"), `evaluation`, `evaluation`},
		{"key hinted, bound to a sensitive value", lookupOf("hinted"), `sensitive 3`, `sensitive 3`},
		{"key hinted in all entries", func(r *bindings.Request) (bindings.Value, bool, error) {
			return lookupEntries(r, "hinted", 0, -1, hash)
		}, `sensitive 3`, `sensitive 3`},
		{"key old from the second entry on", func(r *bindings.Request) (bindings.Value, bool, error) {
			return lookupEntries(r, "old", 1, -1, first)
		}, `nothing`, `nothing`},
		{"key again in all entries", func(r *bindings.Request) (bindings.Value, bool, error) {
			return lookupEntries(r, "again", 0, -1, hash)
		}, `sensitive {"z":3}`, `sensitive {"z":3}`},
	} {
		if got := outcomeOf(c.ask(declines)); got != c.low {
			t.Errorf("%s, declined: %s, want %s", c.what, got, c.low)
		}
		if got := outcomeOf(c.ask(answers)); got != c.high {
			t.Errorf("%s, answered: %s, want %s", c.what, got, c.high)
		}
	}
	if got := states(t, declines, "users"); got != "declined not effective merged merged" {
		t.Errorf("the bindings of users are %s", got)
	}
	if got := states(t, answers, "users"); got != "wins not effective hidden hidden" {
		t.Errorf("where the first answers the bindings of users are %s", got)
	}
}

func lookupOf(key string) func(*bindings.Request) (bindings.Value, bool, error) {
	return func(r *bindings.Request) (bindings.Value, bool, error) { return r.Lookup(key) }
}

func states(t *testing.T, r *bindings.Request, key string) string {
	t.Helper()
	e, err := engine(r).Explain(key)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range e.Candidates {
		out = append(out, c.State)
	}
	return strings.Join(out, " ")
}

// plainSite has no Hiera 5 hierarchy.
var plainSite = map[string]string{
	"binder_config.yaml": `version: 1
layers:
  - {name: site, include: 'confdir:/default'}
  - {name: middle, include: 'confdir:/middle'}
  - {name: low, include: 'confdir:/low'}
`,
	"bindings/middle.yaml": `bindings_version: 1
name: middle
bind:
  - {rebind: k, transformer: '|$x| { $x + 1 }'}
  - {rebind: l, transformer: '|$x| { $x + 1 }', sensitive: true}
  - {rebind: n, type: Integer}
`,
	"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - when: {node: n1}
    bind:
      - {name: a, to_expression: '$a', optional: true, transformer: '|$x| { $x + 1 }'}
      - {name: b, to_lookup_of: nothing, optional: true, sensitive: true}
      - {name: c, to_lookup_of: secret, optional: true}
      - {name: e, to_expression: 'undef + 1', optional: true}
      - {name: g, to_hash_lookup: {name: h, key: no}, optional: true}
  - {name: d, to_alias_of: secret}
  - {rebind: f, type: Integer, transformer: '|$x| { $x + 1 }'}
  - {name: i, to_renamed: h}
  - {rebind: j}
  - {rebind: k, sensitive: true}
  - {rebind: l, transformer: '|$x| { $x * 2 }'}
  - {rebind: n, transformer: '|$x| { 1 }'}
  - {name: m, to_expression: '$no', optional: true}
  - {name: late, to_expression: '$no', optional: true}
  - {name: mark, to_expression: '$no', optional: true, sensitive: true}
  - {name: whole.port, to_expression: '$no', optional: true}
  - {name: asks_port, to_lookup_of: whole.port}
`,
	"bindings/low.yaml": `bindings_version: 1
name: low
bind:
  - [a, 1]
  - [b, 2]
  - [c, 3]
  - [e, 5]
  - [f, 6]
  - [g, 7]
  - [h, {port: 8}]
  - [whole, {port: 9}]
  - {name: j, to: 10, sensitive: true}
  - [k, 11]
  - [l, 12]
  - [n, text]
  - {name: m, to_expression: '$nothing'}
  - {name: secret, to: null, sensitive: true}
  - {name: nothing, to: null}
`,
}

// The transformer, type and mark of a binding that declines have no effect on the value below it.
func TestDecliningBindingDoesNotChangeValueBelow(t *testing.T) {
	r := decliningRequest(t, plainSite, "")
	for key, want := range map[string]string{
		"a":    "1",              // the transformer is not applied
		"b":    "2",              // the binding with the mark declines
		"c":    "sensitive 3",    // the looked-up value is sensitive, and the result reveals that it is undef
		"d":    "sensitive null", // an alias to a key whose value is undef does not decline
		"e":    "evaluation",     // an error does not make a binding decline
		"f":    "7",              // the value below goes through the type and the transformer
		"g":    "7",
		"h":    "nothing",
		"i":    `{"port":8}`,
		"j":    "sensitive 10", // the value below is sensitive, and so is its transformed form
		"k":    "sensitive 12",
		"l":    "sensitive 26", // of several rebindings, the lowest is applied first
		"m":    "null",         // only optional bindings decline
		"n":    "type_mismatch",
		"late": "nothing",
		"mark": "nothing",
		// without Hiera 5, a dot has no special meaning
		"whole.port": "nothing",
		"asks_port":  "null",
	} {
		if got := outcomeOf(r.Lookup(key)); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	with := decliningRequest(t, plainSite, `, "a": 40, "no": false`)
	if got := outcomeOf(with.Lookup("a")); got != "41" {
		t.Errorf("a is %s, want 41", got)
	}
	if got := outcomeOf(with.Lookup("late")); got != "false" {
		t.Errorf("late is %s, want false", got)
	}
	if got := outcomeOf(with.Lookup("mark")); got != "sensitive false" {
		t.Errorf("mark is %s, want sensitive false", got)
	}
}

// A binding that declines is not a candidate, and neither is a binding below a rename.
func TestDecliningBindingIsNotACandidate(t *testing.T) {
	r := decliningRequest(t, plainSite, "")
	for key, want := range map[string]string{"a": "1", "b": "2", "h": "", "f": "7 6"} {
		outcomes, err := engine(r).Effective(key)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range outcomes {
			got = append(got, outcomeOf(public(o.Value), o.Found, o.Err))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("the candidates of %s are %s, want %s", key, text, want)
		}
	}
	for key, want := range map[string]string{"a": "declined wins", "h": "wins hidden", "f": "wins hidden",
		"e": "wins hidden"} {
		if got := states(t, r, key); got != want {
			t.Errorf("the bindings of %s are %s, want %s", key, got, want)
		}
	}
}

// A lookup must decrypt an optional sealed binding to find out whether it declines, and fails without the key. If
// the binding declines, the one below is used.
func TestSealedBindingDeclinesAfterDecryption(t *testing.T) {
	content := compiled(t, plainSite)
	key := seal.NewKey()
	if err := compile.Seal(content, key, []byte("wrapped")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opts bindings.Options
		want string
	}{{bindings.Options{}, "encrypted"}, {bindings.Options{Unseal: unsealWith(key)}, "2"}} {
		snap, err := bindings.Open(path, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		if err := snap.Verify(); err != nil {
			t.Fatal(err)
		}
		r, err := snap.Request(nodeFacts(t, "n1"))
		if err != nil {
			t.Fatal(err)
		}
		if got := outcomeOf(r.Lookup("b")); got != c.want {
			t.Errorf("b is %s, want %s", got, c.want)
		}
		if got := outcomeOf(r.Lookup("a")); got != "1" {
			t.Errorf("a is %s, want 1", got)
		}
	}
}

// In this forged file, two keys rebind each other at every level. Lookups must end quickly,
// whatever they find.
func TestForgedCircularRebindingsEnd(t *testing.T) {
	testmode.SkipUnderRace(t)
	of := func(key string) snapshot.Stored {
		r := &recipe.Recipe{Kind: recipe.Below, Name: key}
		return snapshot.Stored{Computed: true, Bytes: string(recipe.Append(nil, r))}
	}
	c := &snapshot.Content{ARM8: true, Keys: []snapshot.Key{{Name: "a", Default: 0}, {Name: "b", Default: 1}},
		Values: []snapshot.Stored{of("b"), of("a"), of("a")}}
	for i := range 40 {
		c.Layers = append(c.Layers, fmt.Sprint(i))
		entries := []snapshot.Entry{{Key: 0, Value: 0}, {Key: 1, Value: 1}}
		c.Levels = append(c.Levels, snapshot.Level{Layer: i, Scopes: []snapshot.Scope{{Entries: entries}}})
	}
	for _, levels := range []int{0, 1, 40} {
		part := *c
		part.Levels = slices.Clone(c.Levels[:levels])
		path := filepath.Join(t.TempDir(), "site.bsnap")
		if _, err := snapshot.Write(path, &part); err != nil {
			t.Fatal(err)
		}
		snap, err := bindings.Open(path, bindings.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		r, err := snap.Request(nodeFacts(t, "n1"))
		if err != nil {
			t.Fatal(err)
		}
		want := "nothing"
		if levels == 40 {
			want = "evaluation"
		}
		if got := outcomeOf(r.Lookup("a")); got != want {
			t.Errorf("with %d levels a is %s, want %s", levels, got, want)
		}
	}
}

// Contributions are renamed before aliases are added. So an alias keeps its name if a rename applies to that name.
func TestRenamesPrecedeAliasesOfContributions(t *testing.T) {
	r := decliningRequest(t, map[string]string{
		"binder_config.yaml":    plainSite["binder_config.yaml"],
		"bindings/default.yaml": "bindings_version: 1\nname: default\nbind: [{name: y, to_renamed: x}]\n",
		"bindings/middle.yaml":  "bindings_version: 1\nname: middle\nbind: [{name: x, to_alias_of: w}]\n",
		"bindings/low.yaml": `bindings_version: 1
name: low
bind:
  - {name: all, multibind_id: all, type: Hash}
  - {name: w, in: all, to: 1}
  - {name: x, in: all, to: 2}
  - {name: list, multibind_id: list, type: Array}
  - {name: w, in: list, to: 1}
  - {in: list, to: 3}
  - {name: x, in: list, to: 2}
`}, "")
	for key, want := range map[string]string{"all": `{"w":1,"x":1,"y":2}`, "list": `[1,1,3,2]`} {
		if got := outcomeOf(r.Lookup(key)); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}

// Explanations say why a binding declines, and explain a multibinding below it with its
// contributions.
func TestExplainSaysWhyBindingDeclines(t *testing.T) {
	r := decliningRequest(t, map[string]string{
		"binder_config.yaml": `version: 1
layers:
  - {name: site, include: 'confdir:/default'}
  - {name: low, include: 'confdir:/low'}
categories: [[node, '${fqdn}']]
`,
		"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - {name: optional, to_expression: '$no', optional: true}
  - {name: alias, to_alias_of: there}
  - {name: renamed, to_renamed: below}
  - {rebind: again}
  - {name: list, to_expression: '$no', optional: true}
  - {name: needs, to_alias_of: list}
`,
		"bindings/low.yaml": `bindings_version: 1
name: low
bind:
  - {when: {node: n2}, bind: [[there, 1], [below, 2], [again, 3]]}
  - [optional, 4]
  - {name: list, multibind_id: list, type: Array}
  - {in: list, to: 5}
`}, "")
	for key, want := range map[string]string{
		"optional": "it is optional, and its value is undef",
		"alias":    "'there' is not bound for this request",
		"renamed":  "'below' is not bound below it for this request",
		"again":    "nothing below it is bound for this request",
	} {
		e, err := engine(r).Explain(key)
		if err != nil || len(e.Candidates) == 0 {
			t.Fatalf("%s: %+v, %v", key, e, err)
		}
		if c := e.Candidates[0]; c.State != lookup.Declined || c.Why != want {
			t.Errorf("%s is %s: %s, expected %s", key, c.State, c.Why, want)
		}
	}
	with := decliningRequest(t, plainSite, "")
	for key, want := range map[string]string{"f": "", "i": "its value is that of 'h' below this"} {
		if e, err := engine(with).Explain(key); err != nil || e.Candidates[0].Why != want {
			t.Errorf("%s: %+v, %v, expected %q", key, e, err, want)
		}
	}
	e, err := engine(r).Explain("below")
	if err != nil || len(e.Candidates) != 2 || e.Candidates[0].State != lookup.Wins ||
		e.Candidates[0].Why != "'below' is renamed from here down" {
		t.Errorf("a renamed key: %+v, %v", e, err)
	}
	e, err = engine(r).Explain("list")
	if err != nil || len(e.Contributions) != 1 || e.Contributions[0].At != "bindings/low.yaml:7:5" ||
		e.Contributions[0].State != lookup.Wins {
		t.Errorf("the list: %+v, %v", e, err)
	}
	e, err = engine(r).Explain("needs")
	if err != nil || len(e.Contributions) != 0 || len(e.Lookups) != 1 || len(e.Lookups[0].Contributions) != 1 {
		t.Errorf("the list under another name: %+v, %v", e, err)
	}
}

// A producer may have the name of its key. If it returns undef, the binding below is used.
func TestProducerNamedLikeItsKey(t *testing.T) {
	content := &snapshot.Content{ARM8: true, Layers: []string{"site", "low"},
		Keys: []snapshot.Key{{Name: "k", Default: 1}},
		Values: []snapshot.Stored{computed(&recipe.Recipe{Kind: recipe.Custom, Name: "k", Optional: true}),
			constant(value.FromString("below"))},
		Levels: []snapshot.Level{{Scopes: []snapshot.Scope{{Entries: []snapshot.Entry{{Key: 0, Value: 0}}}}}}}
	content.Keys[0].Cold = []snapshot.Cold{{Layer: 1, Above: 1}}
	for want, v := range map[string]any{`"made"`: "made", `"below"`: nil} {
		made, err := bindings.ValueOf(v)
		if err != nil {
			t.Fatal(err)
		}
		produce := func(*bindings.Request, bindings.Value) (bindings.Value, error) { return made, nil }
		s := openFile(t, content, bindings.Options{Producers: map[string]bindings.Producer{"k": produce}}, nil)
		if got := outcomeOf(requestFor(t, s, "{}").Lookup("k")); got != want {
			t.Errorf("k is %s, expected %s", got, want)
		}
		if e, err := engine(requestFor(t, s, "{}")).Explain("k"); v == nil && (err != nil ||
			e.Candidates[0].Why != "it is optional, and its value is undef") {
			t.Errorf("why there is nothing: %+v, %v", e, err)
		}
	}
}

// The type of a lookup is checked against the value found. If nothing is bound, nothing is checked.
func TestTypeOfUnboundKeyIsNotChecked(t *testing.T) {
	number, err := types.Parse("Integer[1]")
	if err != nil {
		t.Fatal(err)
	}
	first := func(of ...recipe.Target) snapshot.Stored {
		return computed(&recipe.Recipe{Kind: recipe.FirstFound, Targets: of})
	}
	_, req := forge(t, map[string]snapshot.Stored{"text": constant(value.FromString("text")),
		"absent": first(recipe.Target{Key: "none", Type: number}, recipe.Target{Key: "text"}),
		"wrong":  first(recipe.Target{Key: "text", Type: number}, recipe.Target{Key: "text"})})
	for key, want := range map[string]string{"absent": `"text"`, "wrong": "type_mismatch"} {
		if got := outcomeOf(req.Lookup(key)); got != want {
			t.Errorf("%s is %s, expected %s", key, got, want)
		}
	}
}
