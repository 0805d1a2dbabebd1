package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bindc/snapshot"
)

const compat = "../testdata/compat"

// TestOldSnapshots opens snapshots that earlier programs wrote. A snapshot of the current format version gives the
// recorded answers. A snapshot of another version is rejected, and the error names both versions. If a snapshot of
// the current version must be rejected, its directory has the reason in refused.txt.
func TestOldSnapshots(t *testing.T) {
	t.Parallel()
	for _, dir := range compatCases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			version, _ := formatOf(t, dir)
			refusal, err := os.ReadFile(filepath.Join(dir, "refused.txt"))
			switch {
			case err == nil:
				checkRefused(t, dir, strings.TrimSpace(string(refusal)))
			case version != snapshot.Version:
				checkRefused(t, dir, fmt.Sprintf("the file has version %d, this program reads %d", version,
					snapshot.Version))
			default:
				checkAnswers(t, dir)
			}
		})
	}
}

// TestOldSnapshotsCoverTheFormat fails if a version of the format, or a feature, has no snapshot in testdata/compat.
func TestOldSnapshotsCoverTheFormat(t *testing.T) {
	t.Parallel()
	versions, features := map[uint32]bool{}, uint64(0)
	for _, dir := range compatCases(t) {
		version, used := formatOf(t, dir)
		versions[version] = true
		if version == snapshot.Version {
			features |= used
		}
	}
	for v := uint32(1); v <= snapshot.Version; v++ {
		if !versions[v] {
			t.Errorf("testdata/compat has no snapshot of format version %d", v)
		}
	}
	text, err := os.ReadFile("../format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- table: features -->\n|")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Count(table, "\n") - 1 // does not count the line below the header
	if want := uint64(1)<<rows - 1; rows < 4 || features != want {
		t.Errorf("the snapshots in testdata/compat use the features %#b, format.md lists %#b", features, want)
	}
}

func compatCases(t *testing.T) []string {
	t.Helper()
	queries, err := filepath.Glob(compat + "/*/queries.jsonl")
	if err != nil || len(queries) == 0 {
		t.Fatalf("no cases in %s: %v", compat, err)
	}
	for i, path := range queries {
		queries[i] = filepath.Dir(path)
	}
	return queries
}

// snapshotsOf returns the snapshot of a case as an argument of bindq, a file or a directory, and the path of one file.
func snapshotsOf(dir string) (arg, file string) {
	if _, err := os.Stat(filepath.Join(dir, "snaps")); err == nil {
		return "snaps", filepath.Join(dir, "snaps", "production.snap")
	}
	return "site.snap", filepath.Join(dir, "site.snap")
}

// formatOf reads the version and the features from the header of a snapshot. They are at the same offsets in all
// versions that have features.
func formatOf(t *testing.T, dir string) (version uint32, features uint64) {
	t.Helper()
	_, file := snapshotsOf(dir)
	data, err := os.ReadFile(file)
	if err != nil || len(data) < 96 || string(data[:8]) != snapshot.Magic {
		t.Fatalf("%s is not a snapshot: %v", file, err)
	}
	return binary.LittleEndian.Uint32(data[8:]), binary.LittleEndian.Uint64(data[88:])
}

// oldAnswers answers the queries of a case from its snapshot.
func oldAnswers(t *testing.T, dir string) (stdout, stderr string, err error) {
	t.Helper()
	queries, err := os.ReadFile(filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	arg, _ := snapshotsOf(dir)
	cmd := exec.Command("bindq", "batch", "-s", arg)
	cmd.Dir = dir
	if _, err := os.Stat(filepath.Join(dir, "identity.txt")); err == nil {
		cmd.Env = append(os.Environ(), "BINDQ_IDENTITY=identity.txt")
	}
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(queries), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// checkRefused checks that no query is answered and that the error contains reason.
func checkRefused(t *testing.T, dir, reason string) {
	t.Helper()
	stdout, stderr, _ := oldAnswers(t, dir) // batch exits with 0 if each answer is an error
	if strings.Contains(stdout, `"found"`) || !strings.Contains(stdout+stderr, reason) {
		t.Errorf("expected a refusal with %q, found %s%s", reason, stdout, stderr)
	}
}

// checkAnswers compares the current answers with the recorded ones. It compares only the codes of errors, because
// messages may change.
func checkAnswers(t *testing.T, dir string) {
	t.Helper()
	recorded, err := os.ReadFile(filepath.Join(dir, "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, _ := oldAnswers(t, dir)
	want, got := answersIn(t, string(recorded)), answersIn(t, stdout)
	if len(got) != len(want) {
		t.Fatalf("%d answers, expected %d: %s", len(got), len(want), stderr)
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("answer %d is %v, was %v", i+1, got[i], want[i])
		}
	}
}

func answersIn(t *testing.T, lines string) []map[string]any {
	t.Helper()
	var answers []map[string]any
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		var answer map[string]any
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if e, ok := answer["error"].(map[string]any); ok {
			delete(e, "message")
		}
		answers = append(answers, answer)
	}
	return answers
}
