package lookup

import (
	"os"
	"path/filepath"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/value"
	"bindc/loader"
	"bindc/snapshot"
)

// The layer of an unconditional binding is cached, because every merge would have to decompress the
// block that has it.
func TestLayerOfUnconditionalBindingIsCached(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hiera.yaml":       "version: 5\nhierarchy:\n  - {name: top, path: top.yaml}\n  - {name: common, path: common.yaml}\n",
		"data/top.yaml":    "high: 1\nboth: [1]\n",
		"data/common.yaml": "low: 1\nboth: [2]\n",
	} {
		at := filepath.Join(dir, "site", name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var diags diag.List
	content := compile.Compile(loader.Load(filepath.Join(dir, "site"), loader.Options{}, &diags), compile.Options{},
		&diags)
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err, diags.Sorted())
	}
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	facts, _ := NewFacts(Value{}, FactsOptions{})
	req, err := s.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	unique, _ := parseJSON([]byte(`"unique"`))
	for key, want := range map[string]struct {
		layer int
		value string
	}{"high": {1, "[1]"}, "low": {2, "[1]"}, "both": {1, "[1,2]"}} {
		for range 2 {
			v, _, err := req.LookupMerged(key, unique)
			if text := value.AppendJSON(nil, v.Content()); err != nil || string(text) != want.value {
				t.Errorf("%s is %s (%v), expected %s", key, text, err, want.value)
			}
		}
		if layer, known := s.layers.Load(key); !known || layer != want.layer {
			t.Errorf("the layer of %s is %v", key, layer)
		}
	}
}
