package lookup_test

import (
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"bindc/internal/lookup"
	"bindc/internal/testsite"
	bindings "bindc/runtime"
)

// An Explainer gives the same explanations before and after it has decoded all bindings, also for another snapshot.
func TestExplainerAgreesWithExplainBriefly(t *testing.T) {
	var requests []*lookup.Request
	for i, bind := range []string{"[a, 1], [b, 2]", "[a, 3]"} {
		path := filepath.Join(t.TempDir(), "site.bsnap")
		testsite.BuildBindings(t, bind, path)
		s, err := bindings.Open(path, bindings.Options{})
		if err != nil {
			t.Fatal(i, err)
		}
		defer s.Close()
		facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, (*lookup.Request)(r))
	}
	var x lookup.Explainer
	for _, r := range requests {
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				for _, key := range []string{"a", "b"} {
					want, err := r.ExplainBriefly(key, 1, lookup.Index{})
					if err != nil {
						t.Error(err)
					}
					got, err := x.Briefly(r, key, 1)
					if err != nil || !reflect.DeepEqual(got.Candidates, want.Candidates) {
						t.Errorf("%s is explained with %v, %v; want %v", key, got, err, want.Candidates)
					}
				}
			})
		}
		all.Wait()
	}
}
