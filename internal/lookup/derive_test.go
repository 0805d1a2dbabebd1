package lookup

import (
	"errors"
	"testing"

	"bindc/internal/value"
)

// Legacy facts are derived from the structured facts that modern Facter sends instead. Given facts are kept
// (language.md, section 7).
func TestDerivesLegacyFacts(t *testing.T) {
	const os = `"os": {"family": "RedHat", "name": "CentOS", "architecture": "x86_64",
		"release": {"full": "8.4.2", "major": "8"}}`
	for _, c := range []struct{ facts, name, want string }{
		{`{` + os + `}`, "osfamily", `"RedHat"`},
		{`{` + os + `}`, "operatingsystem", `"CentOS"`},
		{`{` + os + `}`, "operatingsystemrelease", `"8.4.2"`},
		{`{` + os + `}`, "operatingsystemmajrelease", `"8"`},
		{`{` + os + `}`, "architecture", `"x86_64"`},
		{`{` + os + `, "osfamily": "Suse", "kernel": "BSD"}`, "osfamily", `"Suse"`},
		{`{` + os + `, "osfamily": "Suse", "kernel": "BSD"}`, "kernel", `"BSD"`},
		{`{` + os + `}`, "kernel", `"Linux"`},
		{`{"os": {"family": "Solaris"}}`, "kernel", `"SunOS"`},
		{`{"os": {"family": "windows"}}`, "kernel", `"windows"`},
		{`{"os": {"family": "Plan9"}}`, "kernel", ``},
		{`{"os": {"family": null}}`, "osfamily", ``},
		{`{"os": "Linux"}`, "osfamily", ``},
		{`{}`, "kernel", ``},
		{`{"networking": {"ip": "10.0.0.1"}}`, "ipaddress", `"10.0.0.1"`},

		{`{"hypervisors": {"kvm": {}, "xen": {}}}`, "virtual", `"kvm"`},
		{`{"hypervisors": {"kvm": {}}}`, "is_virtual", `true`},
		{`{"hypervisors": {}}`, "virtual", ``},
		{`{"hypervisors": {}}`, "is_virtual", ``},
		{`{"virtual": "physical"}`, "is_virtual", `false`},
		{`{"virtual": "physical", "hypervisors": {"kvm": {}}}`, "virtual", `"physical"`},
		{`{"virtual": "xenu", "is_virtual": "given"}`, "is_virtual", `"given"`},

		{`{}`, "environment", `"production"`},
		{`{"environment": "test"}`, "environment", `"test"`},
		{`{"environment": null}`, "environment", `null`},
		{`{"fqdn": "n2"}`, "hostname", `"n2"`},
		{`{"fqdn": "n2"}`, "domain", ``},
		{`{"fqdn": ".ex"}`, "hostname", ``},
		{`{"fqdn": ".ex"}`, "domain", `"ex"`},
		{`null`, "environment", `"production"`},
		{`null`, "facts", `{}`},
		{`{"a": {"b": 1}}`, "facts", `{"a":{"b":1}}`},
		{`{"a": {"b": 1}}`, "a", `{"b":1}`},
		{`{"trusted": {"certname": "forged"}}`, "trusted", ``},

		{`{}`, "server_facts", `{"environment":"production"}`},
		{`{"environment": "test"}`, "server_facts", `{"environment":"test"}`},
		{`{"server_facts": {"serverip": "forged"}}`, "server_facts", `{"environment":"production"}`},
	} {
		facts, err := factsOf([]byte(c.facts), FactsOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.facts, err)
			continue
		}
		got := ""
		if v, ok := facts.variables[c.name]; ok {
			got = string(value.AppendJSON(nil, v))
		}
		if got != c.want {
			t.Errorf("%s: %s is %s, expected %s", c.facts, c.name, got, c.want)
		}
	}
}

func TestFactsOptionsPrecedeFacts(t *testing.T) {
	trusted, err := parseJSON([]byte(`{"certname": "c.ex", "extensions": {"role": "db"}}`))
	if err != nil {
		t.Fatal(err)
	}
	facts, err := factsOf([]byte(`{"environment": "test", "trusted": {"extensions": {"role": "forged"}}}`),
		FactsOptions{Node: "n1.ex", Environment: "live", Trusted: trusted})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"environment": `"live"`, "trusted": `{"authenticated":"remote","certname":"n1.ex",` +
			`"extensions":{"role":"db"},"hostname":"n1","domain":"ex","external":{}}`,
	} {
		if got := string(value.AppendJSON(nil, facts.variables[name])); got != want {
			t.Errorf("%s is %s, expected %s", name, got, want)
		}
	}
}

// The message describes the value, which helps to find mixed-up files.
func TestNewFactsRejectsValuesThatAreNotHashes(t *testing.T) {
	for json, found := range map[string]string{
		"[]": "an array", `"text"`: "String 'text'", "7": "Integer '7'", "false": "Boolean 'false'",
	} {
		const facts, trusted = "expected the facts as a hash whose keys are fact names, found ",
			"expected trusted facts as a hash, found "
		var e *Error
		v, err := parseJSON([]byte(json))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewFacts(v, FactsOptions{}); !errors.As(err, &e) || e.Code != CodeFacts ||
			e.Message != facts+found {
			t.Errorf("facts %s: %v", json, err)
		}
		if _, err := NewFacts(Value{}, FactsOptions{Trusted: v}); !errors.As(err, &e) || e.Code != CodeFacts ||
			e.Message != trusted+found {
			t.Errorf("trusted facts %s: %v", json, err)
		}
	}
	hash, err := parseJSON([]byte(`{"role": {"a": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewFacts(hash, FactsOptions{Trusted: hash}); err != nil {
		t.Error(err)
	}
}

func TestDescribeNamesKindOfValue(t *testing.T) {
	hash := value.FromPairs(value.Pair{Key: value.FromString("a"), Value: value.FromInt(1)})
	for want, v := range map[string]value.Value{
		"undef": {}, "an array": value.Strings("a"), "a hash": hash, "Integer '7'": value.FromInt(7),
	} {
		if got := describe(v); got != want {
			t.Errorf("%v is described as %q, expected %q", v, got, want)
		}
	}
}
