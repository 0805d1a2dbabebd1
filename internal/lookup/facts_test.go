package lookup

import (
	"testing"

	"bindc/internal/value"
)

// Only Node replaces given facts. Names are derived from one another.
func TestDerivesNodeNamesFromOneAnother(t *testing.T) {
	for _, c := range []struct {
		facts, node, certname                       string // certname is the one in the trusted facts
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
			trusted = Value(value.FromPairs(value.Pair{Key: value.FromString("certname"),
				Value: value.FromString(c.certname)}))
		}
		facts, err := factsOf([]byte(c.facts), FactsOptions{Node: c.node, Trusted: trusted})
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

// Entries that are not given are derived as by Puppet::Context::TrustedInformation in Puppet 7.
func TestDerivesTrustedFromCertname(t *testing.T) {
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
		trusted, err := parseJSON([]byte(c.trusted))
		if err != nil {
			t.Fatal(err)
		}
		opts := FactsOptions{Node: c.node, Trusted: trusted}
		facts, err := factsOf([]byte(`{"clientcert": "forged.ex"}`), opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(value.AppendJSON(nil, facts.variables["trusted"])); got != c.want {
			t.Errorf("%s, node %q: $trusted is %s, expected %s", c.trusted, c.node, got, c.want)
		}
	}
}

// FactsOptions.Node replaces the names of the node in the hash $facts, too.
func TestNodeReplacesNamesInFactsHash(t *testing.T) {
	const given = `{"fqdn": "f.ex", "clientcert": "f.ex", "hostname": "f", "os": {"family": "Debian"}}`
	facts, err := factsOf([]byte(given), FactsOptions{Node: "n1.ex"})
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
