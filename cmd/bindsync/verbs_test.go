package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"bindc/internal/testsite"
	"bindc/ship"
)

// full is a writer that always fails, like a full disk.
type full struct{}

var errFull = errors.New("the output takes nothing more")

func (full) Write([]byte) (int, error) { return 0, errFull }

// A verb whose output cannot be written fails with the reason.
func TestVerbsFailIfOutputCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	testsite.BuildBindings(t, "[a, 1]", filepath.Join(dir, "one.snap"))
	run := func(line string, out io.Writer) (status int, errs string) {
		var stderr bytes.Buffer
		root := command(nil)
		root.SetArgs(strings.Fields(strings.ReplaceAll(line, "DIR", dir)))
		root.SetOut(out)
		root.SetErr(&stderr)
		status = execute(root)
		return status, stderr.String()
	}
	if status, errs := run("pull file:DIR/one.snap --name production --store DIR/store", io.Discard); status != 0 {
		t.Fatal(errs)
	}
	for _, line := range []string{"status --store DIR/store", "status --store DIR/store --format " +
		"json", "status --store DIR/store --history --format yaml",
		"status --store DIR/store --history"} {
		if status, errs := run(line, full{}); status != 2 || !strings.Contains(errs, errFull.Error()) {
			t.Errorf("%s: status %d, %s", line, status, errs)
		}
	}
}

// status prints the revision of the active snapshot and its time.
func TestStatusPrintsRevisionAndTime(t *testing.T) {
	s := ship.Status{Active: ship.Digest(strings.Repeat("a", 64))}
	for revision, want := range map[string]string{"": "aaaaaaaaaaaa, since ", "v1": "aaaaaaaaaaaa, revision v1, since ",
		"a\x1b": `aaaaaaaaaaaa, revision a\x1b, since `} {
		if s.Revision = revision; !strings.HasPrefix(answers(s), want) {
			t.Errorf("'%s', expected '%s'", answers(s), want)
		}
	}
	if got := answers(ship.Status{}); got != "nothing answers" {
		t.Error(got)
	}
}
