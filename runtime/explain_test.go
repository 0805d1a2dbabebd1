package runtime_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"bindc/compile"
	"bindc/internal/diag"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// What an explanation says wins is what a lookup finds, for every key of the example and for each of its nodes; and
// what it says of the others fits what a lookup of theirs would find.
func TestExplanationsAgreeWithLookups(t *testing.T) {
	var diags diag.List
	content := compile.Compile(loader.Load("../testdata/example", loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	s, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var last *bindings.Request
	seen := map[string]int{}
	for _, name := range []string{"web1", "db1"} {
		text, err := os.ReadFile("../testdata/example-facts/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		facts, err := bindings.ParseFacts(text, bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		last = r
		for key := range s.Keys() {
			explained(t, r, key, seen)
		}
	}
	for _, state := range []string{bindings.Wins, bindings.Hidden, bindings.NotEffective} {
		if seen[state] == 0 {
			t.Errorf("the example has no binding that is %s", state)
		}
	}
	s.Close()
	if _, err := last.Explain("ntp::package"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("of a closed snapshot Explain returns %v", err)
	}
}

func explained(t *testing.T, r *bindings.Request, key string, seen map[string]int) {
	t.Helper()
	v, found, err := r.Lookup(key)
	e, failed := r.Explain(key)
	if failed != nil {
		t.Fatal(failed)
	}
	if e.Outcome.Found != found || (e.Outcome.Err == nil) != (err == nil) || e.Outcome.Value.String() != v.String() {
		t.Errorf("%s: the lookup finds %v %t %v, explained %v", key, v, found, err, e.Outcome)
	}
	winners := 0
	for _, c := range e.Candidates {
		seen[c.State]++
		if c.State != bindings.Wins {
			continue
		}
		if winners++; found && c.Outcome.Value.String() != v.String() {
			t.Errorf("%s: %s wins with %v, the lookup finds %v", key, c.At, c.Outcome.Value, v)
		}
	}
	if (winners == 1) != (found || err != nil) {
		t.Errorf("%s: %d bindings win, found is %t", key, winners, found)
	}
}
