package decision

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bindings "bindc/runtime"
	"bindc/snapshot"
)

// samplerOf returns the sampler of a site, and the snapshot to ask.
func samplerOf(t *testing.T, files ...string) (*Sampler, *bindings.Snapshot) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	if _, err := snapshot.Write(path, contentOf(t, files...)); err != nil {
		t.Fatal(err)
	}
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	book, err := NewTables(f, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSampler(book)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = snap.Close() })
	return s, snap
}

// answersOf returns the distinct answers for a key in its samples.
func answersOf(t *testing.T, s *Sampler, snap *bindings.Snapshot, key string, others ...string) (*Samples, []string) {
	t.Helper()
	of, err := s.Samples(key, 100)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, sample := range of.Samples {
		facts, err := sample.Facts(others)
		if err != nil {
			t.Fatal(err)
		}
		req, err := snap.Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := req.Lookup(key)
		text, _ := v.MarshalJSON()
		if err != nil {
			text = []byte(err.Error())
		}
		out = append(out, string(text))
	}
	slices.Sort(out)
	return of, slices.Compact(out)
}

var sampled = []string{"hiera.yaml", `version: 5
hierarchy:
  - {name: node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: two, path: "%{facts.os.family}/%{::role}-%{stage}.yaml"}
  - {name: teams, mapped_paths: [teams, team, "team/%{team}.yaml"]}
  - {name: module, path: "of/%{profile::kind}.yaml"}
  - {name: environment, path: "in/%{environment}.yaml"}
  - {name: common, path: common.yaml}
`,
	"data/nodes/n1.yaml", "list: [node]\nby_node: n1\n",
	"data/Debian/web-a-b.yaml", "list: [two]\n",
	"data/team/dba.yaml", "list: [dba]\nby_team: dba\n",
	"data/team/ops.yaml", "by_team: ops\n",
	"data/of/x.yaml", "list: [of]\n",
	"data/in/test.yaml", "list: [in]\n",
	"data/common.yaml", `
lookup_options: {list: {merge: unique}}
list: [common]
text: "%{lookup('by_node')} %{facts.kernel}"
by_node: none
by_team: none
`}

// The samples of a key reach each of its rows, alone and with all others that can hold.
func TestSamplesReachAllRows(t *testing.T) {
	s, snap := samplerOf(t, sampled...)
	of, answers := answersOf(t, s, snap, "list")
	for _, want := range []string{`["common"]`, `["node","common"]`, `["two","common"]`, `["dba","common"]`,
		`["of","common"]`, `["in","common"]`, `["node","two","common"]`, `["node","two","dba","of","in","common"]`} {
		if !slices.Contains(answers, want) {
			t.Errorf("no sample has the answer %s: %s", want, answers)
		}
	}
	if of.Rows != 22 || of.Exceeded || len(of.Terms) < 5 {
		t.Errorf("%+v", of)
	}
	if alone := slices.IndexFunc(of.Samples, func(s Sample) bool { return !s.Alone }); alone < 1 {
		t.Errorf("%v", of.Samples)
	}
	if _, answers := answersOf(t, s, snap, "by_team"); !slices.Equal(answers, []string{`"dba"`, `"none"`, `"ops"`}) {
		t.Errorf("%s", answers)
	}
}

// Samples reach the rows of looked-up keys. Variables that no row uses have a string.
func TestSamplesReachLookedUpKeys(t *testing.T) {
	s, snap := samplerOf(t, sampled...)
	if _, answers := answersOf(t, s, snap, "text"); !slices.Equal(answers, []string{`"n1 "`, `"none "`}) {
		t.Errorf("%s", answers)
	}
	others, err := s.Variables()
	if err != nil || !slices.Contains(others, "kernel") || !slices.Contains(others, "trusted\x00certname") {
		t.Fatalf("%q, %v", others, err)
	}
	if _, answers := answersOf(t, s, snap, "text", others...); !slices.Equal(answers,
		[]string{`"n1 other_kernel"`, `"none other_kernel"`}) {
		t.Errorf("%s", answers)
	}
	if uses := s.Uses("text"); !slices.Contains(uses, "by_node") || slices.Contains(uses, "text") {
		t.Errorf("%s", uses)
	}
}

// At most limit samples are made, and exceeding the limit is reported.
func TestSamplesReportExceededLimit(t *testing.T) {
	s, _ := samplerOf(t, sampled...)
	of, err := s.Samples("list", 3)
	if err != nil || len(of.Samples) != 3 || !of.Exceeded {
		t.Errorf("%+v, %v", of, err)
	}
}

func TestSampleIDIgnoresCase(t *testing.T) {
	a, b := Sample{values: assignment{"os\x00family": "Debian", "role": "web"}},
		Sample{values: assignment{"os\x00family": "debian", "role": "web"}}
	if a.ID() != b.ID() || a.String() != "os.family=Debian, role=web" {
		t.Errorf("%q, %q, %s", a.ID(), b.ID(), a)
	}
	if c := (Sample{values: assignment{"os\x00family": "RedHat"}}); c.ID() == a.ID() {
		t.Error("another request has the same ID")
	}
}

func TestSolutionSetsVariablesOrReturnsNil(t *testing.T) {
	text := func(s string) piece { return piece{text: s} }
	variable := func(s string) piece { return piece{variable: s} }
	for _, c := range []struct {
		equations []equation
		want      string
	}{
		{nil, ""},
		{[]equation{{[]piece{text("a")}, "a"}}, ""},
		{[]equation{{[]piece{text("a")}, "b"}}, "none"},
		{[]equation{{[]piece{text("a/"), variable("x"), text(".yaml")}, "a/b.yaml"}}, "x=b"},
		{[]equation{{[]piece{variable("x"), text("-"), variable("y")}, "a-b-c"}}, "x=a, y=b-c"},
		{[]equation{{[]piece{variable("x"), text("-"), variable("y")}, "a-b-c"}, {[]piece{variable("y")}, "c"}},
			"x=a-b, y=c"},
		{[]equation{{[]piece{variable("x")}, "a"}, {[]piece{variable("x")}, "b"}}, "none"},
		{[]equation{{[]piece{text("n/"), variable("x"), text(".yaml")}, "n/.yaml"}}, ""},
		{[]equation{{slices.Repeat([]piece{variable("x"), variable("y")}, 40), strings.Repeat("ab", 20) + "c"}},
			"none"},
	} {
		got := "none"
		if a := solution(c.equations); a != nil {
			got = Sample{values: a}.String()
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.equations, got, c.want)
		}
	}
}
