package runtime_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// A client that sends only the variables that Needs lists gets the same results as one that sends all facts. The
// test includes derived variables with different sources.
func TestNeedsListsAllVariables(t *testing.T) {
	type hash = map[string]any
	all := hash{
		"fqdn": "a.example.org", "hostname": "a", "domain": "example.org", "clientcert": "b.example.org",
		"networking": hash{"hostname": "n", "domain": "example.net", "fqdn": "n.example.net", "ip": "10.0.0.1"},
		"os":         hash{"family": "RedHat", "name": "Rocky", "release": hash{"full": "9.1", "major": "9"}},
		"osfamily":   "Debian", "hypervisors": hash{"kvm": hash{}}, "virtual": "xen",
		"other": "of no use", "kernel": "Linux",
	}
	trusted, err := bindings.ValueOf(map[string]any{"certname": "t.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fqdn", "hostname", "domain", "clientcert", "osfamily", "operatingsystem",
		"operatingsystemrelease", "operatingsystemmajrelease", "architecture", "ipaddress", "kernel", "virtual",
		"is_virtual", "facts['os']['name']", "facts", "trusted['certname']", "other"} {
		snap := open(t, "bindings_version: 1\nname: default\nbind: [[a, \"${"+name+"}\"]]\n", bindings.Options{})
		needed, _, _, err := (*lookup.Snapshot)(snap).Needs()
		if err != nil {
			t.Fatal(err)
		}
		given := names(all)
		for i := 0; i <= len(given); i++ {
			facts := make(map[string]any)
			for j, k := range given {
				if i == len(given) || i != j { // all but one, and all
					facts[k] = all[k]
				}
			}
			sent := make(map[string]any)
			for k, v := range facts {
				if slices.Contains(needed, k) || slices.Contains(needed, "facts") {
					sent[k] = v
				}
			}
			want, got := answer(t, snap, facts, trusted), answer(t, snap, sent, trusted)
			if got != want {
				t.Errorf("%s is %s, of needed facts %s: %v", name, want, got, sent)
			}
		}
	}
}

// names returns the sorted names of facts.
func names(facts map[string]any) []string {
	var out []string
	for k := range facts {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func answer(t *testing.T, snap *bindings.Snapshot, facts map[string]any, trusted bindings.Value) string {
	t.Helper()
	text, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseFacts(text, bindings.FactsOptions{Trusted: trusted})
	if err != nil {
		t.Fatal(err)
	}
	req, err := snap.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	v, found, err := req.Lookup("a")
	return fmt.Sprint(v, found, err)
}

// Effective returns the outcomes of the effective candidates, in the order of Candidates.
func TestEffectiveAgreesWithCandidates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	buildSite(t, path, map[string]string{
		"binder_config.yaml": `version: 1
layers: [{name: site, include: 'confdir:/default'}, {name: low, include: 'confdir:/low'}]
categories: [[node, '${fqdn}'], [osfamily, '${osfamily}']]
`,
		"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - {name: a, to: secret, sensitive: true}
  - when: {osfamily: debian}
    bind: [[a, [1]], [b, '${osfamily}']]
  - when: {node: n}
    bind: [[a, {x: 1}]]
`,
		"bindings/low.yaml": "bindings_version: 1\nname: low\n" +
			"bind: [[a, low], {name: b, abstract: true, type: String}]\n",
	})
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for facts, want := range map[string]int{`{}`: 2, `{"fqdn": "n"}`: 3, `{"osfamily": "debian"}`: 3,
		`{"fqdn": "n", "osfamily": "debian"}`: 4} {
		f, err := parseFacts([]byte(facts), bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		req, err := snap.Request(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b", "absent"} {
			got, err := engine(req).Effective(key)
			if err != nil {
				t.Fatal(err)
			}
			if key == "a" && len(got) != want {
				t.Errorf("%s: %d are effective, expected %d", facts, len(got), want)
			}
			cs, err := engine(req).Candidates(key)
			if err != nil {
				t.Fatal(err)
			}
			cs = slices.DeleteFunc(cs, func(c lookup.Candidate) bool { return c.State == lookup.NotEffective })
			var outcomes []lookup.Outcome
			for _, c := range cs {
				outcomes = append(outcomes, c.Outcome)
			}
			if fmt.Sprint(got) != fmt.Sprint(outcomes) {
				t.Errorf("%s for %s: %v, candidates have %v", key, facts, got, outcomes)
			}
		}
	}
}
