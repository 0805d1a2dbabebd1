package peer

import (
	"path/filepath"
	"testing"

	"bindc/bench/gen"
)

func TestBoltHasExpectedValues(t *testing.T) {
	site, err := gen.New(gen.Config{Nodes: 20, Keys: 200, Modules: 4, Overrides: 10, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "site.bolt")
	if err := BuildBolt(path, site); err != nil {
		t.Fatal(err)
	}
	db, err := OpenBolt(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, key := range site.KeyNames() {
		if site.KindOf(i) == gen.Interpolated {
			continue // the stored text has variables, the expected one has facts
		}
		want, err := site.Expected(3, key)
		if err != nil {
			t.Fatal(err)
		}
		if got := db.Lookup(site.Scopes(3), key); got != len(want.JSON) {
			t.Errorf("%s: %d bytes, want %s", key, got, want.JSON)
		}
	}
	if got := db.Lookup(site.Scopes(3), "no::such_key"); got != -1 {
		t.Errorf("an absent key has %d bytes", got)
	}
}
