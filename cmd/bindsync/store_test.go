package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bindc/internal/testsite"
	"bindc/ship"
)

// A name fails if it has no usable snapshot, rejected a release or is too old. It does not fail only because its
// source does not answer.
func TestNameFailsIfDamagedRefusedOrTooOld(t *testing.T) {
	sound := func(change func(*ship.Status)) *ship.Status {
		s := &ship.Status{Active: "d", Age: 60}
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		status  *ship.Status
		maxAge  time.Duration
		failing bool
	}{
		"sound":               {sound(func(*ship.Status) {}), 0, false},
		"as old as it may be": {sound(func(*ship.Status) {}), time.Minute, false},
		"too old":             {sound(func(*ship.Status) {}), time.Minute - 1, true},
		"barely old":          {sound(func(s *ship.Status) { s.Age = 0 }), 1, false},
		"never seen":          {sound(func(s *ship.Status) { s.Age = -1 }), time.Hour, true},
		"never seen, no age":  {sound(func(s *ship.Status) { s.Age = -1 }), 0, false},
		"does not answer":     {sound(func(s *ship.Status) { s.Active = "" }), 0, true},
		"problem":             {sound(func(s *ship.Status) { s.Problem = "p" }), 0, true},
		"damaged":             {sound(func(s *ship.Status) { s.Damaged = "d" }), 0, true},
		"source is away": {sound(func(s *ship.Status) { s.Checked.Error, s.Checked.Reason = "e", ship.Network }), 0,
			false},
		"release is refused": {sound(func(s *ship.Status) { s.Checked.Error, s.Checked.Reason = "e", ship.Content }), 0,
			true},
	} {
		if got := isFailing(c.status, c.maxAge); got != c.failing {
			t.Errorf("%s: failing is %v, expected %v", name, got, c.failing)
		}
	}
}

// Without --verify, status reports the damage that the last pull found; with --verify, only current damage. A file
// that cannot be opened is always damaged.
func TestStatusReportsDamageOfActiveFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	testsite.BuildBindings(t, "[a, 1]", path)
	text := []byte(read(t, path))
	sum := sha256.Sum256(text)
	s := &ship.Status{Name: "n", Active: ship.Digest(hex.EncodeToString(sum[:]))}
	s.Damaged = "found by a pull"
	if got := damageNow(s, path, false); got != "found by a pull" {
		t.Errorf("a sound file: '%s'", got)
	}
	if got := damageNow(s, path, true); got != "" {
		t.Errorf("a sound file, read as a whole: '%s'", got)
	}
	other := &ship.Status{Name: "n", Active: ship.Digest(strings.Repeat("a", 64))}
	if got := damageNow(other, path, false); got != "" {
		t.Errorf("another file: '%s'", got)
	}
	if got := damageNow(other, path, true); !strings.Contains(got, "does not have the SHA-256 aaa") {
		t.Errorf("another file, read as a whole: '%s'", got)
	}
	if err := os.WriteFile(path, text[:len(text)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	for _, whole := range []bool{false, true} {
		if got := damageNow(s, path, whole); !strings.Contains(got, "the active snapshot is unusable: ") {
			t.Errorf("half a file, whole %v: '%s'", whole, got)
		}
	}
}

// A history that cannot be read is an error.
func TestStatusFailsIfHistoryCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	st, err := ship.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "history", "n.jsonl"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := (&statusFlags{format: "text"}).printHistory(io.Discard, st, []string{"n"}); err == nil {
		t.Error("a directory is printed as a history")
	}
}
