package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bindc/internal/snapfile"
	"bindc/internal/testsite"
	"bindc/ship"
)

// storeWith returns a store in which a name had some releases, one after the other.
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

// follow logs each snapshot that it removes, and says if it cannot remove old ones.
func TestLogHasWhatFollowRemoves(t *testing.T) {
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

// Collectors of metrics may read the textfile. A name that no store has is an error, and leaves it as it is.
func TestTextfile(t *testing.T) {
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
