package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bindc/internal/testsite"
)

// vocabulary is a directory with a snapshot of two keys and the facts of two nodes.
func vocabulary(t *testing.T) (dir, snap string) {
	t.Helper()
	dir = t.TempDir()
	snap = filepath.Join(dir, "site.bsnap")
	testsite.BuildBindings(t, "[a, 1], [b, {x: y}]", snap)
	for _, name := range []string{"one", "two"} {
		facts := filepath.Join(dir, "facts", name+".json")
		if err := os.MkdirAll(filepath.Dir(facts), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(facts, []byte("{}"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("BINDQ_SNAPSHOT", "")
	return dir, snap
}

// runLine runs bindq with the words of a line.
func runLine(line, stdin string) (status int, out, errs string) {
	var stdout, stderr bytes.Buffer
	words := strings.Fields(line)
	root := command(words)
	root.SetArgs(words)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	status = execute(root)
	return status, stdout.String(), stderr.String()
}

// Every verb accepts the snapshot as -s, before or after the verb, and as BINDQ_SNAPSHOT. A verb without other
// arguments also accepts it as its argument, but not together with -s.
func TestEveryVerbAcceptsSnapshotFromFlagAndEnvironment(t *testing.T) {
	dir, snap := vocabulary(t)
	more := map[string]string{"lookup": " a", "explain": " a", "values": " a", "diff": " " + snap, "serve": " --stdio",
		"nodes": " --facts-dir " + filepath.Join(dir, "facts")}
	for verb, construct := range new(globals).verbs() {
		if verb == "slice" {
			continue // the verb needs a category
		}
		line := verb + more[verb]
		if status, _, errs := runLine(line, ""); status != 2 || !strings.Contains(errs, "expected -s FILE") {
			t.Errorf("%s without a snapshot: status %d, %s", line, status, errs)
		}
		ways := []string{"-s " + snap + " " + line, line + " -s " + snap, line + " --snapshot=" + snap}
		if strings.Contains(construct().Use, "[FILE]") {
			ways = append(ways, line+" "+snap)
			both := line + " " + snap + " -s " + snap
			if status, _, errs := runLine(both, ""); status != 2 || !strings.Contains(errs, "expected one snapshot") {
				t.Errorf("%s: status %d, %s", both, status, errs)
			}
		}
		for _, way := range ways {
			if status, _, errs := runLine(way, ""); status != 0 {
				t.Errorf("%s: status %d, %s", way, status, errs)
			}
		}
		t.Setenv("BINDQ_SNAPSHOT", snap)
		if status, _, errs := runLine(line, ""); status != 0 {
			t.Errorf("BINDQ_SNAPSHOT=%s %s: status %d, %s", snap, line, status, errs)
		}
		t.Setenv("BINDQ_SNAPSHOT", "")
	}
}

// The JSON output of each verb has the documented members, for one and for several keys or nodes.
func TestJSONAnswersHaveDocumentedMembers(t *testing.T) {
	dir, snap := vocabulary(t)
	other, facts := filepath.Join(dir, "other.bsnap"), filepath.Join(dir, "facts")
	testsite.BuildBindings(t, "[a, 2], [b, {x: z}]", other)
	const array = "array"
	for line, want := range map[string]string{
		"lookup a": "a", "lookup a b": "a b", "dump": "a b", "dump --prefix a": "a", "dump --prefix none": "",
		"explain a": "a", "explain a b": "a b", "lookup a --explain": "a", "lookup a b --explain": "a b",
		"lookup a --all": "a", "lookup a b --all": "a b",
		"keys": array, "keys --prefix a": array, "keys --prefix none": array,
		"values a":                                "key bindings",
		"values a 1":                              "key value bindings",
		"values a --facts-dir " + facts:           "key bindings",
		"nodes --facts-dir " + facts:              "one two",
		"diff " + snap:                            "keys",
		"diff " + other:                           "keys",
		"diff " + other + " --facts-dir " + facts: "keys nodes fleet",
		"verify":                                  "file keys bytes sha256 signed",
		"info": "format version sha256 content bytes keys bindings levels sensitive slice policies layers " +
			"categories variables " +
			"sections inputs",
	} {
		status, out, errs := runLine(line+" --format json -s "+snap, "")
		var got any
		if err := json.Unmarshal([]byte(out), &got); err != nil || status == 2 {
			t.Errorf("%s: %v, status %d\n%s%s", line, err, status, out, errs)
			continue
		}
		members, isObject := got.(map[string]any)
		switch _, isArray := got.([]any); {
		case want == array:
			if !isArray {
				t.Errorf("%s: expected an array, found %s", line, out)
			}
		case !isObject || !slices.Equal(slices.Sorted(maps.Keys(members)), sorted(want)):
			t.Errorf("%s: expected an object of %s, found %s", line, want, out)
		}
		if want != array && !strings.Contains(line, "nodes --") && len(want) > len("a b") {
			checkDocumented(t, want)
		}
		if _, asYAML, _ := runLine(line+" --format yaml -s "+snap, ""); strings.HasPrefix(asYAML, "{\"") {
			t.Errorf("%s --format yaml: found %s", line, asYAML)
		}
	}
}

func sorted(words string) []string { return slices.Sorted(slices.Values(strings.Fields(words))) }

// checkDocumented checks that docs/cli.md has each member of a shape.
func checkDocumented(t *testing.T, members string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shapes, _ := strings.Cut(string(text), "\n## Shapes of JSON answers\n")
	for _, member := range strings.Fields(members) {
		if !strings.Contains(shapes, `"`+member+`"`) {
			t.Errorf("docs/cli.md does not describe the member '%s'", member)
		}
	}
}

// With --render-as, the answer for a single key is printed without a hash, as by puppet lookup. The flag is hidden.
func TestRenderAsPrintsBareValueAndIsHidden(t *testing.T) {
	_, snap := vocabulary(t)
	for line, want := range map[string]string{
		"lookup a --render-as json": "1\n", "lookup b --render-as yaml": "x: y\n",
		"lookup b --render-as s":      "{\n  \"x\": \"y\"\n}\n",
		"lookup a b --render-as json": "{\"a\":1,\"b\":{\"x\":\"y\"}}\n",
	} {
		if status, out, errs := runLine(line+" -s "+snap, ""); status != 0 || out != want {
			t.Errorf("%s: status %d, '%s' %s; expected '%s'", line, status, out, errs, want)
		}
	}
	for verb, construct := range new(globals).verbs() {
		if f := construct().Flags().Lookup("render-as"); f != nil && !f.Hidden {
			t.Errorf("%s shows --render-as", verb)
		}
	}
}
