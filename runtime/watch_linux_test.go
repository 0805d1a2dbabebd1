package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	bindings "bindc/runtime"
)

// A valid copy with the times and size of the rejected file is used, even if it gets the same inode number.
func TestValidCopyWithTimesOfRejectedFileIsUsed(t *testing.T) {
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

func TestOpenRejectsPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := bindings.Open(path, bindings.Options{}); err == nil {
		t.Error("a pipe is opened")
	}
}

// A file that is overwritten in place, with the same size and time, counts as changed, because
// Linux records the time of the change.
func TestFileChangedInPlaceIsReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.bsnap")
	build(t, path, generation(1))
	w := watch(t, path, byHand)
	build(t, path, generation(2))
	check(t, w, true)
	check(t, w, false)
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	changed := func(info os.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Ctim.Nano() }
	for now := was; changed(now) == changed(was); { // file times only change some hundred times a second
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, was.ModTime(), was.ModTime()); err != nil {
			t.Fatal(err)
		}
		if now, err = os.Stat(path); err != nil {
			t.Fatal(err)
		}
	}
	if switched, err := w.Check(); switched || err == nil {
		t.Errorf("a file that was changed is taken for the one it was: %t, %v", switched, err)
	}
}

// Two files with equal sizes and times are distinguished even if both changed within one clock tick.
func TestFilesWithSameTimesAreDistinguished(t *testing.T) {
	dir := t.TempDir()
	link, first, second := filepath.Join(dir, "site.bsnap"), filepath.Join(dir, "1"), filepath.Join(dir, "2")
	build(t, first, generation(1))
	build(t, second, generation(2))
	old := time.Now().Add(-time.Hour)
	stat := func(path string) (size, changed int64) {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size(), info.Sys().(*syscall.Stat_t).Ctim.Nano()
	}
	for same := false; !same; {
		size, changed := stat(first)
		other, then := stat(second)
		if size != other {
			t.Fatalf("files of %d and %d bytes", size, other)
		}
		same = changed == then
	}
	if err := os.Symlink(first, link); err != nil {
		t.Fatal(err)
	}
	w := watch(t, link, byHand)
	if err := errors.Join(os.Symlink(second, link+".new"), os.Rename(link+".new", link)); err != nil {
		t.Fatal(err)
	}
	check(t, w, true)
}
