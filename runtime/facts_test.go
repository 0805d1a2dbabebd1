package runtime

import (
	"errors"
	"testing"

	"bindc/internal/value"
)

// What is given is never replaced, but by Node; names are derived from one another.
func TestTheNamesOfANode(t *testing.T) {
	for _, c := range []struct {
		facts, node, certname                       string // certname is that of the trusted facts
		fqdn, hostname, domain, clientcert, trusted string
	}{
		{`{"fqdn": "n2.ex"}`, "", "", "n2.ex", "n2", "ex", "n2.ex", ""},
		{`{"fqdn": "n2"}`, "", "", "n2", "n2", "", "n2", ""},
		{`{"fqdn": "a.b.c"}`, "", "", "a.b.c", "a", "b.c", "a.b.c", ""},
		{`{}`, "n1.ex", "", "n1.ex", "n1", "ex", "n1.ex", "n1.ex"},
		{`{}`, "", "c.ex", "c.ex", "c", "ex", "c.ex", "c.ex"},
		{`{}`, "n1.ex", "c.ex", "n1.ex", "n1", "ex", "n1.ex", "n1.ex"},
		{`{"clientcert": "c.ex"}`, "", "", "c.ex", "c", "ex", "c.ex", ""},
		{`{"clientcert": "c.ex", "fqdn": "f.ex"}`, "n1.ex", "", "n1.ex", "n1", "ex", "n1.ex", "n1.ex"},
		{`{"clientcert": "c.ex", "fqdn": "f.ex"}`, "", "t.ex", "f.ex", "", "", "c.ex", "t.ex"},
		{`{"hostname": "h", "domain": "d"}`, "", "", "h.d", "h", "d", "h.d", ""},
		{`{"hostname": "h", "domain": "d"}`, "", "c.ex", "h.d", "h", "d", "c.ex", "c.ex"},
		{`{"hostname": "h", "domain": "d"}`, "n1.ex", "", "n1.ex", "h", "d", "n1.ex", "n1.ex"},
		{`{"hostname": "h"}`, "n1.ex", "", "n1.ex", "h", "ex", "n1.ex", "n1.ex"},
		{`{"hostname": "h"}`, "", "c.ex", "c.ex", "h", "ex", "c.ex", "c.ex"},
		{`{"fqdn": "f.ex", "domain": "ex"}`, "", "", "f.ex", "f", "ex", "f.ex", ""},
		{`{"fqdn": "f.ex", "clientcert": "c.ex"}`, "", "", "f.ex", "", "", "c.ex", ""},
		{`{"fqdn": "f.ex", "clientcert": "c.ex", "domain": "d"}`, "", "", "f.ex", "", "d", "c.ex", ""},
		{`{"fqdn": "f.ex", "domain": "d"}`, "n1.ex", "", "n1.ex", "n1", "d", "n1.ex", "n1.ex"},
		{`{"fqdn": "f.ex", "hostname": "h"}`, "", "", "f.ex", "h", "ex", "f.ex", ""},
		{`{"domain": "d"}`, "", "c.ex", "c.ex", "c", "d", "c.ex", "c.ex"},
		{`{"domain": "d"}`, "", "", "", "", "d", "", ""},
		{`{"networking": {"hostname": "h", "domain": "d"}}`, "", "c.ex", "h.d", "h", "d", "c.ex", "c.ex"},
		{`{"networking": {"hostname": "h", "domain": "d"}}`, "n1.ex", "", "n1.ex", "h", "d", "n1.ex", "n1.ex"},
		{`{"networking": {"fqdn": "w.ex", "hostname": "h"}}`, "", "c.ex", "w.ex", "h", "ex", "c.ex", "c.ex"},
		{`{"networking": {"fqdn": "w.ex"}, "hostname": "h", "domain": "d"}`, "", "", "w.ex", "h", "d", "w.ex", ""},
		{`{"networking": {"fqdn": "w.ex"}, "fqdn": "f.ex"}`, "", "", "f.ex", "f", "ex", "f.ex", ""},
		{`{"networking": {"hostname": "w", "domain": "w"}, "hostname": "h", "domain": "d"}`, "", "", "h.d", "h", "d",
			"h.d", ""},
		{`{"networking": {"fqdn": null, "domain": null}}`, "", "c.ex", "c.ex", "c", "ex", "c.ex", "c.ex"},
		{`{"hostname": "h", "domain": ""}`, "", "c.ex", "c.ex", "h", "", "c.ex", "c.ex"},
		{`{"trusted": {"certname": "forged"}}`, "", "", "", "", "", "", ""},
	} {
		trusted := Value{}
		if c.certname != "" {
			trusted = Value{v: value.FromPairs(value.Pair{Key: value.FromString("certname"),
				Value: value.FromString(c.certname)})}
		}
		facts, err := ParseFacts([]byte(c.facts), FactsOptions{Node: c.node, Trusted: trusted})
		if err != nil {
			t.Fatal(err)
		}
		certname, _ := dig(facts.variables, "trusted.certname")
		for i, want := range []string{c.fqdn, c.hostname, c.domain, c.clientcert} {
			name := []string{"fqdn", "hostname", "domain", "clientcert"}[i]
			if got := facts.variables[name].Text(); got != want {
				t.Errorf("%s, node %q, certname %q: %s is %q, expected %q", c.facts, c.node, c.certname, name, got,
					want)
			}
		}
		if certname.Text() != c.trusted {
			t.Errorf("%s, node %q: trusted.certname is %q, expected %q", c.facts, c.node, certname.Text(), c.trusted)
		}
	}
}

// The texts are those of Puppet::Context::TrustedInformation of Puppet 7, but for what is given otherwise.
func TestTrustedIsDerivedFromTheCertname(t *testing.T) {
	const unused = `"extensions":{},"hostname":"h","domain":null,"external":{}`
	for _, c := range []struct{ trusted, node, want string }{
		{`null`, "", `null`},
		{`null`, "web1.example.org", `{"authenticated":"remote","certname":"web1.example.org","extensions":{},` +
			`"hostname":"web1","domain":"example.org","external":{}}`},
		{`null`, "plain", `{"authenticated":"remote","certname":"plain","extensions":{},"hostname":"plain",` +
			`"domain":null,"external":{}}`},
		{`{"certname": "a."}`, "", `{"authenticated":"remote","certname":"a.","extensions":{},"hostname":"a",` +
			`"domain":"","external":{}}`},
		{`{"extensions": {"pp_role": "web"}, "own": 1}`, "a.b", `{"authenticated":"remote","certname":"a.b",` +
			`"extensions":{"pp_role":"web"},"hostname":"a","domain":"b","external":{},"own":1}`},
		{`{"certname": "a.b", "hostname": "h", "domain": "d", "authenticated": "local"}`, "c.d.e",
			`{"authenticated":"local","certname":"c.d.e","extensions":{},"hostname":"c","domain":"d.e",` +
				`"external":{}}`},
		{`{"certname": "a.b", "hostname": "h"}`, "a.b", `{"authenticated":"remote","certname":"a.b",` +
			`"extensions":{},"hostname":"h","domain":"b","external":{}}`},
		{`{"authenticated": false, "certname": null, ` + unused + `}`, "",
			`{"authenticated":false,"certname":null,` + unused + `}`},
		{`{"external": {}, "certname": "a.b", "authenticated": "x", "extensions": {}, "hostname": null, ` +
			`"domain": 1}`, "",
			`{"external":{},"certname":"a.b","authenticated":"x","extensions":{},"hostname":null,"domain":1}`},
	} {
		trusted, err := ParseJSON([]byte(c.trusted))
		if err != nil {
			t.Fatal(err)
		}
		opts := FactsOptions{Node: c.node, Trusted: trusted}
		facts, err := ParseFacts([]byte(`{"clientcert": "forged.ex"}`), opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(value.AppendJSON(nil, facts.variables["trusted"])); got != c.want {
			t.Errorf("%s, node %q: $trusted is %s, expected %s", c.trusted, c.node, got, c.want)
		}
	}
}

// One fact has one value, by whatever name it is asked for.
func TestTheNodeIsNamedInTheHashOfFactsToo(t *testing.T) {
	const given = `{"fqdn": "f.ex", "clientcert": "f.ex", "hostname": "f", "os": {"family": "Debian"}}`
	facts, err := ParseFacts([]byte(given), FactsOptions{Node: "n1.ex"})
	if err != nil {
		t.Fatal(err)
	}
	got := string(value.AppendJSON(nil, facts.variables["facts"]))
	if want := `{"fqdn":"n1.ex","clientcert":"n1.ex","hostname":"f","os":{"family":"Debian"}}`; got != want {
		t.Errorf("$facts is %s, expected %s", got, want)
	}
	if got := facts.variables["osfamily"].Text(); got != "Debian" {
		t.Errorf("osfamily is %q", got)
	}
}

// ParseFacts accepts the facts of a node as Puppet or PuppetDB returns them.
func TestParseFactsAcceptsShapesOfBindq(t *testing.T) {
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
		facts, err := ParseFacts([]byte(c.json), FactsOptions{Node: c.node})
		if err != nil {
			t.Errorf("%s: %v", c.json, err)
			continue
		}
		certname, _ := dig(facts.variables, "trusted.certname")
		if facts.variables["role"].Text() != c.role || certname.Text() != c.certname ||
			facts.variables["rack"].Text() != c.variable {
			t.Errorf("%s: role is %v, trusted.certname %v, rack %v", c.json, facts.variables["role"], certname,
				facts.variables["rack"])
		}
	}
}

// The options take precedence over the name, trusted facts and variables in the JSON.
func TestParseFactsPrefersItsOptions(t *testing.T) {
	given := func(json string) Value {
		v, err := ParseJSON([]byte(json))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	facts, err := ParseFacts([]byte(`{"certname": "w1", "facts": {}, "trusted": {"pp_role": "db"}, "vars": {"rack": "r7"}}`),
		FactsOptions{Trusted: given(`{"pp_role": "web"}`), Variables: given(`{"rack": "r1"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if role, _ := dig(facts.variables, "trusted.pp_role"); role.Text() != "web" {
		t.Errorf("trusted.pp_role is %v", role)
	}
	if rack := facts.variables["rack"]; rack.Text() != "r1" {
		t.Errorf("rack is %v", rack)
	}
}

func TestParseFactsRejectsJSONWithoutNode(t *testing.T) {
	for json, want := range map[string]string{
		`[]`:     "expected facts, found an empty list",
		`"web1"`: "expected facts as a hash of names to values, found the string 'web1'",
		`[{"certname": "w1", "name": "a", "value": 1}, {"certname": "w2", "name": "a", "value": 2}]`: "expected the facts " +
			"of one node, found those of 2; name the node",
		`{"certname": "w1", "facts": 7}`: "expected a hash of names to values, found the integer 7 in the facts of 'w1'",
	} {
		_, err := ParseFacts([]byte(json), FactsOptions{})
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeFacts || e.Message != want {
			t.Errorf("%s: %v, expected %s", json, err, want)
		}
	}
}
