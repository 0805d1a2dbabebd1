package datafile

import (
	"fmt"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fsx"
	"bindc/internal/value"
)

func TestCompilesClassifierOutput(t *testing.T) {
	tests := []struct{ source, bound, problems string }{
		{"classes: [ntp, '::web::server', ntp]", "/classes/ntp=true@11 /classes/web::server=true@16", ""},
		{"classes: {ntp: {enable: true, servers: [a]}, web: , db: {}}",
			"/classes/ntp=true@11 ntp::enable=true@17 ntp::servers=[a]@31 /classes/web=true@46 /classes/db=true@53",
			""},
		{"parameters: {role: web, '::a::b': '${x} %{y}', n: 1.5}",
			"/var/role=web@14 /var/a::b=${x} %{y}@25 /var/n=1.5@48", ""},
		{"environment: test", "/environment=test@1", ""},
		{"{classes: ~, parameters: , environment: }", "", ""},
		{"--- {}", "", ""},

		{"", "", "1 error enc"},
		{"[ntp]", "", "1 error enc"},
		{"class: [ntp]", "", "1 error enc"},
		{"classes: ntp", "", "10 error enc"},
		{"classes: [Ntp, 1, 'a b']", "", "11 error enc 16 error enc 19 error enc"},
		{"classes: {ntp: [a]}", "/classes/ntp=true@11", "16 error enc"},
		{"classes: {ntp: {Enable: 1, a::b: 1}}", "/classes/ntp=true@11", "17 error enc 28 error enc"},
		{"parameters: [a]", "", "13 error enc"},
		{"parameters: {a-b: 1, '1': 2, c: 3}", "/var/c=3@30", "14 warning enc 22 warning enc"},
		{"environment: [a]", "", "14 error enc"},
		{"environment: ''", "", "14 error enc"},
		{"parameters: {a: 1, a: 2}", "/var/a=2@20", "20 warning yaml_duplicate_key"},
		{"classes: [", "", "11 error yaml_syntax"},
	}
	for _, test := range tests {
		var diags diag.List
		r := NewReader(nil, fsx.Disk{})
		var bound, problems []string
		for _, e := range r.Source("f", []byte(test.source), Classified, &diags).Entries {
			v, _, err := value.View(r.Pools.Values.Texts()[e.Value][1:])
			if err != nil {
				t.Fatal(err)
			}
			bound = append(bound, fmt.Sprintf("%s=%s@%d", r.Pools.Keys.Texts()[e.Key], value.AppendText(nil, v), e.Col))
		}
		for _, d := range diags.Sorted() {
			problems = append(problems, fmt.Sprint(d.Pos.Col, " ", d.Severity, " ", d.Code))
		}
		if got := strings.Join(bound, " "); got != test.bound {
			t.Errorf("%s: bound %s, expected %s", test.source, got, test.bound)
		}
		if got := strings.Join(problems, " "); got != test.problems {
			t.Errorf("%s: found %s, expected %s", test.source, got, test.problems)
		}
	}
}
