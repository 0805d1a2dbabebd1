package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const nobody = 65534

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can take the part of others")
	}
}

// asUnprivilegedUser runs f as a user and a group without rights.
func asUnprivilegedUser(t *testing.T, dir string, f func()) {
	t.Helper()
	needRoot(t)
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		unix.Setfsgid(nobody)
		unix.Setfsuid(nobody)
		f()
	}()
	<-done
}

func TestReplaceFailsInReadOnlyDirectory(t *testing.T) {
	path := old(t, 0o666)
	if err := os.Chmod(filepath.Dir(path), 0o555); err != nil {
		t.Fatal(err)
	}
	asUnprivilegedUser(t, filepath.Dir(path), func() {
		if err := Replace(path, ReplaceOptions{Limit: 0o777}, put("new")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v, want that it is not permitted", err)
		}
	})
	checkOnlyFile(t, path, "old")
}

func TestReplaceKeepsOwnerAndGroup(t *testing.T) {
	needRoot(t)
	path := old(t, 0o640)
	if err := os.Chown(path, 1234, 2345); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, ReplaceOptions{Limit: 0o777}, put("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 1234 || st.Gid != 2345 || info.Mode() != 0o640 {
		t.Errorf("got %d:%d %o, want 1234:2345 640", st.Uid, st.Gid, info.Mode())
	}
}

// If Replace cannot keep the group, the new group gets the permissions of other users.
func TestReplaceGivesAnotherGroupNoPermissions(t *testing.T) {
	for mode, want := range map[fs.FileMode]fs.FileMode{0o660: 0o600, 0o664: 0o644, 0o604: 0o604} {
		path := old(t, mode)
		if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		asUnprivilegedUser(t, filepath.Dir(path), func() {
			if err := Replace(path, ReplaceOptions{Limit: 0o777}, put("new")); err != nil {
				t.Error(err)
			}
		})
		info, err := os.Stat(path)
		if err != nil || info.Mode() != want {
			t.Errorf("of %o: got %o (%v), want %o", mode, info.Mode(), err, want)
		}
		checkOnlyFile(t, path, "new")
	}
}

func TestReplaceFailsOnFullDisk(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount a small disk here: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Replace(path, ReplaceOptions{Limit: 0o777, Synced: true}, put(string(make([]byte, 1<<20))))
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want that no space is left", err)
	}
	checkOnlyFile(t, path, "old")
}

// /proc does not support fsync, which is no error. A directory that does not exist is an error.
func TestSyncDirFailsOnlyIfSyncingIsPossible(t *testing.T) {
	if err := SyncDir("/proc"); err != nil {
		t.Errorf("/proc: %v", err)
	}
	if err := SyncDir(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := SyncDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that does not exist: %v", err)
	}
}
