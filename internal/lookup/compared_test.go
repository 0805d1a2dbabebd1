package lookup

import "testing"

func TestInPathFindsOnlyFact(t *testing.T) {
	for path, want := range map[string][3]string{
		"role/%{role}.yaml":              {"role", "role/", ".yaml"},
		"%{ facts.os.family }":           {"os.family", "", ""},
		"a/%{::osfamily}/b.yaml":         {"osfamily", "a/", "/b.yaml"},
		"nodes/%{trusted.certname}.yaml": {"node", "nodes/", ".yaml"},
		"nodes/%{facts.fqdn}.yaml":       {"node", "nodes/", ".yaml"},
		"%{a}/%{b}.yaml":                 {},
		"common.yaml":                    {},
		"%{unclosed":                     {},
	} {
		fact, before, after := inPath(path)
		if got := [3]string{fact, before, after}; got != want {
			t.Errorf("%s: found %q, expected %q", path, got, want)
		}
	}
}
