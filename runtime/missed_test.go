package runtime_test

import (
	"strings"
	"testing"

	"bindc/internal/lookup"
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
