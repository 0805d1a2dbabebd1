package runtime_test

import (
	"slices"
	"strings"
	"testing"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// reboundSite renames and rebinds keys. Some of these bindings are between the hierarchies of the site and of a
// module, which both have the keys.
const reboundSite = `
-- binder_config.yaml --
version: 1
layers:
- {name: site, include: 'hiera:/'}
- {name: middle, include: 'confdir:/middle'}
- {name: modules, include: 'module-hiera5:/*'}
- {name: low, include: 'confdir:/low'}
-- bindings/middle.yaml --
bindings_version: 1
name: middle
bind:
- {name: moved, to_renamed: m::list}
- {name: plainly, to_renamed: m::plain}
- {name: of_all, to_renamed: m::all}
- {rebind: m::again, transformer: '|$x| { [$x] }'}
- {name: lookup_options, to: {structured: {merge: first}}}
-- bindings/low.yaml --
bindings_version: 1
name: low
bind: [[m::list, [low]]]
-- hiera.yaml --
version: 5
hierarchy: [{name: N, path: "%{node}.yaml"}]
-- data/n1.yaml --
m::list: [site]
m::plain: site
m::all: [site]
m::again: site
lookup_options: {m::list: {merge: unique}, m::all: {merge: unique}}
-- modules/m/hiera.yaml --
version: 5
hierarchy: [{name: N, path: "%{node}.yaml"}, {name: R, path: "%{role}.yaml"}, {name: All, path: all.yaml}]
-- modules/m/data/n1.yaml --
m::list: [node]
m::all: [node]
m::plain: node
-- modules/m/data/web.yaml --
m::list: [role]
m::all: [role]
-- modules/m/data/all.yaml --
m::list: [module]
m::plain: module
m::all: [module]
m::again: module
`

// A rebinding has the value of the other key that only bindings below it give, merged by the key's lookup_options.
func TestRebindingAboveHieraMergesLowerBindings(t *testing.T) {
	s := hieraSnapshot(t, reboundSite, bindings.Options{})
	for facts, wants := range map[string]map[string]string{
		`{"node": "n1", "role": "web"}`: {"moved": `["node","role","module"]`,
			"moved.0": `"node"`, "m::plain": `"site"`, "plainly": `"node"`, "of_all": `["node","role","module"]`,
			"m::again": `"site"`},
		`{"node": "n1"}`: {"moved": `["node","module"]`},
		`{"node": "n2"}`: {"m::list": "not found", "moved": `["module"]`, "plainly": `"module"`,
			"m::again": `["module"]`},
	} {
		req := requestFor(t, s, facts)
		for key, want := range wants {
			for range 2 { // twice, because merges are cached by level
				if got := resultText(req.Lookup(key)); got != want {
					t.Errorf("for %s %s is %s, expected %s", facts, key, got, want)
				}
			}
		}
	}
	req := requestFor(t, s, `{"node": "n1"}`)
	for from, want := range []string{`{"m::list":{"merge":"unique"},"m::all":{"merge":"unique"}}`,
		`{"structured":{"merge":"first"}}`} {
		if got := resultText(lookupEntries(req, "lookup_options", from, -1, bindings.Value{})); got != want {
			t.Errorf("to Puppet the lookup_options from entry %d on are %s, expected %s", from, got, want)
		}
	}
}

// After a rename, only the key's bindings above the rename are found, even if the key is merged.
func TestRenameHidesMergedBindingsBelow(t *testing.T) {
	req := requestFor(t, hieraSnapshot(t, reboundSite, bindings.Options{}), `{"node": "n1", "role": "web"}`)
	unique, err := bindings.ValueOf("unique")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"m::list": `["site"]`, "m::list.0": `"site"`, "m::list.1": "not found",
		"m::all": `["site"]`, "moved": `["node","role","module"]`, "of_all": `["node","role","module"]`} {
		if got := resultText(req.Lookup(key)); got != want {
			t.Errorf("%s is %s, expected %s", key, got, want)
		}
		if got := resultText(lookupMerged(req, key, unique)); got != want {
			t.Errorf("%s by unique is %s, expected %s", key, got, want)
		}
	}
	if got := resultText(lookupMerged(req, "m::plain", unique)); got != `["site"]` {
		t.Errorf("m::plain by unique is %s, expected the value above the rename", got)
	}
	e, err := engine(req).Explain("m::list")
	if err != nil {
		t.Fatal(err)
	}
	renamed := "hidden 'm::list' is renamed above this"
	want := []string{"merged ", "hidden 'm::list' is renamed from here down", renamed, renamed, renamed, renamed}
	var states []string
	for _, c := range e.Candidates {
		if c.State != lookup.NotEffective {
			states = append(states, string(c.State)+" "+c.Why)
		}
	}
	if !slices.Equal(states, want) {
		t.Errorf("the candidates are\n%s\nexpected\n%s", strings.Join(states, "\n"), strings.Join(want, "\n"))
	}
}

// If two bindings rename a key, the new name of the higher one gets the bindings between them, that of the lower one
// all below.
func TestTwoRenamesDivideBindingsBelow(t *testing.T) {
	req := requestFor(t, hieraSnapshot(t, `
-- binder_config.yaml --
version: 1
layers:
- {name: site, include: 'hiera:/'}
- {name: first, include: 'confdir:/first'}
- {name: second, include: 'confdir:/second'}
- {name: modules, include: 'module-hiera5:/*'}
-- bindings/first.yaml --
{bindings_version: 1, name: first, bind: [{name: none, to_renamed: 'm::list'}]}
-- bindings/second.yaml --
{bindings_version: 1, name: second, bind: [{name: all, to_renamed: 'm::list'}]}
-- hiera.yaml --
version: 5
-- data/common.yaml --
m::list: [site]
-- modules/m/hiera.yaml --
version: 5
hierarchy: [{name: A, path: a.yaml}, {name: B, path: b.yaml}]
-- modules/m/data/a.yaml --
lookup_options: {m::list: {merge: unique}}
m::list: [a]
-- modules/m/data/b.yaml --
m::list: [b]
`, bindings.Options{}), `{"node": "n1"}`)
	for key, want := range map[string]string{"m::list": `["site"]`, "none": "not found", "all": `["a","b"]`} {
		if got := resultText(req.Lookup(key)); got != want {
			t.Errorf("%s is %s, expected %s", key, got, want)
		}
	}
}
