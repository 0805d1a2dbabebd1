package conformance

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"bindc/loader"
	bindings "bindc/runtime"
)

// TestExampleSiteGivesExpectedAnswers compiles the example site, and compares all answers with
// testdata/example-expected.json, which explains them.
func TestExampleSiteGivesExpectedAnswers(t *testing.T) {
	t.Parallel()
	snap, refused := build(t, "../testdata/example", loader.Options{})
	if refused != "" {
		t.Fatalf("refused:\n%s", refused)
	}
	var expected []struct {
		Facts, Environment, Key, Why string
		Value                        json.RawMessage
	}
	readJSON(t, "../testdata/example-expected.json", &expected)
	for _, e := range expected {
		var facts json.RawMessage
		readJSON(t, filepath.Join("../testdata/example-facts", e.Facts), &facts)
		f, err := bindings.NewFacts(parseJSON(t, facts), bindings.FactsOptions{Environment: e.Environment})
		if err != nil {
			t.Fatal(err)
		}
		r, err := snap.Request(f)
		if err != nil {
			t.Fatal(err)
		}
		v, found, err := r.Lookup(e.Key)
		if err != nil || !found || !same(t, v, e.Value) {
			t.Errorf("%s of %s %s: found %v, %s, %v; expected %s: %s", e.Key, e.Facts, e.Environment, found, show(t, v),
				err, e.Value, e.Why)
		}
	}
	if len(expected) == 0 {
		t.Error("nothing is expected")
	}
}
