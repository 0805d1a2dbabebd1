package explore

import (
	"fmt"
	"strings"
	"testing"
)

const structured = `
-- site/hiera.yaml --
version: 5
hierarchy:
  - {name: families, path: 'os/%{facts.os.family}.yaml'}
  - {name: environments, path: 'environment/%{environment}.yaml'}
  - {name: unused, path: 'unused/%{facts.kernel}.yaml'}
  - {name: common, path: common.yaml}
-- site/data/common.yaml --
motd: "%{facts.networking.fqdn}, major %{facts.os.release.major}"
theme: light
-- site/data/os/Debian.yaml --
family: yes
-- site/data/environment/staging.yaml --
theme: dark
-- facts/web1.json --
{"kernel": "Linux", "os": {"family": "Debian", "architecture": "amd64", "release": {"major": "12", "full": "12.5"}},
 "networking": {"fqdn": "web1", "interfaces": {"lo": {"mac": "00"}}}, "role": "web"}
-- facts/web2.json --
{"certname": "web2", "environment": "staging", "facts": {"os": {"family": "Debian"}}}
`

func TestFormHasOnlyFactsThatAreRead(t *testing.T) {
	d := open(t, structured, Source{})
	v := &view{d: d}
	for node, expected := range map[string]string{
		"web1": "environment=production (the default; the facts have none) networking.fqdn=web1 os.family=Debian " +
			"os.release.major=12",
		"web2": "environment=staging (of the node) os.family=Debian",
	} {
		n, _ := d.node(node)
		var found []string
		for _, f := range v.factFields(n) {
			text := f.Name + "=" + f.Value
			if f.Origin != "" {
				text += fmt.Sprintf(" (%s)", f.Origin)
			}
			found = append(found, text)
		}
		if strings.Join(found, " ") != expected {
			t.Errorf("%s: found %v, expected %s", node, found, expected)
		}
	}
}

// The fact that a derived variable is derived from is read.
func TestFormHasSourceOfDerivedFact(t *testing.T) {
	d := open(t, strings.Replace(small, "osfamily: Debian", "os: {family: Debian, name: Debian}", 1), Source{})
	n, _ := d.node("web1")
	fields := (&view{d: d}).factFields(n)
	if len(fields) != 1 || fields[0].Name != "os.family" {
		t.Errorf("found %+v, expected os.family", fields)
	}
}

func TestWhatIfChangesEnvironment(t *testing.T) {
	d := open(t, structured, Source{})
	to := served(t, Access{}, d) + "/s/" + d.ID
	for node, change := range map[string]string{"web1": "staging", "web2": "production"} {
		_, text := get(t, "GET", to+"/n/"+node+"?if=environment%3D"+change, nil)
		if !strings.Contains(text, "1 key has another value") || strings.Contains(text, "Nothing uses") {
			t.Errorf("%s in %s:\n%s", node, change, text)
		}
	}
}
