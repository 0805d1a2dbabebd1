package runtime_test

import (
	"strings"
	"testing"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// Missed yields the variables, and parts of variables, that a value needs but the request lacks. It suggests a
// similar name for each.
func TestMissedYieldsUnsetVariables(t *testing.T) {
	s := openSite(t, map[string]string{"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - [role, "role ${role}"]
  - [rolle, "role ${rolle}"]
  - [two, "${zone} ${rack}"]
  - [family, "${facts['os']['famliy']}"]
  - [deep, "${facts['os']['relaese']['major']}"]
  - [release, "${os['releas']['major']}"]
  - [unlike, "${facts['os']['x']}"]
  - [disk, "${facts['disks'][3]}"]
  - [given, "${facts['os']['family']} ${facts['nothing']}"]
  - {name: secret, to: "${facts['os']['famliy']}", sensitive: true}
  - {name: computed, to_expression: "if $facts['os']['famliy'] == 'RedHat' { $role } else { 2 }"}
  - {name: local, to_expression: "[{'a' => 1}].map |$h| { $h['b'] }"}
  - [constant, 1]
`})
	r := requestFor(t, s, `{"os": {"family": "RedHat", "release": {"major": "9"}, "7": 1}, "roll": "x", "disks": [1],
  "nothing": null}`)
	for key, want := range map[string]string{
		"role":     "$role ($roll)",
		"rolle":    "$rolle ($roll)",
		"two":      "$rack () $zone ()",
		"family":   "$facts['os']['famliy'] ($facts['os']['family'])",
		"deep":     "$facts['os']['relaese'] ($facts['os']['release'])",
		"release":  "$os['releas'] ($os['release'])",
		"unlike":   "$facts['os']['x'] ()",
		"disk":     "$facts['disks']['3'] ()",
		"given":    "",
		"secret":   "a variable ()",
		"computed": "$facts['os']['famliy'] ($facts['os']['family'])",
		"local":    "",
		"constant": "",
	} {
		var got []string
		for _, miss := range engine(r).Missed(func(r *lookup.Request) { r.Lookup(key) }) {
			got = append(got, miss.Name+" ("+miss.Near+")")
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s misses %q, expected %q", key, text, want)
		}
	}
	if _, _, err := r.Lookup("role"); err != nil {
		t.Error(err) // nothing is recorded without a lookup
	}
}

// Missed also lists the keys that interpolations of Hiera 5 look up and that have no value for the request. It does not
// name a key that may be part of sensitive data.
func TestMissedListsUnboundKeysOfHiera5(t *testing.T) {
	s := openSite(t, map[string]string{"hiera.yaml": `version: 5
hierarchy:
  - {name: Nodes, path: 'nodes/%{role}.yaml'}
  - {name: Common, path: common.yaml}
`, "data/nodes/web.yaml": "port: 80\n", "data/common.yaml": `
url: "http://%{lookup('host')}:%{lookup('port')}/%{alias}"
list: ["%{lookup('b')}", "%{lookup('a')}", "%{lookup('a')}"]
nested: "%{lookup('url')}"
bound: "%{lookup('fixed')}"
fixed: 1
token: "%{lookup('fixed')} %{lookup('secret')}%{lookup('inner')}"
inner: "%{lookup('gone')}"
secret: x
lookup_options: {secret: {convert_to: Sensitive}}
`})
	for key, want := range map[string]string{
		"url": "$alias 'host' 'port'", "list": "'a' 'b'", "nested": "$alias 'host' 'port'", "bound": "", "token": "a key",
		"inner": "'gone'",
	} {
		var got []string
		r := engine(requestFor(t, s, `{"role": "db"}`))
		for _, miss := range r.Missed(func(r *lookup.Request) { r.Lookup(key) }) {
			got = append(got, miss.Name)
			if isName := strings.HasPrefix(miss.Name, "$"); miss.IsKey == isName {
				t.Errorf("%s misses %+v", key, miss)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s misses %q, expected %q", key, text, want)
		}
	}
}

// Misnamed yields the variables of conditions that the request lacks although it has one with a similar name.
func TestMisnamedYieldsSimilarVariables(t *testing.T) {
	s := openSite(t, map[string]string{"hiera.yaml": `version: 5
hierarchy:
  - {name: OS, path: 'os/%{facts.os.family}.yaml'}
  - {name: Role, path: 'role/%{role}.yaml'}
  - {name: Zone, path: 'zone/%{zone}.yaml'}
`, "data/os/Debian.yaml": "a: 1\n", "data/role/web.yaml": "a: 2\n", "data/zone/a.yaml": "a: 3\n"})
	for facts, want := range map[string]string{
		`{"os": {"famly": "Debian"}, "rolle": "web"}`:            "os.family=$os['famly'] role=$rolle",
		`{"os": {"family": "Debian"}, "role": "x", "zone": "b"}`: "",
		`{"other": 1}`: "",
	} {
		var got []string
		for name, near := range engine(requestFor(t, s, facts)).Misnamed() {
			got = append(got, name+"="+near)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, expected %q", facts, text, want)
		}
		for range engine(requestFor(t, s, facts)).Misnamed() {
			break
		}
	}
}

// A role in the certificate is compared with the roles that have data. The name of the node is not.
func TestMisspeltTrustedExtensionIsNoticed(t *testing.T) {
	s := openSite(t, map[string]string{"hiera.yaml": `version: 5
hierarchy:
  - {name: Nodes, path: 'nodes/%{trusted.certname}.yaml'}
  - {name: Roles, path: 'roles/%{trusted.extensions.pp_role}.yaml'}
`, "data/nodes/webserver.yaml": "a: 1\n", "data/roles/webserver.yaml": "a: 2\n"})
	for role, want := range map[string]string{"webservr": "roles/webserver.yaml", "webserver": "", "database": ""} {
		trusted := map[string]any{"certname": "webservers", "extensions": map[string]any{"pp_role": role}}
		f, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "webservers",
			Trusted: hashOf(t, trusted)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Request(f)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, near := range engine(r).Misspelt() {
			got += near
		}
		if got != want {
			t.Errorf("%s: found '%s', expected '%s'", role, got, want)
		}
	}
}

func hashOf(t *testing.T, entries map[string]any) bindings.Value {
	t.Helper()
	v, err := bindings.ValueOf(entries)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
