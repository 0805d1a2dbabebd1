package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bindc/internal/snapfile"
	"bindc/internal/testsite"
	"bindc/ship"
)

// storeWith returns a store in which the releases were active under one name, one after the other.
func storeWith(t *testing.T, releases ...string) (*ship.Store, string) {
	t.Helper()
	dir := t.TempDir()
	st, err := ship.OpenStore(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "site.snap")
	for _, bind := range releases {
		testsite.BuildBindings(t, bind, path)
		pull := &ship.Pull{Store: st, Name: "production", Source: ship.File{Path: path}, MaxBytes: 1 << 20,
			Now: time.Now, Checks: ship.Checks{Inspect: snapfile.Inspect}}
		if r, err := pull.Run(t.Context()); err != nil || !r.Activated {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	return st, filepath.Join(dir, "store")
}

// follow logs each snapshot that it removes, and each failure to remove one.
func TestFollowLogsRemovedSnapshots(t *testing.T) {
	st, dir := storeWith(t, "[a, 1]", "[a, 2]", "[a, 3]")
	var log bytes.Buffer
	f := following{store: st, keep: ship.Keep{Last: 1}}
	f.report(slog.New(slog.NewTextHandler(&log, nil)), make(chan struct{}))
	f.follow.Collect()
	if n := strings.Count(log.String(), "removed a snapshot that no name needs"); n != 2 {
		t.Errorf("the log has %d snapshots that were removed, expected 2:\n%s", n, log.String())
	}
	log.Reset()
	f.follow.Collect()
	if log.Len() > 0 {
		t.Errorf("nothing was left to remove, the log has\n%s", log.String())
	}
	if err := os.RemoveAll(filepath.Join(dir, "store")); err != nil {
		t.Fatal(err)
	}
	f.follow.Collect()
	if !strings.Contains(log.String(), "cannot remove old snapshots: ") {
		t.Errorf("a store without snapshots: the log has\n%s", log.String())
	}
}

// Other users may read the textfile. If a name does not exist, status fails and does not change the textfile.
func TestTextfileIsReadableAndKeptOnError(t *testing.T) {
	st, _ := storeWith(t, "[a, 1]")
	path := filepath.Join(t.TempDir(), "metrics.prom")
	f := following{store: st, textfile: path}
	f.follow.Pulls = []*ship.Pull{{Name: "production"}}
	if err := f.writeTextfile(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&^0o644 != 0 || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	before := read(t, path)
	f.follow.Pulls = append(f.follow.Pulls, &ship.Pull{Name: "a/b"})
	if err := f.writeTextfile(); err == nil || read(t, path) != before {
		t.Errorf("found %v and\n%s", err, read(t, path))
	}
}

// If the textfile cannot be written, follow logs the error and continues.
func TestFollowLogsTextfileErrorAndContinues(t *testing.T) {
	st, _ := storeWith(t, "[a, 1]")
	var log bytes.Buffer
	f := following{store: st, textfile: filepath.Join(t.TempDir(), "nowhere", "metrics.prom")}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	f.writeTextfiles(ctx, slog.New(slog.NewTextHandler(&log, nil)), nil)
	if !strings.Contains(log.String(), "no such file or directory") || !strings.Contains(log.String(), "textfile=") {
		t.Errorf("the log has\n%s", log.String())
	}
}

// gc uses the limits of the configuration unless a flag overrides them.
func TestGCFlagsOverrideConfiguration(t *testing.T) {
	for _, c := range []struct{ keep, flags, want string }{
		{"keep: 1\nyounger: 1ns\n", "", "2"},
		{"keep: 1\nyounger: 1ns\n", "--keep 5", "0"},
		{"keep: 5\nyounger: 1ns\n", "--keep 1", "2"},
		{"keep: 1\nyounger: 1h\n", "", "0"},
		{"keep: 1\nyounger: 1h\n", "--younger 1ns", "2"},
	} {
		_, dir := storeWith(t, "[a, 1]", "[a, 2]", "[a, 3]")
		config := filepath.Join(t.TempDir(), "follow.yaml")
		text := "store: " + dir + "\n" + c.keep + "names: {production: {source: 'file:site.snap'}}\n"
		if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		root := command(nil)
		root.SetArgs(append([]string{"gc", "-c", config}, strings.Fields(c.flags)...))
		root.SetOut(&out)
		status := execute(root)
		if n := strings.Count(out.String(), "\n"); status != 0 || strconv.Itoa(n) != c.want {
			t.Errorf("%q %s: status %d, %d removed, expected %s", c.keep, c.flags, status, n, c.want)
		}
	}
}

// A store in which no name has a snapshot needs attention.
func TestStatusOfEmptyStoreNeedsAttention(t *testing.T) {
	dir := t.TempDir()
	if _, err := ship.OpenStore(dir); err != nil {
		t.Fatal(err)
	}
	root := command(nil)
	root.SetArgs([]string{"status", "--store", dir})
	if status := execute(root); status != 1 {
		t.Errorf("status %d, expected 1", status)
	}
}

// status prints the note of a source, such as a warning about inefficient polling.
func TestStatusPrintsNoteOfSource(t *testing.T) {
	var out bytes.Buffer
	s := ship.Status{Name: "production"}
	s.Note = "the server sends no ETag"
	f := statusFlags{format: "text"}
	if err := f.print(&out, []ship.Status{s}); err != nil || !strings.Contains(out.String(), s.Note) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// A password is read once, however many sources need it.
func TestPasswordIsReadOnce(t *testing.T) {
	s := sources{passwordStdin: true, user: "u"}
	stdin := strings.NewReader("secret\n")
	for range 2 {
		if _, err := s.open("https://example.org/site.snap", stdin); err != nil || s.password != "secret" {
			t.Errorf("'%s', %v", s.password, err)
		}
	}
}
