package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/lookup"
	"bindc/internal/report"
	"bindc/internal/testmode"
	"bindc/internal/testsite"
	"bindc/snapshot"
)

// A brief explanation has the same effective bindings as a full one, and counts those that it omits.
func TestBriefExplanationsAgreeWithFullOnes(t *testing.T) {
	testmode.SkipUnderRace(t)
	example := filepath.Join(t.TempDir(), "example.snap")
	testsite.Build(t, "../../testdata/example", example)
	paths := []string{example}
	for _, name := range []string{"v3", "v3-arm8", "v3-hiera", "v3-slice"} {
		paths = append(paths, filepath.Join("../../testdata/compat", name, "site.snap"))
	}
	collected := filepath.Join(t.TempDir(), "collected.snap")
	testsite.BuildBindings(t, collectedBindings(), collected)
	paths = append(paths, collected)
	random, omitted, omittedParts := rand.New(rand.NewPCG(3, 4)), 0, 0
	for _, path := range paths {
		f := must(snapshot.Open(path))(t)
		defer f.Close()
		s := must(lookup.New(f, lookup.Options{}))(t)
		whole := lookup.Index{Bindings: must(f.AllBindings())(t), Inputs: must(f.Inputs())(t)}
		for range 20 {
			facts := must(lookup.NewFacts(randomFacts(t, random, f, s), lookup.FactsOptions{}))(t)
			r, err := s.Request(facts)
			if err != nil { // the slice does not cover the request
				continue
			}
			for key := range s.Keys() {
				full := must(report.Style{}.Explain(r, key))(t)
				for _, index := range []lookup.Index{{}, whole} {
					for others := range 3 {
						brief := must(report.Style{}.ExplainBriefly(r, key, others, index))(t)
						omitted, omittedParts = omitted+brief.Left, omittedParts+brief.LeftParts
						checkBrief(t, key, brief, full, others)
					}
				}
				page := must(report.Style{}.ExplainForPage(r, key))(t)
				if x, y := pageOf(t, page), pageOf(t, full); x != y {
					t.Errorf("%s, %s:\n%s\nexpected\n%s", path, key, x, y)
				}
			}
		}
	}
	if omitted < 100 || omittedParts < 10 {
		t.Errorf("only %d bindings and %d contributions were omitted", omitted, omittedParts)
	}
}

// collectedBindings returns bindings of a key and contributions to a multibinding, for each of 30 operating systems.
func collectedBindings() string {
	all := []string{"{name: users, multibind_id: users, type: 'Array[String]'}", "{in: users, to: root}"}
	for i := range 30 {
		all = append(all, fmt.Sprintf("{when: {osfamily: os%d}, bind: [[which, %d], {in: users, to: user%d}]}", i, i, i))
	}
	return strings.Join(all, ", ")
}

// checkBrief compares a brief explanation with the full one.
func checkBrief(t *testing.T, key string, brief, full *report.Explanation, others int) {
	t.Helper()
	for _, lists := range [][2][]report.Candidate{{brief.Candidates, full.Candidates},
		{brief.Contributions, full.Contributions}, {brief.Options, full.Options}} {
		if x, y := effective(lists[0]), effective(lists[1]); x != y {
			t.Errorf("%s with %d others: effective bindings\n%s\nexpected\n%s", key, others, x, y)
		}
	}
	all := len(brief.Candidates) + brief.Left
	parts := len(brief.Contributions) + brief.LeftParts
	if others > 0 && (all != len(full.Candidates) || parts != len(full.Contributions)) {
		t.Errorf("%s with %d others: %d bindings and %d contributions, expected %d and %d", key, others, all, parts,
			len(full.Candidates), len(full.Contributions))
	}
	if len(brief.Lookups) != len(full.Lookups) {
		t.Fatalf("%s: %d lookups, expected %d", key, len(brief.Lookups), len(full.Lookups))
	}
	for i := range brief.Lookups {
		checkBrief(t, brief.Lookups[i].Key, &brief.Lookups[i], &full.Lookups[i], others)
	}
}

// effective returns the effective bindings in a list as JSON.
func effective(list []report.Candidate) string {
	holds := slices.DeleteFunc(slices.Clone(list), func(c report.Candidate) bool {
		return c.State == lookup.NotEffective
	})
	return string(report.Marshal(holds))
}

// pageOf returns an explanation as text.
func pageOf(t *testing.T, e *report.Explanation) string {
	t.Helper()
	var out strings.Builder
	if err := report.Print(&out, report.Screen{}, func(p *report.Page) { p.Explanation(e) }); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
