package lint

import (
	"strings"
	"testing"
)

// The short form has no attributes, so a hash of attributes is the value, which is hardly intended. A hash that may be
// data is not reported.
func TestReportsHashOfAttributesInTheShortForm(t *testing.T) {
	for value, isAdvised := range map[string]bool{
		"{to_lookup_of: app::b}":                    true,
		"{type: Integer, to: 4}":                    true,
		"{to_first_found: [a, b], sensitive: true}": true,
		"{override: true, to: 4}":                   true,
		"{to: 4}":                                   false,
		"{type: Integer}":                           false,
		"{type: Integer, to: 4, from: 3}":           false,
		"{to_lookup_of: app::b, 1: 2}":              false,
		"{}":                                        false,
		"[to_lookup_of]":                            false,
		"text":                                      false,
		"\"${osfamily}\"":                           false,
		"1]\n  # bindc: ignore attributes_as_value\n  - [app::c, {to_lookup_of: app::b}": false,
	} {
		s := site{"bindings/default.yaml": "bindings_version: 1\nname: default\nbind:\n" +
			"  - {name: app::b, to: {to_lookup_of: app::a}}\n  - [app::a, " + value + "]\n",
			"hiera.yaml": "version: 2", "data/common.yaml": "app::d: {to_lookup_of: app::b}\n"}
		want := ""
		if isAdvised {
			want = "bindings/default.yaml:5:6"
		}
		if got := strings.Join(s.advice(t, Options{})["attributes_as_value"], " "); got != want {
			t.Errorf("%s: advises at %q, expected %q", value, got, want)
		}
	}
}
