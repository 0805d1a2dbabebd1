package facts

import (
	"errors"
	"testing"

	"bindc/internal/lookup"
	bindings "bindc/runtime"
)

// ParseJSON accepts the facts of a node as Puppet or PuppetDB returns them.
func TestParseJSONAcceptsFormatsOfPuppetAndPuppetDB(t *testing.T) {
	for _, c := range []struct{ json, node, role, certname, variable string }{
		{`{"role": "web"}`, "", "web", "", ""},
		{`{"name": "w1", "values": {"role": "web"}}`, "", "web", "w1", ""},
		{`{"name": "w1", "facts": {"role": "web"}}`, "", "web", "w1", ""},
		{`{"certname": "w1", "facts": {"role": "web"}, "trusted": {"certname": "other"}}`, "", "web", "other", ""},
		{`{"certname": "w1", "facts": {"role": "web"}, "vars": {"rack": "r7"}}`, "", "web", "w1", "r7"},
		{`{"certname": "w1", "facts": {"data": [{"name": "role", "value": "web"}]}}`, "", "web", "w1", ""},
		{`[{"certname": "w1", "name": "role", "value": "web"}, {"certname": "w2", "name": "role", "value": "db"}]`,
			"w2", "db", "w2", ""},
		{`{"name": "w1", "values": {"role": "web"}}`, "w9", "web", "w9", ""},
		{`null`, "", "", "", ""},
	} {
		facts, err := ParseJSON([]byte(c.json), bindings.FactsOptions{Node: c.node})
		if err != nil {
			t.Errorf("%s: %v", c.json, err)
			continue
		}
		all := (*lookup.Facts)(facts)
		certname := text(all.Variable("trusted"), "certname")
		role, rack := all.Variable("role").Text(), all.Variable("rack").Text()
		if role != c.role || certname != c.certname || rack != c.variable {
			t.Errorf("%s: role is %v, trusted.certname %v, rack %v", c.json, role, certname, rack)
		}
	}
}

// The options take precedence over the name, trusted facts and variables in the JSON.
func TestParseJSONPrefersItsOptions(t *testing.T) {
	given := func(json string) (v bindings.Value) {
		if err := v.UnmarshalJSON([]byte(json)); err != nil {
			t.Fatal(err)
		}
		return v
	}
	facts, err := ParseJSON([]byte(`{"certname": "w1", "facts": {}, "trusted": {"pp_role": "db"}, "vars": {"rack": "r7"}}`),
		bindings.FactsOptions{Trusted: given(`{"pp_role": "web"}`), Variables: given(`{"rack": "r1"}`)})
	if err != nil {
		t.Fatal(err)
	}
	all := (*lookup.Facts)(facts)
	if role := text(all.Variable("trusted"), "pp_role"); role != "web" {
		t.Errorf("trusted.pp_role is %v", role)
	}
	if rack := all.Variable("rack"); rack.Text() != "r1" {
		t.Errorf("rack is %v", rack)
	}
}

func TestParseJSONRejectsJSONWithoutNode(t *testing.T) {
	for json, want := range map[string]string{
		`[]`:     "expected facts, found an empty list",
		`"web1"`: "expected facts as a hash whose keys are fact names, found the string 'web1'",
		`[{"certname": "w1", "name": "a", "value": 1}, {"certname": "w2", "name": "a", "value": 2}]`: "expected the facts " +
			"of one node, found 2 nodes; name the node",
		`{"certname": "w1", "facts": 7}`: "expected a hash whose keys are fact names, found the integer 7 in the facts of 'w1'",
	} {
		_, err := ParseJSON([]byte(json), bindings.FactsOptions{})
		var e *bindings.Error
		if !errors.As(err, &e) || e.Code != bindings.CodeFacts || e.Message != want {
			t.Errorf("%s: %v, expected %s", json, err, want)
		}
	}
}
