package runtime_test

import (
	"errors"
	"strings"
	"testing"

	bindings "bindc/runtime"
)

const strictSite = `
-- hiera.yaml --
version: 5
hierarchy:
  - {name: Families, path: 'family/%{osfamily}.yaml'}
  - {name: Common, path: common.yaml}
-- data/common.yaml --
bare: 'x%{osfamily}'
top: 'x%{::role}'
key: {'%{nobody}': 1}
keys: 'x%{nobody.a}'
method: "x%{scope('nobody')}"
class: 'x%{m::nobody}'
derived: 'x%{hostname}'
lookup: "%{lookup('bare')}"
alias: ["%{alias('bare')}"]
inside: 'x%{facts.nobody}%{trusted.nobody.x}%{server_facts.nobody}%{role.x}'
undef: 'x%{unset}%{::unset}%{unset.x}'
always: 'x%{module_name}%{caller_module_name}%{0}%{12}'
environment: 'x%{environment}'
`

// strictRequest makes a request for the node n1 with variables in JSON.
func strictRequest(t *testing.T, s *bindings.Snapshot, vars string, strict bool) *bindings.Request {
	t.Helper()
	all, err := parseJSON([]byte(vars))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseFacts([]byte(`{"facts": {"os": {}}, "trusted": {"certname": "n1"}}`),
		bindings.FactsOptions{Variables: all, StrictVariables: strict})
	if err != nil {
		t.Fatal(err)
	}
	req, err := s.Request(f)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestStrictVariablesInHieraValues(t *testing.T) {
	of := map[string]string{"bare": "'osfamily'; it is a legacy fact: write %{facts.os.family}", "top": "'::role'",
		"key": "'nobody'", "keys": "'nobody'", "method": "'nobody'", "class": "'m::nobody'",
		"derived": "'hostname'; it is a legacy fact: write %{facts.networking.hostname}",
		"lookup":  "'osfamily'", "alias": "'osfamily'",
		"inside": "", "undef": "", "always": "", "environment": ""}
	vars := `{"unset": null, "role": {"y": 1}, "::role": null}`
	for _, c := range []struct {
		byOptions, byFacts bool
	}{{}, {true, false}, {false, true}} {
		s := hieraSnapshot(t, strictSite, bindings.Options{StrictVariables: c.byOptions})
		req := strictRequest(t, s, vars, c.byFacts)
		for key, name := range of {
			_, found, err := req.Lookup(key)
			var e *bindings.Error
			switch {
			case !found && err == nil:
				t.Errorf("%s is not found", key)
			case name == "" || !c.byOptions && !c.byFacts:
				if err != nil {
					t.Errorf("%v: %s: %v", c, key, err)
				}
			case !errors.As(err, &e) || e.Code != bindings.CodeEvaluation ||
				!strings.Contains(e.Message, "undefined variable "+name):
				t.Errorf("%v: %s: %v, want %s", c, key, err, name)
			}
		}
	}
}

// With strict variables, %{::role} is the top-scope variable, even if the caller's scope has another role.
func TestStrictFindsTopScopeVariableShadowedByCaller(t *testing.T) {
	s := hieraSnapshot(t, strictSite, bindings.Options{})
	for _, vars := range []string{`{"role": "db", "::role": "web"}`, `{"role": "web"}`, `{"::role": "web"}`} {
		v, _, err := strictRequest(t, s, vars, true).Lookup("top")
		if err != nil || textOf(v) != "xweb" {
			t.Errorf("%s: %v, %v", vars, v, err)
		}
	}
}

// FactsOptions.StrictVariables does not apply to structured bindings, only to Hiera 5 data.
func TestStrictFactsDoNotAffectBindings(t *testing.T) {
	s := open(t, "bindings_version: 1\nname: default\nbind: [[a, 'x${nobody}']]\n", bindings.Options{})
	if v, _, err := strictRequest(t, s, "{}", true).Lookup("a"); err != nil || textOf(v) != "x" {
		t.Errorf("%v, %v", v, err)
	}
}
