package runtime_test

import (
	"testing"

	bindings "bindc/runtime"
)

// If a client passes both "role" of the caller's scope and "::role", ${::role} is the latter.
func TestTopScopeVariablesInBindings(t *testing.T) {
	s := open(t, `bindings_version: 1
name: default
bind:
  - {name: text, to: '${::role} ${role}'}
  - {name: expression, to_expression: "upcase($::role)"}
  - {name: lambda, to_expression: "with('x') |$role| { \"${role}${::role}\" }"}
  - {name: inside, to_expression: "$::os['family']"}
`, bindings.Options{})
	for vars, want := range map[string][4]string{
		`{"role": "db", "::role": "web", "os": {"family": "a"}, "::os": {"family": "b"}}`: {"web db", "WEB", "xweb", "b"},
		`{"role": "web", "os": {"family": "a"}}`:                                          {"web web", "WEB", "xweb", "a"},
		`{"role": "db", "::role": null}`:                                                  {" db", "", "x", ""},
	} {
		req := strictRequest(t, s, vars, false)
		for i, key := range []string{"text", "expression", "lambda", "inside"} {
			v, _, err := req.Lookup(key)
			if i == 1 && want[i] == "" {
				continue // upcase of undef fails
			}
			if err != nil || textOf(v) != want[i] {
				t.Errorf("%s: %s: %q, %v", vars, key, textOf(v), err)
			}
		}
	}
}

// With strict variables, an unset variable of the top scope is an error, even if the caller's scope has one. A request
// without '::role' uses role as the top-scope variable.
func TestStrictTopScopeVariablesInBindings(t *testing.T) {
	s := open(t, "bindings_version: 1\nname: default\nbind: [[a, 'x${::role}']]\n", bindings.Options{StrictVariables: true})
	if _, _, err := strictRequest(t, s, `{"role": "db", "::role": null}`, false).Lookup("a"); err == nil {
		t.Error("no error")
	}
	if v, _, err := strictRequest(t, s, `{"role": "db"}`, false).Lookup("a"); err != nil || textOf(v) != "xdb" {
		t.Error(v, err)
	}
}
