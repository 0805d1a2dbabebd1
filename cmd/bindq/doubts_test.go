package main

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/facts"
	"bindc/internal/lookup"
	"bindc/internal/testmode"
	"bindc/internal/testsite"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// A name in the facts file that is similar to an unset variable is a doubt, unless the snapshot or Facter knows it.
func TestReportsDoubtsAboutMisspeltNamesInFactsFile(t *testing.T) {
	for _, c := range []struct {
		file, known string
		want        string
	}{
		{`{"rolle": "web"}`, "", "uses the fact 'rolle'; did you mean 'role'?"},
		{`{"rolle": "web"}`, "rolle", ""},
		{`{"sentences": "web"}`, "", "contains no fact that Facter sends or the snapshot uses"},
		{`{"sentences": "web", "os": {}}`, "os", ""},
		{`{}`, "", ""},
	} {
		nodes, err := facts.Parse("facts", []byte(c.file))
		if err != nil {
			t.Fatal(err)
		}
		s := source{factsFile: "facts", inFile: nodes[0]}
		got := strings.Join(s.misnamedInFile([]string{"role"}, func(name string) bool { return name == c.known }), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s is known: found '%s', expected '%s'", c.file, c.known, got, c.want)
		}
	}
}

// The doubts are the same with Explain as with ExplainUnset, which omits some bindings.
func TestDoubtsAreTheSameWithFullExplanation(t *testing.T) {
	testmode.SkipUnderRace(t)
	example := filepath.Join(t.TempDir(), "example.snap")
	testsite.Build(t, "../../testdata/example", example)
	paths := []string{example}
	for _, name := range []string{"v3", "v3-arm8", "v3-hiera", "v3-slice"} {
		paths = append(paths, filepath.Join("../../testdata/compat", name, "site.snap"))
	}
	random, raised := rand.New(rand.NewPCG(1, 2)), 0
	for _, path := range paths {
		f := must(snapshot.Open(path))(t)
		defer f.Close()
		s := must(lookup.New(f, lookup.Options{}))(t)
		for range 60 {
			facts := must(lookup.NewFacts(randomFacts(t, random, f, s), lookup.FactsOptions{}))(t)
			r, err := s.Request(facts)
			if err != nil { // the slice does not cover the request
				continue
			}
			for key := range s.Keys() {
				for _, merged := range []bool{false, true} {
					all, some := dependents{}, dependents{}
					all.add(must(r.Explain(key))(t), merged)
					some.add(must(r.ExplainUnset(key))(t), merged)
					raised += len(all)
					if want, got := all.sentences(), some.sentences(); !slices.Equal(got, want) {
						t.Errorf("%s, %s: %q, expected %q", path, key, got, want)
					}
				}
			}
		}
	}
	if raised < 1000 {
		t.Errorf("only %d doubts were raised", raised)
	}
}

// randomFacts returns facts in which about half of the variables of a snapshot are set, to values of its conditions.
func randomFacts(t *testing.T, random *rand.Rand, f *snapshot.Snapshot, s *lookup.Snapshot) lookup.Value {
	t.Helper()
	values := []string{"other"}
	for i := range f.Dimensions() {
		values = slices.AppendSeq(values, f.ValuesOf(i))
	}
	variables, _, _, err := s.Needs()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, name := range variables {
		if random.IntN(2) == 0 {
			out[name] = values[random.IntN(len(values))]
		}
	}
	return lookup.Value(must(bindings.ValueOf(out))(t))
}
