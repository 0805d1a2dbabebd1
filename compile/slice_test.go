package compile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/recipe"
	"bindc/internal/report/slice"
	"bindc/internal/testmode"
	"bindc/loader"
	"bindc/snapshot"
)

// slicedSite has keys that only production binds, keys that only development binds, and keys that both bind.
var slicedSite = map[string]string{
	"binder_config.yaml": `version: 1
layers:
  - {name: high, include: ['confdir:/default', 'confdir:/development']}
  - {name: low, include: ['confdir:/low', 'confdir-hiera:/']}
categories:
  - [node, '${fqdn}']
  - [role, '${role}']
  - [environment, '${environment}']
  - [common, 'true']
`,
	"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - {when: {node: n, environment: development}, bind: [[a, 1]]}
  - {when: {node: n, environment: production}, bind: [[a, 2]]}
  - {when: {node: n}, bind: [[a, 3], [b, 4]]}
  - {when: {environment: [production, development]}, bind: [[c, 5]]}
  - [e, 6]
  - {name: l, multibind_id: l, type: Array}
  - {when: {environment: development}, bind: [{in: l, to: 7}]}
  - {when: {environment: production}, bind: [{in: l, to: 8}]}
`,
	"bindings/development.yaml": `bindings_version: 1
name: development
bind:
  - {when: {role: r, environment: development}, bind: [[d, 2]]}
  - {when: {environment: development}, bind: [[d, 1], {name: secret, to: hunter2, sensitive: true}]}
`,
	"bindings/low.yaml": `bindings_version: 1
name: low
bind:
  - {when: {environment: development}, bind: [[e, 9]]}
  - {when: {environment: production}, bind: [[e, 10]]}
  - [e, 11]
`,
	"hiera.yaml": `version: 2
hierarchy:
  - [environment, '${environment}', 'data/${environment}']
`,
	"data/production.yaml":  "# of production\nf: 1\n",
	"data/development.yaml": "# of development\nf: 2\ng: 3\n",
	"data/test.yaml":        "{}\n",
}

// sliced returns the content of slicedSite, reduced to an environment unless that is "".
func sliced(t *testing.T, environment string) *snapshot.Content {
	t.Helper()
	dir := t.TempDir()
	testmode.WriteFiles(t, dir, slicedSite)
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	content := Compile(site, Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	if environment != "" {
		d := slices.IndexFunc(site.Dimensions, func(d loader.Dimension) bool { return d.Name == "environment" })
		if err := slice.Cut(content, []snapshot.Term{{Dimension: d, Value: environment}}); err != nil {
			t.Fatal(err)
		}
	}
	return content
}

// The slice contains only the bindings that requests of the environment can find, in their order, and no names of
// others.
func TestSliceKeepsReachableBindings(t *testing.T) {
	for environment, want := range map[string]string{
		"production": `
			high node=n environment=production: a=2@4
			high node=n: a=3@5 b=4@5
			high environment=production: \x00l=[- 8 3 8]@0 c=5@6
			low environment=production: f=1@1
			\x00l none; 3 high environment=production contribution @10
			a none
			b none
			c none
			e=6; 3 high @7; 4 low environment=production @4; 4 low @5
			f none
			l=computed; 3 high @8
			10 bindings, sensitive false, of
			binder_config.yaml bindings/default.yaml bindings/low.yaml data/production.yaml data/test.yaml hiera.yaml`,
		"development": `
			high node=n environment=development: a=1@3
			high node=n: a=3@5 b=4@5
			high role=r environment=development: d=2@3
			high environment=development: \x00l=[- 7 3 7]@0 c=5@6 d=1@4 secret=computed@4
			low environment=development: f=2@1 g=3@2
			\x00l none; 4 high environment=development contribution @9
			a none
			b none
			c none
			d none
			e=6; 4 high @7; 5 low environment=development @3; 5 low @5
			f none
			g none
			l=computed; 4 high @8
			secret none
			14 bindings, sensitive true, of
			binder_config.yaml bindings/default.yaml bindings/development.yaml bindings/low.yaml ` +
			`data/development.yaml data/test.yaml hiera.yaml`,
	} {
		c := sliced(t, environment)
		var inputs []string
		for _, in := range c.Inputs {
			inputs = append(inputs, in.Path)
		}
		got := fmt.Sprintf("%s\n%d bindings, sensitive %t, of\n%s", contentText(c), c.Bindings, c.Sensitive,
			strings.Join(inputs, " "))
		if want := strings.ReplaceAll(strings.TrimSpace(want), "\t", ""); got != want {
			t.Errorf("%s:\n%s\nexpected\n%s", environment, got, want)
		}
	}
}

// The slice does not contain the values of removed bindings, and can be opened.
func TestSliceIsAValidSnapshot(t *testing.T) {
	content := sliced(t, "production")
	for _, v := range content.Values {
		if strings.Contains(v.Bytes, "hunter2") {
			t.Errorf("a value that nothing is bound to is left: %q", v.Bytes)
		}
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Verify(func(encoded string) (contributes, alone bool, err error) {
		return recipe.Check(encoded, recipe.Features{})
	}); err != nil {
		t.Error(err)
	}
	if got := s.Slice(); len(got) != 1 || got[0].Value != "production" {
		t.Errorf("the file is for %v", got)
	}
}
