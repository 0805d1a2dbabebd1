package runtime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/loader"
	"bindc/snapshot"
)

// The lower layer binds a key twice for ams. That is not a conflict, because the upper layer hides both. In ams, all
// four bindings are candidates, in order of precedence. Elsewhere only the unconditional one is.
func TestHiddenBindingsAreCandidates(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"binder_config.yaml": `version: 1
layers:
  - {name: site, include: 'confdir:/default'}
  - {name: defaults, include: 'confdir:/low'}
categories:
  - [datacenter, '${datacenter}']
`,
		"bindings/default.yaml": `{bindings_version: 1, name: default, bind: [
  {when: {datacenter: ams}, bind: [[a, site]]}]}
`,
		"bindings/low.yaml": `{bindings_version: 1, name: low, bind: [
  {when: {datacenter: ams}, bind: [[a, first]]}, {when: {datacenter: ams}, bind: [[a, second]]}, [a, common]]}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for datacenter, want := range map[string]string{
		"ams": `[false 0 "site" 1; false 1 "first" 2; true 1 "second" 2; false 1 "common" 2;]`,
		"fra": `[false 1 "common" 2;]`,
	} {
		numbers := make([]uint32, len(s.Dimensions()))
		for i, d := range s.Dimensions() {
			numbers[i] = snapshot.None
			if d.Name == "datacenter" {
				numbers[i] = s.ValueNumber(i, datacenter)
			}
		}
		var at snapshot.Scopes
		if err := s.Resolve(numbers, &at); err != nil {
			t.Fatal(err)
		}
		var got []string
		for c, err := range s.Candidates("a", numbers, &at) {
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Binding("a", c)
			if err != nil {
				t.Fatal(err)
			}
			text := c.Stored.Bytes // a short string is a byte followed by the text
			if !c.Hidden {
				v, err := s.Value(c.Ref)
				if err != nil {
					t.Fatal(err)
				}
				text = " " + v.Text()
			}
			got = append(got, fmt.Sprintf("%t %d %q %d;", c.Hidden, b.Layer, text[1:], b.Origin.Input))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("in %s the candidates are %v, want %s", datacenter, got, want)
		}
	}
}
