package runtime_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	bindings "bindc/runtime"
)

// A copy that keeps times, of a file of the same size, may even get the number of the one that was refused.
func TestASoundCopyWithTheTimesOfARefusedOneIsTaken(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "site.bsnap"), filepath.Join(dir, "next.bsnap")
	build(t, path, generation(1))
	build(t, next, generation(2))
	sound, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	w := watch(t, path, byHand)
	old := time.Now().Add(-time.Hour)
	put := func(content []byte) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	damaged := append([]byte(nil), sound...)
	damaged[len(damaged)/2] ^= 1
	put(damaged)
	if _, err := w.Check(); err == nil {
		t.Error("a damaged file is taken")
	}
	put(sound)
	check(t, w, true)
}

func TestAPipeIsNoSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := bindings.Open(path, bindings.Options{}); err == nil {
		t.Error("a pipe is opened")
	}
}
