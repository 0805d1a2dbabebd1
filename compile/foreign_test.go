package compile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bindc/compile"
	"bindc/diag"
	"bindc/loader"
)

// A level is left to Puppet if a chain of lookups, however long, ends in a key that only Puppet may have. The reported
// lookup is the last of the chain, because the others depend on it.
func TestForeignLookupsFollowsLongChainsInLinearTime(t *testing.T) {
	const keys = 30_000 // one pass over all keys for each key would take more than a minute
	var data strings.Builder
	for i := range keys {
		fmt.Fprintf(&data, "k%d: \"%%{lookup('k%d')}\"\n", i, i+1)
	}
	dir := hieraSite(t, "-- hiera.yaml --\nversion: 5\nhierarchy:\n  - {name: V, lookup_key: hiera_vault}\n"+
		"  - {name: A, path: a.yaml}\n  - {name: B, path: b.yaml}\n  - {name: C, path: c.yaml}\n"+
		"-- data/a.yaml --\na: \"%{lookup('k0')}\"\n-- data/b.yaml --\n"+data.String()+"-- data/c.yaml --\nc: 1\n")
	var diags diag.List
	site := loader.Load(dir, loader.Options{}, &diags)
	began := time.Now()
	got := map[int]string{}
	for _, l := range compile.ForeignLookups(site) {
		got[l.Entry] = l.Key
	}
	if want := fmt.Sprint(map[int]string{1: "k0", 2: fmt.Sprint("k", keys)}); fmt.Sprint(got) != want {
		t.Errorf("the lookups by level are %v, want %v", got, want)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("finding them took %v", took)
	}
}
