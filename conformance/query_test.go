package conformance

import (
	"path/filepath"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// The producer 'query' gets a query in the format of PuppetDB, in both syntaxes. select_result selects a part of the
// result.
func TestProducerQueryGetsPuppetDBQueries(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "bindings", "default.pp"), `bindings default {
  bind 'one' to Sql[?? name == one and (port > 80 or not up != true) and note =~ /^a/] {
    select_result => |$found| { $found[0]['name'] }
  }
  bind 'asked' to Sql[?? name == 'one' and port > 80]
}
`)
	writeFile(t, filepath.Join(dir, "bindings", "more.yaml"), `bindings_version: 1
name: more
bind:
  - {name: 'yaml', to_query: "Sql[?? name == 'one' and port > 80]", transformer: '|$found| { $found[1] }'}
`)
	writeFile(t, filepath.Join(dir, "binder_config.yaml"),
		"version: 1\nlayers: [{include: ['confdir:/default', 'confdir:/more']}]\n")
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	path := filepath.Join(dir, "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	query := func(_ *bindings.Request, query bindings.Value) (bindings.Value, error) {
		return bindings.ValueOf([]any{map[string]any{"name": "first"}, query})
	}
	snap, err := bindings.Open(path, bindings.Options{Producers: map[string]bindings.Producer{"query": query}})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{Node: "kermit"})
	if err != nil {
		t.Fatal(err)
	}
	req, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	const asked = `["and",["=","type","Sql"],["and",["=","name","one"],[">","port",80]]]`
	for key, want := range map[string]string{"one": `"first"`, "yaml": asked,
		"asked": `[{"name":"first"},` + asked + `]`} {
		v, _, err := req.Lookup(key)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if got, err := v.MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", key, got, err, want)
		}
	}
}
