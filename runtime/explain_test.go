package runtime_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/lookup"
	"bindc/internal/recipe"
	"bindc/internal/secret/seal"
	"bindc/internal/value"
	"bindc/loader"
	bindings "bindc/runtime"
	"bindc/snapshot"
)

// For every key and node of the example, the winning candidate of an explanation has the value of the lookup. The
// outcomes of the other candidates are compared with the lookups of nodes for which they win.
func TestExplainAgreesWithLookup(t *testing.T) {
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
		facts, err := parseFacts(text, bindings.FactsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Request(facts)
		if err != nil {
			t.Fatal(err)
		}
		last = r
		for key := range s.Keys() {
			agrees(t, r, key, seen)
		}
	}
	for _, state := range []string{lookup.Wins, lookup.Hidden, lookup.NotEffective} {
		if seen[state] == 0 {
			t.Errorf("the example has no binding that is %s", state)
		}
	}
	s.Close()
	if _, err := engine(last).Explain("ntp::package"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("of a closed snapshot Explain returns %v", err)
	}
	if _, err := engine(last).Effective("ntp::package"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("of a closed snapshot Effective returns %v", err)
	}
	if _, err := engine(last).Candidates("ntp::package"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("of a closed snapshot Candidates returns %v", err)
	}
	if got := engine(last).Categories(); got != nil {
		t.Errorf("a request of a closed snapshot has the categories %v", got)
	}
}

func agrees(t *testing.T, r *bindings.Request, key string, seen map[string]int) {
	t.Helper()
	v, found, err := r.Lookup(key)
	e, failed := engine(r).Explain(key)
	if failed != nil {
		t.Fatal(failed)
	}
	if e.Outcome.Found != found || (e.Outcome.Err == nil) != (err == nil) || e.Outcome.Value.String() != v.String() {
		t.Errorf("%s: the lookup finds %v %t %v, explained %v", key, v, found, err, e.Outcome)
	}
	winners := 0
	for _, c := range e.Candidates {
		seen[c.State]++
		if c.State != lookup.Wins {
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

// explainedSite has bindings in every state: winning, hidden and not effective.
var explainedSite = map[string]string{
	"binder_config.yaml": `version: 1
layers:
  - {name: site, include: ['confdir-hiera:/', 'confdir:/default']}
  - {name: low, include: 'confdir:/low'}
categories:
  - [node, '${fqdn}']
  - [role, '${role}']
  - [always, 'true']
`,
	"hiera.yaml": "version: 2\nhierarchy:\n  - [role, web, 'roles/${env}']\n" +
		"  - [always, 'true', 'data/${env}/${a}-${b}']\n",
	"roles/lab.yaml":    "in_lab: 1\n",
	"data/lab/x-y.yaml": "guarded: in the lab\n",
	"bindings/default.yaml": `bindings_version: 1
name: default
bind:
  - when: {node: n1}
    bind:
      - [key, of n1]
      - {in: set, name: x, to: of n1}
      - {name: failing, to_expression: "1 / $zero"}
      - {name: secret, to: '${word}', sensitive: true}
  - {when: {node: n2}, bind: [[key, of n2], [only_n2, 2]]}
  - [key, of all]
  - {name: twice, to: "${lookup('only_low')}, ${lookup('only_low')}"}
  - {name: needs_secret, to: "${lookup('secret')}"}
  - {name: failing, to: fine}
  - {name: needs_failing, to_lookup_of: failing}
  - {name: needs_nothing, to_lookup_of: absent}
  - {name: set, multibind_id: set, type: 'Array[String]'}
  - {in: set, name: x, to: of all}
  - {in: set, to: unnamed}
  - {when: {node: n2}, bind: [{in: set, to: of n2}]}
  - {when: [{node: n1}, {always: 'true'}], bind: [{in: set, name: both, to_lookup_of: only_low}]}
  - {name: typed, multibind_id: typed, type: 'Array[Integer]'}
  - {in: typed, to_expression: '$word'}
  - {name: none_yet, multibind_id: none_yet, type: Array}
  - {when: {role: web}, bind: [[only_web, 1]]}
  - {name: after_secret, to: "${lookup('secret')}${lookup('only_low')}"}
  - {name: asks_for_secret, to_expression: "lookup(lookup('secret'))"}
  - {when: {node: n1}, bind: [[outranked, high]]}
  - {when: {always: 'true'}, bind: [{name: outranked, to: 'computed ${word}'}]}
  - {name: alt, multibind_id: alt, type: Array, options: {priority_on_named: false}}
  - {when: [{node: n2}, {always: 'true'}], bind: [{in: alt, name: second, to: of all}]}
  - {when: {node: n2}, bind: [{in: alt, name: second, to: of n2}]}
  - {name: otherwise, to_expression: "lookup('absent', {'default_value' => 'default'})"}
`,
	"bindings/low.yaml": `bindings_version: 1
name: low
bind:
  - [key, low]
  - {when: {node: n1}, bind: [{name: key, to: 'low ${word}'}]}
  - {when: {node: n3}, bind: [{name: key, to_expression: "1 / $zero"}]}
  - [guarded, low]
  - [only_low, shown]
`,
}

// explanationText formats an explanation in lines. Nested lookups are indented.
func explanationText(e *lookup.Explanation, indent string) (lines []string) {
	lines = append(lines, indent+e.Key+": "+outcome(e.Outcome))
	for i, list := range [][]lookup.Candidate{e.Candidates, e.Contributions} {
		for _, c := range list {
			line := fmt.Sprintf("%s  %s %s %s %v %s: %s", indent, []string{"", "contribution "}[i]+c.State, c.Layer,
				c.Name, c.When, c.At, outcome(c.Outcome))
			if c.Why != "" {
				line += " (" + c.Why + ")"
			}
			lines = append(lines, line)
		}
	}
	for _, inner := range e.Lookups {
		lines = append(lines, explanationText(inner, indent+"    ")...)
	}
	return lines
}

func outcome(o lookup.Outcome) string {
	var failed *bindings.Error
	switch {
	case errors.As(o.Err, &failed):
		return fmt.Sprintf("%s %v", failed.Code, o.Found)
	case o.Err != nil:
		return o.Err.Error()
	case !o.Found:
		return "not found"
	}
	return o.Value.String()
}

// Below each key are its bindings, then its contributions, then the lookups that it caused, indented.
const explained = `key: of n1
  wins site  [{node n1}] bindings/default.yaml:6:10: of n1
  not effective site  [{node n2}] bindings/default.yaml:10:32: of n2 (condition does not hold: node is n1)
  hidden site  [] bindings/default.yaml:11:6: of all (hidden by bindings/default.yaml:6:10)
  hidden low  [{node n1}] bindings/low.yaml:5:38: low hunter (hidden by bindings/default.yaml:6:10)
  not effective low  [{node n3}] bindings/low.yaml:6:38: evaluation false (condition does not hold: node is n1)
  hidden low  [] bindings/low.yaml:4:6: low (hidden by bindings/default.yaml:6:10)
only_n2: not found
  not effective site  [{node n2}] bindings/default.yaml:10:46: 2 (condition does not hold: node is n1)
only_web: not found
  not effective site  [{role web}] bindings/default.yaml:25:33: 1 (condition does not hold: role is not set)
in_lab: not found
  not effective site  [{role web} {$env lab}] roles/lab.yaml:1:1: 1 (condition does not hold: role is not set)
needs_failing: evaluation false
  wins site  [] bindings/default.yaml:15:12: evaluation false
    failing: evaluation false
      wins site  [{node n1}] bindings/default.yaml:8:16: evaluation false
      hidden site  [] bindings/default.yaml:14:12: fine (hidden by bindings/default.yaml:8:16)
needs_nothing: 
  wins site  [] bindings/default.yaml:16:12: 
    absent: not found
after_secret: <sensitive>
  wins site  [] bindings/default.yaml:26:12: <sensitive>
    secret: <sensitive>
      wins site  [{node n1}] bindings/default.yaml:9:16: <sensitive>
    only_low: <sensitive>
      wins low  [] bindings/low.yaml:8:6: <sensitive>
twice: shown, shown
  wins site  [] bindings/default.yaml:12:12: shown, shown
    only_low: shown
      wins low  [] bindings/low.yaml:8:6: shown
    only_low: shown
      wins low  [] bindings/low.yaml:8:6: shown
set: [of n1, shown, unnamed]
  wins site  [] bindings/default.yaml:17:12: [of n1, shown, unnamed]
  contribution wins site x [{node n1}] bindings/default.yaml:7:25: of n1
  contribution not effective site  [{node n2}] bindings/default.yaml:20:31: of n2 (condition does not hold: node is n1)
  contribution wins site both [{node n1}] bindings/default.yaml:21:67: shown
  contribution hidden site both [{always true}] bindings/default.yaml:21:67: shown ` +
	`(hidden by bindings/default.yaml:21:67)
  contribution hidden site x [] bindings/default.yaml:18:21: of all (hidden by bindings/default.yaml:7:25)
  contribution wins site  [] bindings/default.yaml:19:5: unnamed
    only_low: shown
      wins low  [] bindings/low.yaml:8:6: shown
typed: type_mismatch false
  wins site  [] bindings/default.yaml:22:12: type_mismatch false
  contribution wins site  [] bindings/default.yaml:23:5: type_mismatch false
none_yet: []
  wins site  [] bindings/default.yaml:24:12: []
guarded: low
  not effective site  [{always true} {$env lab} {$a x} {$b y}] data/lab/x-y.yaml:1:1: in the lab ` +
	`(condition does not hold: $b is empty)
  wins low  [] bindings/low.yaml:7:6: low
asks_for_secret: <sensitive>
  wins site  [] bindings/default.yaml:27:12: <sensitive>
    secret: <sensitive>
      wins site  [{node n1}] bindings/default.yaml:9:16: <sensitive>
    <sensitive>: not found
outranked: high
  wins site  [{node n1}] bindings/default.yaml:28:32: high
  hidden site  [{always true}] bindings/default.yaml:29:44: computed hunter (hidden by bindings/default.yaml:28:32)
alt: [of all]
  wins site  [] bindings/default.yaml:30:12: [of all]
  contribution not effective site second [{node n2}] bindings/default.yaml:31:67: of all ` +
	`(condition does not hold: node is n1)
  contribution not effective site second [{node n2}] bindings/default.yaml:32:47: of n2 ` +
	`(condition does not hold: node is n1)
  contribution wins site second [{always true}] bindings/default.yaml:31:67: of all
otherwise: default
  wins site  [] bindings/default.yaml:33:12: default
    absent: not found
absent: not found
`

func TestExplainListsAllBindings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	buildSite(t, path, explainedSite)
	req := requestOf(t, path, "n1", map[string]any{"word": "hunter", "zero": 0, "env": "lab", "a": "x", "b": ""})
	var got []string
	for line := range strings.Lines(explained) {
		key, _, isKey := strings.Cut(line, ":")
		if !isKey || strings.HasPrefix(key, " ") {
			continue
		}
		e, err := engine(req).Explain(key)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := engine(req).Candidates(key)
		if err != nil || len(alone) != len(e.Candidates) {
			t.Errorf("%s: %d candidates, explained %d: %v", key, len(alone), len(e.Candidates), err)
		}
		got = append(got, explanationText(e, "")...)
	}
	want := strings.Split(strings.TrimSuffix(explained, "\n"), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d: expected %q, found %q", i+1, append(want, "")[i], append(got, "")[i])
		}
	}
	categories := []lookup.Term{{Name: "node", Value: "n1"}, {Name: "always", Value: "true"},
		{Name: "environment", Value: "production"}}
	if got := engine(req).Categories(); !slices.Equal(got, categories) {
		t.Errorf("categories are %v", got)
	}
	if outcomes, err := engine(req).Effective("\x00set"); outcomes != nil || err != nil {
		t.Errorf("of an internal key %v are effective, %v", outcomes, err)
	}
	e, err := engine(req).Explain("\x00set")
	if err != nil || e.Outcome.Found || e.Candidates != nil || e.Contributions != nil {
		t.Errorf("of an internal key: %+v, %v", e, err)
	}
}

// The outcome of a binding that cannot be decrypted is an error. The other bindings are explained as usual.
func TestExplainEncryptedBindings(t *testing.T) {
	path, key := filepath.Join(t.TempDir(), "site.bsnap"), seal.NewKey()
	box, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(key string, r *recipe.Recipe) snapshot.Stored {
		return snapshot.Stored{Computed: true, Bytes: recipe.Seal(string(recipe.Append(nil, r)), key, box)}
	}
	constant := func(text string) *recipe.Recipe {
		return &recipe.Recipe{Sensitive: true, Value: value.FromString(text)}
	}
	if _, err := snapshot.Write(path, &snapshot.Content{
		Layers: []string{"site", "low"}, Seal: []byte("wrapped"),
		Keys: []snapshot.Key{{Name: "\x00m", Default: -1, Cold: []snapshot.Cold{{Contribution: true}}},
			{Name: "a", Default: 0, Cold: []snapshot.Cold{{}, {Layer: 1, Value: 1}}},
			{Name: "m", Default: 2, Cold: []snapshot.Cold{{}}}},
		Values: []snapshot.Stored{sealed("a", constant("high")), sealed("a", constant("low")),
			sealed("m", &recipe.Recipe{Kind: recipe.Multibind, Sensitive: true, Name: "\x00m",
				Options: &recipe.Options{Array: true}}),
			sealed("\x00m", &recipe.Recipe{Kind: recipe.Contributions, Sensitive: true,
				Parts: []recipe.Part{{Recipe: constant("part")}}})},
		Levels: []snapshot.Level{{Scopes: []snapshot.Scope{{Entries: []snapshot.Entry{{Key: 0, Value: 3}}}}}},
	}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		opts  bindings.Options
		lines string
	}{
		"with the key": {bindings.Options{Unseal: unsealWith(key)}, "a: <sensitive>\n" +
			"  wins site  [] an unknown place: <sensitive>\n" +
			"  hidden low  [] an unknown place: <sensitive> (hidden by an unknown place)\n" +
			"m: <sensitive>\n  wins site  [] an unknown place: <sensitive>\n  contribution wins site  [] an unknown place: <sensitive>"},
		"without": {bindings.Options{}, "a: encrypted false\n  wins site  [] an unknown place: encrypted false\n" +
			"  hidden low  [] an unknown place: encrypted false (hidden by an unknown place)\nm: encrypted false\n" +
			"  wins site  [] an unknown place: encrypted false"},
	} {
		s, err := bindings.Open(path, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		req, err := s.Request(nodeFacts(t, "n1"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, key := range []string{"a", "m"} {
			e, err := engine(req).Explain(key)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, key, err)
			}
			got = append(got, explanationText(e, "")...)
		}
		if strings.Join(got, "\n") != c.lines {
			t.Errorf("%s: %q", name, got)
		}
	}
}
