package lookup_test

import (
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"bindc/internal/lookup"
	"bindc/internal/testsite"
	"bindc/snapshot"
)

// An Explainer gives the same explanations before and after it has decoded all bindings, also for another snapshot.
func TestExplainerAgreesWithExplainBriefly(t *testing.T) {
	var requests []*lookup.Request
	for i, bind := range []string{"[a, 1], [b, 2]", "[a, 3]"} {
		path := filepath.Join(t.TempDir(), "site.bsnap")
		testsite.BuildBindings(t, bind, path)
		file, err := snapshot.Open(path)
		if err != nil {
			t.Fatal(i, err)
		}
		defer file.Close()
		s, err := lookup.New(file, lookup.Options{})
		if err != nil {
			t.Fatal(i, err)
		}
		facts, err := lookup.NewFacts(lookup.Value{}, lookup.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, r)
	}
	var x lookup.Explainer
	explain := func(r *lookup.Request, key string) {
		want, err := r.ExplainBriefly(key, 1, lookup.Index{})
		if err != nil {
			t.Error(err)
		}
		got, err := x.Briefly(r, key, 1)
		if err != nil || !reflect.DeepEqual(got.Candidates, want.Candidates) {
			t.Errorf("%s is explained with %v, %v; want %v", key, got, err, want.Candidates)
		}
	}
	for i, r := range requests {
		for range lookup.ManyExplanations - 1 {
			explain(r, "a")
		}
		if x.IsDecoded(r.Snapshot()) {
			t.Errorf("site %d: the bindings are decoded too early", i)
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { explain(r, "a"); explain(r, "b") })
		}
		all.Wait()
		if !x.IsDecoded(r.Snapshot()) {
			t.Errorf("site %d: the bindings are not decoded", i)
		}
	}
}
