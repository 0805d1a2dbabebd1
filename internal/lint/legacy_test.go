package lint

import (
	"slices"
	"strings"
	"testing"
)

// Legacy facts are reported if strings or paths of Hiera 5 interpolate them.
func TestReportsLegacyFactsInHiera5(t *testing.T) {
	s := site{
		"hiera.yaml": "version: 5\nhierarchy:\n  - {name: a, path: 'os/%{::osfamily}.yaml'}\n" +
			"  # bindc: ignore legacy_fact\n  - {name: b, path: 'os/%{lsbdistcodename}.yaml'}\n" +
			"  - {name: c, path: common.yaml}\n",
		"data/common.yaml": "a: ['%{osfamily} on %{facts.hostname}']\n'b': {'%{ipaddress_eth0}': \"%{scope('fqdn')}\"}\n" +
			"c: '%{facts.os.family} %{kernel} %{lookup(\"fqdn\")} %{osfamily.a} %{facts.fqdn.a} %{trusted.hostname}'\n",
	}
	got := s.advice(t, Options{})["legacy_fact"]
	want := []string{"data/common.yaml:1:6", "data/common.yaml:1:21", "data/common.yaml:2:8", "data/common.yaml:2:29",
		"hiera.yaml:3:25"}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// Strings of Hiera-2 and of structured bindings interpolate ${...}, not %{...}.
func TestReportsNoLegacyFactsOutsideHiera5(t *testing.T) {
	s := site{"hiera.yaml": "version: 2\n", "data/common.yaml": "a: '%{osfamily}'\n"}
	if got := s.advice(t, Options{})["legacy_fact"]; got != nil {
		t.Error(got)
	}
}
