package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// Here, evaluating a path of a hierarchy fails, because it digs into a string. Then every lookup fails that needs
// the hierarchy, even if only for its lookup_options. Structured bindings do not need it, nor do keys of other
// modules.
func TestUnevaluablePathFailsLookups(t *testing.T) {
	const site = `
-- global/hiera.yaml --
version: 5
hierarchy: [{name: Global, path: global.yaml}]
-- global/data/global.yaml --
high: {x: 1}
-- hiera.yaml --
version: 5
hierarchy:
- {name: OS, path: "os/%{facts.os.family}.yaml"}
- {name: Role, path: "role/%{role}.yaml"}
- {name: Common, path: common.yaml}
-- data/os/Debian.yaml --
os: 1
-- data/role/web.yaml --
os: 2
-- data/common.yaml --
low: 1
maybe: 1
nothing: ~
zero: 0
two: 2
moved: 1
merged: [1]
lookup_options: {merged: {merge: unique}}
-- modules/m/hiera.yaml --
version: 5
hierarchy: [{name: Kernel, path: "%{facts.kernel.name}.yaml"}, {name: Common, path: common.yaml}]
-- modules/m/data/Linux.yaml --
m::linux: 1
-- modules/m/data/common.yaml --
m::all: 1
-- bindings/default.yaml --
bindings_version: 1
name: default
bind:
- [structured, 1]
- {name: secret, to: 2, sensitive: true}
- {name: needs, to: "${lookup('low')}"}
- {name: maybe, to_expression: '$given', optional: true}
- {name: broken, to_expression: '1 / $zero', optional: true}
- {name: new, to_renamed: moved}
- [with.dot, 4]
- {when: {node: n1}, bind: [[local, 3]]}
`
	s := hieraSnapshot(t, site, bindings.Options{})
	const dug = "evaluation: the path 'os/%{facts.os.family}.yaml' cannot be evaluated, so no lookup can pass it: " +
		"'facts.os.family' needs a Hash with the key 'family', found String"
	const dugInModule = "evaluation: the path '%{facts.kernel.name}.yaml' cannot be evaluated, so no lookup can pass " +
		"it: 'facts.kernel.name' needs a Hash with the key 'name', found String"
	for _, c := range []struct{ facts, key, merge, want string }{
		{`{"os": {"family": "Debian"}}`, "os", "", "1"},
		{`{"os": {"family": "Suse"}}`, "os", "", "not found"},
		{`{}`, "os", "", "not found"},
		{`{"os": "Debian"}`, "os", "", dug},
		{`{"os": "Debian"}`, "low", "", dug},
		{`{"os": "Debian"}`, "merged", "", dug},
		{`{"os": "Debian"}`, "absent", "", dug},
		{`{"os": "Debian"}`, "absent.x", "", dug},
		{`{"os": "Debian"}`, "m::all", "", dug},
		{`{"os": "Debian"}`, "high", "", dug},
		{`{"os": "Debian"}`, "high.x", "", dug},
		{`{"os": "Debian"}`, "high", `"unique"`, dug},
		{`{"os": "Debian"}`, "structured", "", "1"},
		{`{"os": "Debian"}`, "secret", "", "sensitive 2"},
		{`{"os": "Debian"}`, "needs", "", dug},
		{`{"os": "Debian", "fqdn": "n1"}`, "local", "", "3"},
		{`{"os": "Debian", "fqdn": "n2"}`, "local", "", dug},
		{`{"os": "Debian"}`, "maybe", "", dug},
		{`{"os": "Debian"}`, "nothing", "", dug},
		{`{"os": "Debian"}`, "moved", "", "not found"}, // a structured binding above the hierarchy renames it
		{`{"os": "Debian"}`, "with.dot", "", "4"},
		{`{"os": "Debian"}`, "with.dot", `"unique"`, "4"},
		{`{"os": "Debian"}`, "with.none", "", dug},
		{`{"os": "Debian"}`, "zero", "", dug},
		{`{"os": "Debian"}`, "two", "", dug},
		// a structured binding, evaluated before the hierarchy
		{`{"os": "Debian", "zero": 0}`, "broken", "", "evaluation: 'broken': division by zero"},
		{`{"os": "Debian"}`, "a..b", "", "evaluation: 'a..b' is not a valid key: there is nothing between two dots, before " +
			"the first dot or after the last one"},
		{`{"os": "Debian", "given": 5}`, "maybe", "", "5"},
		{`{"os": "Debian"}`, "lookup_options", "", "not found"},
		{`{"os": "Debian"}`, "lookup_options", `"unique"`, "not found"},
		{`{"os": "Debian", "kernel": "Linux"}`, "low", "", dug},
		{`{"os": "Debian", "kernel": "Linux"}`, "m::all", "", dug},
		{`{"kernel": "Linux"}`, "m::linux", "", dugInModule},
		{`{"kernel": "Linux"}`, "m::all", "", dugInModule},
		{`{"kernel": "Linux"}`, "low", "", "1"},
		{`{"kernel": {"name": "Linux"}}`, "m::linux", "", "1"},
	} {
		strategy := strategyOf(t, c.merge)
		if got := resultText(lookupMerged(requestFor(t, s, c.facts), c.key, strategy)); got != c.want {
			t.Errorf("%s of %s %s is %s, expected %s", c.key, c.facts, c.merge, got, c.want)
		}
	}
	mended := requestFor(t, s, `{"os": "Debian"}`) // with facts for which the paths can be evaluated
	facts, err := parseFacts([]byte(`{"os": {"family": "Debian"}}`), bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := mended.Reset(facts); err != nil {
		t.Fatal(err)
	}
	if got := resultText(mended.Lookup("low")); got != "1" {
		t.Errorf("low of other facts is %s", got)
	}
	broken := requestFor(t, s, `{"os": "Debian"}`)
	for _, c := range []struct {
		key   string
		to    int
		merge string
		want  string
	}{{"structured", 0, `"first"`, dug}, {"low", -1, `"first"`, dug},
		{"structured", 0, `"unique"`, dug}} {
		strategy := strategyOf(t, c.merge)
		if got := resultText(lookupEntries(broken, c.key, 0, c.to, strategy)); got != c.want {
			t.Errorf("%s of 0 to %d by %s is %s, expected %s", c.key, c.to, c.merge, got, c.want)
		}
	}
}

// If a path of one module cannot be evaluated, lookups in the other modules work.
func TestUnevaluablePathDoesNotAffectOtherPaths(t *testing.T) {
	site := ""
	for _, module := range []string{"a", "b", "c"} {
		site += fmt.Sprintf(`
-- modules/%[1]s/hiera.yaml --
version: 5
hierarchy: [{name: Kernel, path: "%%{facts.%[1]s.kernel}.yaml"}]
-- modules/%[1]s/data/Linux.yaml --
%[1]s::key: 1
`, module)
	}
	s := hieraSnapshot(t, site, bindings.Options{})
	modules := []string{"a", "b", "c"}
	for _, unevaluable := range modules {
		for kernel, there := range map[string]bool{"Linux": true, "BSD": false} {
			facts := map[string]any{}
			for _, module := range modules {
				facts[module] = map[string]string{"kernel": kernel}
			}
			facts[unevaluable] = kernel
			text, err := json.Marshal(facts)
			if err != nil {
				t.Fatal(err)
			}
			r := requestFor(t, s, string(text))
			for _, module := range modules {
				_, found, err := r.Lookup(module + "::key")
				if fails := module == unevaluable; (err != nil) != fails || found != (there && !fails) {
					t.Errorf("with %s the key of %s is found: %t, %v", text, module, found, err)
				}
			}
		}
	}
}

// lookup_options that cannot be merged or are invalid fail every lookup.
func TestInvalidLookupOptionsFailLookups(t *testing.T) {
	const site = "-- hiera.yaml --\nversion: 5\nhierarchy: [{name: N, path: 'n/%{trusted.certname}.yaml'}, " +
		"{name: R, path: 'r/%{role}.yaml'}, {name: C, path: c.yaml}]\n-- data/r/web.yaml --\nrole: [2]\n" +
		"lookup_options: {role: {merge: unique}}\n-- data/c.yaml --\na: [1]\nb: 1\nrole: [1]\n" +
		"lookup_options: {a: {merge: unique}}\n"
	const none = "lookup_options must be a Hash, found a value of type String"
	const pattern = "the pattern '^x(' in lookup_options does not compile: unmatched ( in /^x(/"
	const wrong = "evaluation: 'lookup_options': unknown method 'nope': expected lookup, hiera, alias, literal or scope"
	const merged = "lookup_options that are merged must be Hashes of Data with Strings as keys"
	for _, c := range []struct{ node, a, b, role string }{
		{"a: [2]", "[2,1]", "1", "[2,1]"},
		{"a: [2]\nlookup_options: ~", "evaluation: 'a': " + merged, "evaluation: 'b': " + merged,
			"evaluation: 'role': " + merged},
		{"a: [2]\nlookup_options: text", "evaluation: 'a': " + none, "evaluation: 'b': " + none,
			"evaluation: 'role': " + none},
		{"a: [2]\nlookup_options: {'^x(': {merge: hash}, a: {merge: first}}", "evaluation: 'a': " + pattern,
			"evaluation: 'b': " + pattern, "evaluation: 'role': " + pattern},
		{"a: [2]\nlookup_options: {b: {convert_to: String}}", "[2,1]", `"1"`, "[2,1]"},
		{"a: [2]\nlookup_options: {a: {merge: \"%{x}first\"}}", "[2]", "1", "[2,1]"},
		{"a: [2]\nlookup_options: \"%{x}\"", "evaluation: 'a': " + none, "evaluation: 'b': " + none,
			"evaluation: 'role': " + none},
		{"a: [2]\nlookup_options: \"%{nope('1')}\"", wrong, wrong, wrong},
	} {
		s := hieraSnapshot(t, site+"-- data/n/n1.yaml --\n"+c.node+"\n", bindings.Options{})
		req := requestN1(t, s, `{"role": "web"}`)
		for range 2 { // twice, because compiled options are cached
			for key, want := range map[string]string{"a": c.a, "b": c.b, "role": c.role} {
				if got := resultText(req.Lookup(key)); got != want {
					t.Errorf("%q: %s is %s, expected %s", c.node, key, got, want)
				}
				e, err := engine(req).Explain(key)
				if err != nil {
					t.Fatalf("%q: %s is not explained: %v", c.node, key, err)
				}
				if got := resultText(public(e.Outcome.Value), e.Outcome.Found, e.Outcome.Err); got != want {
					t.Errorf("%q: %s is explained to be %s, expected %s", c.node, key, got, want)
				}
			}
		}
	}
	// Puppet merges the lookup_options that LookupEntries returns. If they are invalid, the error names
	// lookup_options.
	req := requestN1(t, hieraSnapshot(t, site+"-- data/n/n1.yaml --\nlookup_options: text\n", bindings.Options{}), `{}`)
	hash, err := parseJSON([]byte(`"hash"`))
	if err != nil {
		t.Fatal(err)
	}
	const unmerged = "evaluation: 'lookup_options': the merge strategy 'hash' needs Hashes of Data with Strings as " +
		"keys, and this is of the kind String"
	for from, want := range []string{unmerged, `{"a":{"merge":"unique"}}`, `{"a":{"merge":"unique"}}`, "not found"} {
		if got := resultText(lookupEntries(req, "lookup_options", from, -1, hash)); got != want {
			t.Errorf("the lookup_options from entry %d on are %s, expected %s", from, got, want)
		}
	}
}

// Invalid lookup_options of a default_hierarchy only fail the lookups that reach it.
func TestInvalidLookupOptionsOfDefaultHierarchyFailLookupsThatReachIt(t *testing.T) {
	const site = `
-- hiera.yaml --
version: 5
hierarchy: [{name: C, path: common.yaml}]
-- data/common.yaml --
m::high: 1
m::hash: {a: 1}
m::asks: "%{lookup('m::high')}"
m::dot.ted: 1
-- modules/m/hiera.yaml --
version: 5
hierarchy: [{name: C, path: common.yaml}]
default_hierarchy: [{name: D, path: "%{role}.yaml"}, {name: All, path: all.yaml}]
-- modules/m/data/common.yaml --
m::own: 1
-- modules/m/data/web.yaml --
lookup_options: text
-- modules/m/data/app.yaml --
m::odd: 1
lookup_options: {m::odd: {merge: "%{how}"}, m::absent: {merge: "%{how}"}}
-- modules/m/data/dig.yaml --
lookup_options: {m::absent: {merge: "%{role.x}"}}
-- modules/m/data/all.yaml --
m::low: 1
m::hash: {b: 2}
`
	s := hieraSnapshot(t, site, bindings.Options{})
	const none = "lookup_options must be a Hash, found a value of type String"
	for _, c := range []struct{ key, sound, wrong string }{
		{"m::high", "1", "1"},
		{"m::own", "1", "1"},
		{"m::asks", `"1"`, `"1"`},
		{"'m::dot.ted'", "1", "1"},
		{"m::low", "1", "evaluation: 'm::low': " + none},
		{"m::absent", "not found", "evaluation: 'm::absent': " + none},
		{"m::hash.a", "1", "1"},
		{"m::hash.b", "2", "evaluation: 'm::hash.b': " + none},
		{"m::hash.c", "not found", "evaluation: 'm::hash.c': " + none},
		{"absent", "not found", "not found"},
	} {
		for role, want := range map[string]string{"db": c.sound, "web": c.wrong} {
			if got := resultText(requestFor(t, s, `{"role": "`+role+`"}`).Lookup(c.key)); got != want {
				t.Errorf("%s of %s is %s, expected %s", c.key, role, got, want)
			}
		}
	}
	// If the options cannot be evaluated, lookups of keys without options fail too.
	dug := requestFor(t, s, `{"role": "dig"}`)
	for key, want := range map[string]string{"m::low": "evaluation", "m::absent": "evaluation", "m::own": "1"} {
		if got := outcomeOf(dug.Lookup(key)); got != want {
			t.Errorf("where lookup_options dig in a text, %s is %s, expected %s", key, got, want)
		}
	}
	// A binding in the default_hierarchy wins only where its lookup_options are valid.
	for role, want := range map[string]string{"db": "hidden not effective wins", "web": "wins not effective hidden"} {
		if got := states(t, requestFor(t, s, `{"role": "`+role+`"}`), "m::hash.b"); got != want {
			t.Errorf("the bindings that m::hash.b of %s leads into are %s, expected %s", role, got, want)
		}
	}
	// A strategy that the caller gives does not apply to the default_hierarchy, so an invalid one in its options
	// still fails.
	first, err := parseJSON([]byte(`"first"`))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"m::odd", "m::absent", "m::odd.x"} {
		want := "evaluation: '" + key + "': unknown merge strategy 'none', expected first, unique, hash or deep"
		req := requestFor(t, s, `{"role": "app", "how": "none"}`)
		if got := resultText(lookupMerged(req, key, first)); got != want {
			t.Errorf("the first value of %s is %s, expected %s", key, got, want)
		}
	}
}

// If lookup_options name an unknown strategy, the explanation has the error as its outcome and still lists the
// bindings. convert_to affects the outcome, not the values of the bindings.
func TestExplainReportsUnknownStrategy(t *testing.T) {
	const site = `
-- hiera.yaml --
version: 5
hierarchy: [{name: N, path: "%{node}.yaml"}, {name: C, path: common.yaml}]
-- data/n1.yaml --
a: 1
number: "12"
-- data/common.yaml --
lookup_options: {a: {merge: "%{how}"}, b: {merge: "%{how}"}, number: {convert_to: Integer}}
a: 2
`
	req := requestFor(t, hieraSnapshot(t, site, bindings.Options{}), `{"how": "none", "node": "n1"}`)
	e, err := engine(req).Explain("a")
	var failed *bindings.Error
	if err != nil || !errors.As(e.Outcome.Err, &failed) || failed.Code != bindings.CodeEvaluation {
		t.Fatalf("%+v, %v", e, err)
	}
	if got := states(t, req, "a"); got != "not effective wins hidden" {
		t.Errorf("the bindings of a key by no strategy are %s", got)
	}
	for _, key := range []string{"b", "b.x", "'b'"} {
		if _, found, err := req.Lookup(key); !errors.As(err, &failed) || failed.Code != bindings.CodeEvaluation {
			t.Errorf("a key of no strategy that nothing binds, as %s: %t, %v", key, found, err)
		}
	}
	first, err := parseJSON([]byte(`"first"`))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"a": "1", "b": "not found"} {
		if got := resultText(lookupMerged(req, key, first)); got != want {
			t.Errorf("the first value of %s is %s, expected %s", key, got, want)
		}
	}
	e, err = engine(req).Explain("number")
	if err != nil || len(e.Candidates) != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	c := e.Candidates[0]
	if o := e.Options; o == nil || o.At != "data/common.yaml:1:1" || o.Name != "number" {
		t.Errorf("the options of one entry are %+v", o)
	}
	if c.State != lookup.Wins || public(c.Outcome.Value).Kind() != bindings.String ||
		public(e.Outcome.Value).Kind() != bindings.Int {
		t.Errorf("%+v has the outcome %v", c, e.Outcome)
	}
}
