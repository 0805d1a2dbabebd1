package runtime_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

// conditional is a site that binds keys for a node in a rack, for a role, and for a tier, which is "small" unless a
// fact sets it. One category has no bindings.
var conditional = map[string]string{
	"binder_config.yaml": `version: 1
layers: [{name: site, include: ['confdir:/default', 'confdir-hiera:/']}]
categories: [[node, '${fqdn}'], [role, '${role}'], [tier, '${if $tier { $tier } else { "small" }}'],
  [colour, '${colour}']]
`,
	"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - when: {role: frontend}
    bind: [[k, front]]
  - when: {role: frontend, tier: small}
    bind: [[k, small front]]
  - when: {tier: small}
    bind: [[only_tier, small]]
`,
	"hiera.yaml":        "version: 2\nhierarchy: [[node, '${fqdn}', 'data/${rack}/${fqdn}']]\n",
	"data/r7/weba.yaml": "k: of the node\n",
}

// openSite builds a site and opens the snapshot until the test ends.
func openSite(t *testing.T, files map[string]string) *bindings.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	buildSite(t, path, files)
	s, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Unset lists the variables that a condition needs and the request lacks. It lists rack only for the node weba,
// because no condition of other nodes needs it.
func TestUnsetListsVariables(t *testing.T) {
	s := openSite(t, conditional)
	for facts, want := range map[string]string{
		`{}`:                                       "fqdn role",
		`{"fqdn": "weba"}`:                         "rack role",
		`{"fqdn": "other"}`:                        "role",
		`{"fqdn": "weba", "rack": "r7"}`:           "role",
		`{"fqdn": "weba", "rack": "r9"}`:           "role",
		`{"fqdn": "x", "role": ""}`:                "role",
		`{"fqdn": "x", "role": null}`:              "role",
		`{"fqdn": "x", "role": "other"}`:           "",
		`{"fqdn": "x", "role": 7}`:                 "",
		`{"fqdn": "x", "role": "x", "tier":"big"}`: "",
	} {
		if got := strings.Join(engine(requestFor(t, s, facts)).Unset(), " "); got != want {
			t.Errorf("%s: %q is unset, expected %q", facts, got, want)
		}
	}
	r := requestFor(t, s, `{}`)
	s.Close()
	if got := engine(r).Unset(); got != nil {
		t.Errorf("%v of a closed snapshot", got)
	}
	for term := range engine(r).Misspelt() {
		t.Errorf("%v of a closed snapshot", term)
	}
}

// A candidate lists the unset variables of its condition, unless another part of the condition does not hold anyway.
func TestUnsetVariablesOfCandidates(t *testing.T) {
	s := openSite(t, conditional)
	for facts, want := range map[string]string{
		`{"fqdn": "weba"}`:                  "[rack] [role] [role]",
		`{"fqdn": "weba", "tier": "large"}`: "[rack] [] [role]",
		`{"fqdn": "x", "role": "frontend"}`: "[] [] []",
		`{"role": "other"}`:                 "[fqdn] [] []",
	} {
		cs, err := engine(requestFor(t, s, facts)).Candidates("k")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range cs {
			got = append(got, fmt.Sprint(c.Unset))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, expected %s", facts, text, want)
		}
	}
}

// A value is reported as misspelt if it is similar to a value in a condition. Names of nodes and very short values
// are not compared.
func TestValuesSimilarToThoseInConditionsAreMisspelt(t *testing.T) {
	s := openSite(t, conditional)
	for facts, want := range map[string]string{
		`{"role": "frontent"}`:                   "role frontent: frontend;",
		`{"role": "Frotnend", "tier": "smalll"}`: "role frotnend: frontend;tier smalll: small;",
		`{"role": "FRONTEND"}`:                   "",
		`{"role": "backend"}`:                    "",
		`{"fqdn": "webb", "rack": "r7"}`:         "",
		`{"role": "frontend1"}`:                  "",
		`{}`:                                     "",
	} {
		got := ""
		for term, near := range engine(requestFor(t, s, facts)).Misspelt() {
			got += term.Name + " " + term.Value + ": " + near + ";"
		}
		if got != want {
			t.Errorf("%s: %q, expected %q", facts, got, want)
		}
	}
	for range engine(requestFor(t, s, `{"role": "frontent", "tier": "smalll"}`)).Misspelt() {
		break // a caller may stop after the first
	}
}

// For a Hiera 5 path, Unset names the part of a structured fact that is missing, not the fact. Paths are
// case-sensitive.
func TestUnsetPartsOfFacts(t *testing.T) {
	s := openSite(t, map[string]string{
		"hiera.yaml": `{version: 5, hierarchy: [{name: os, path: "os/%{facts.os.family}.yaml"},
  {name: disk, path: "disk/%{facts.disks.0.name}.yaml"}, {name: site, path: "site/%{site.a}-%{site.a}.%{site.b}.yaml"},
  {name: common, path: common.yaml}]}`,
		"data/site/x-x.y.yaml": "k: x", "data/os/RedHat.yaml": "k: redhat", "data/disk/sda.yaml": "k: sda",
		"data/common.yaml": "k: common"})
	const here = `, "site": {"a": "x", "b": "y"}}`
	const disk = `, "disks": [{"name": "sda"}]` + here
	for facts, want := range map[string]string{
		`{}`:                     "disks.0.name os.family site.a site.b",
		`{"os": "RedHat"` + disk: "os.family",
		`{"os": {"family": "RedHat"}, "disks": [{"name": "sda"}]}`: "site.a site.b",
		`{"os": {"family": "RedHat"}, "disks": [{"name": "sda"}], "site": {"a": ["x"], "b": "y"}}`: `site/["x"]-` +
			`["x"].y.yaml means `,
		`{"os": {"name": "x"}` + disk:                                 "os.family",
		`{"os": {"family": ""}` + disk:                                "os.family",
		`{"os": {"family": "Debian"}` + disk:                          "",
		`{"os": {"family": "redhat"}` + disk:                          "os/redhat.yaml means os/RedHat.yaml",
		`{"os": {"family": "REDHATT"}` + disk:                         "",
		`{"os": {"family": "RedHatt"}` + disk:                         "os/RedHatt.yaml means os/RedHat.yaml",
		`{"os": {"family": ["RedHat"]}` + disk:                        `os/["RedHat"].yaml means `,
		`{"os": {"family": "RedHat"}, "disks": []` + here:             "disks.0.name",
		`{"os": {"family": "RedHat"}, "disks": [{"name": {}}]` + here: "disk/{}.yaml means ",
	} {
		r := requestFor(t, s, facts)
		got := strings.Join(engine(r).Unset(), " ")
		for term, near := range engine(r).Misspelt() {
			got += term.Value + " means " + near
		}
		if got != want {
			t.Errorf("%s: %q, expected %q", facts, got, want)
		}
	}
}

// Names of nodes are often similar, so only a name that differs in case is misspelt. A list is yielded without a
// similar name.
func TestMisspeltNamesOfNodes(t *testing.T) {
	s := openSite(t, map[string]string{
		"hiera.yaml": `{version: 5, hierarchy: [{name: node, path: "%{certname}.yaml"},
  {name: all, path: all.yaml}]}`,
		"data/web1.e.org.yaml": "k: 1", "data/all.yaml": "k: 2"})
	for facts, want := range map[string]string{
		`{"certname": "web1.e.org"}`: "",
		`{"certname": "web2.e.org"}`: "",
		`{"certname": "Web1.e.org"}`: "Web1.e.org.yaml means web1.e.org.yaml;",
		`{"certname": ["web1"]}`:     `["web1"].yaml means ;`,
	} {
		got := ""
		for term, near := range engine(requestFor(t, s, facts)).Misspelt() {
			got += term.Value + " means " + near + ";"
		}
		if got != want {
			t.Errorf("%s: %q, expected %q", facts, got, want)
		}
	}
}

// A parameter of a lambda is not a variable of the request, and a variable that is used twice is named once.
func TestUnsetOmitsLambdaParameters(t *testing.T) {
	s := openSite(t, map[string]string{
		"binder_config.yaml": "version: 1\nlayers: [{name: site, include: 'confdir:/default'}]\n" +
			"categories: [[role, '${join([$a, $a].map |$x| { $x })}']]\n",
		"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n  - {when: {role: zz}, bind: [[k, 1]]}\n"})
	if got := strings.Join(engine(requestFor(t, s, `{"b": 1}`)).Unset(), " "); got != "a" {
		t.Errorf("%q is unset, expected a", got)
	}
}

// A category whose text is empty although its variables are given is unset itself.
func TestEmptyCategoriesAreUnset(t *testing.T) {
	s := openSite(t, map[string]string{
		"binder_config.yaml": `version: 1
layers: [{name: site, include: ['confdir:/default']}]
categories: [[zone, '${if $a == "none" { "" } else { $a }}']]
`,
		"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n- when: {zone: eu}\n  bind: [[k, 1]]\n",
	})
	for facts, want := range map[string]string{
		`{"a": "none"}`: "zone",
		`{"a": "eu"}`:   "",
		`{"a": "us"}`:   "",
		`{}`:            "a",
	} {
		if got := strings.Join(engine(requestFor(t, s, facts)).Unset(), " "); got != want {
			t.Errorf("%s: %q is unset, expected %q", facts, got, want)
		}
	}
}

// An empty environment means that there is none, so it is not missing.
func TestEmptyEnvironmentIsSet(t *testing.T) {
	s := hieraSnapshot(t, `
-- hiera.yaml --
version: 5
hierarchy:
  - {name: Environments, path: '%{environment}.yaml'}
  - {name: Roles, path: '%{role}.yaml'}
-- data/production.yaml --
k: 1
-- data/web.yaml --
k: 2
`, bindings.Options{})
	for facts, want := range map[string]string{
		`{"environment": "", "role": ""}`: "role",
		`{}`:                              "role",
	} {
		if got := strings.Join(engine(requestFor(t, s, facts)).Unset(), " "); got != want {
			t.Errorf("%s: %q is unset, expected %q", facts, got, want)
		}
	}
}

// If the list of mapped_paths has fewer elements than that of another node, its variable still counts as set.
func TestMappedPathsOverAShortListAreSet(t *testing.T) {
	s := hieraSnapshot(t, `
-- hiera.yaml --
version: 5
hierarchy:
  - {name: teams, mapped_paths: [teams, t, 'team/%{t}.yaml']}
-- data/team/dba.yaml --
k: 1
-- data/team/ops.yaml --
k: 2
`, bindings.Options{})
	for facts, want := range map[string]string{
		`{"teams": ["dba"]}`:        "",
		`{"teams": ["dba", "ops"]}`: "",
		`{}`:                        "teams",
	} {
		if got := strings.Join(engine(requestFor(t, s, facts)).Unset(), " "); got != want {
			t.Errorf("%s: %q is unset, expected %q", facts, got, want)
		}
	}
}
