package gate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/facts"
	"bindc/internal/gate"
	"bindc/internal/lookup"
	"bindc/internal/testsite"
	bindings "bindc/runtime"
	"bindc/ship"
	"bindc/snapshot"
)

// open opens a snapshot of a site with the bindings bind.
func open(t *testing.T, bind string) *snapshot.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.bsnap")
	testsite.BuildBindings(t, bind, path)
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// The share refers to the number of bindings in the old snapshot. A change of exactly the share passes.
func TestCheckChangesRejectsMoreThanTheShare(t *testing.T) {
	before := open(t, "[a, 1], [b, 1], [c, 1], [d, 1]")
	for _, c := range []struct {
		after string
		share float64
		want  string // "": it passes
	}{
		{"[a, 1], [b, 1], [c, 1], [d, 1]", 0, ""},
		{"[a, 2], [b, 1], [c, 1], [d, 1]", 0.25, ""},
		{"[a, 2], [b, 1], [c, 1], [d, 1]", 0.24, "1 of 4 bindings change, more than 24%: raise --max-change if this is intended"},
		{"[a, 1], [b, 1]", 0.25, "2 of 4 bindings change"},
		{"[a, 1], [b, 1], [c, 1], [d, 1], [e, 1], [f, 1]", 0.25, "2 of 4 bindings change"},
	} {
		err := gate.CheckChanges(before, open(t, c.after), c.share)
		var refusal *ship.Refusal
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%s: found %v", c.after, err)
			}
		case !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Reason, c.want):
			t.Errorf("%s: found %v, expected %s", c.after, err, c.want)
		}
	}
}

// If the old snapshot has no bindings, any binding in the new one exceeds the permitted share of changes.
func TestCheckChangesRejectsAnyBindingAfterEmptySnapshot(t *testing.T) {
	if err := gate.CheckChanges(open(t, ""), open(t, "[a, 1]"), 0.5); err == nil {
		t.Error("the first binding passes a limit of 50%")
	}
}

// check runs the queries on a snapshot of a site with the bindings bind.
func check(t *testing.T, bind, queries string) error {
	t.Helper()
	dir := t.TempDir()
	path, file := filepath.Join(dir, "site.bsnap"), filepath.Join(dir, "queries")
	testsite.BuildBindings(t, bind, path)
	if err := os.WriteFile(file, []byte(queries), 0o666); err != nil {
		t.Fatal(err)
	}
	snap, err := bindings.Open(path, bindings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	k := gate.Keys{Option: "--check-keys", File: file, Node: func(name string) (facts.Node, error) {
		return facts.Node{Name: name}, nil
	}}
	err = k.Check((*lookup.Snapshot)(snap))
	if err != nil {
		err = &located{strings.ReplaceAll(err.Error(), file, "queries"), err}
	}
	return err
}

// located is an error whose text contains a short path.
type located struct {
	text string
	err  error
}

func (l *located) Error() string { return l.text }
func (l *located) Unwrap() error { return l.err }

func TestCheckPassesSnapshotsWithAllKeys(t *testing.T) {
	const queries = "\n{\"key\": \"a\", \"facts\": {}}\n\n{\"keys\": [\"a\", \"b\"], \"node\": \"n1\"}"
	if err := check(t, "[a, 1], [b, 'of ${x}']", queries); err != nil {
		t.Error(err)
	}
}

// Check rejects a snapshot without a value for a key. For an invalid query it returns an error about the option
// instead, whatever the snapshot.
func TestCheckDistinguishesRejectionsFromInvalidQueries(t *testing.T) {
	for queries, want := range map[string]string{
		`{"key": "c", "facts": {}}`:                   "rejected: queries:1: 'c' is not found",
		"\n\n" + `{"keys": ["a", "c"], "facts": {}}`:  "rejected: queries:3: 'c' is not found",
		`{"key": "fails", "facts": {}}`:               "rejected: queries:1: ",
		`{"key": "a", "facts": {}, "type": "String"}`: "rejected: queries:1: expected String, found Integer [type_mismatch]",
		`{"key": "a", "facts": {}} {}`:                "--check-keys: queries:1: expected a query",
		`{"kye": "a"}`:                                "--check-keys: queries:1: expected a query",
		"":                                            "--check-keys: queries has no query: every snapshot would pass",
		" \n":                                         "--check-keys: queries has no query",
		`{"key": "a", "facts": {}}` + "\n" + `{"key": 1}`: "--check-keys: queries:2: expected a query",
	} {
		err := check(t, "[a, 1], {name: fails, to_expression: \"fail('no')\"}", queries)
		var refusal *ship.Refusal
		got := ""
		if errors.As(err, &refusal) {
			got = "rejected: "
		}
		if err != nil {
			got += err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: found %s, expected %s", queries, got, want)
		}
	}
}

func TestCheckReportsMissingFile(t *testing.T) {
	k := gate.Keys{Option: "--check-keys", File: filepath.Join(t.TempDir(), "absent")}
	if err := k.Check(nil); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "--check-keys: open ") {
		t.Errorf("found %v", err)
	}
}
