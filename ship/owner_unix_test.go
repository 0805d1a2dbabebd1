//go:build unix

package ship

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Files that root creates in another user's store belong to that user.
func TestFilesOfRootBelongToTheOwnerOfTheStore(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, 65533); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(dir, "state"), 0, 0); err != nil { // OpenStore has to change it back
		t.Fatal(err)
	}
	store, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	p := &Pull{Store: store, Name: "n", Source: &shelf{text: "one", signed: signs(t, "one", "n", now)}, MaxBytes: 100,
		Now: func() time.Time { return now }}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 65534 || st.Gid != 65533 {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
		files++
		return err
	})
	if err != nil || files < 12 {
		t.Errorf("%d files, %v", files, err)
	}
	if _, ok := ownerOf(foreign{}); ok {
		t.Error("a file of another system has an owner")
	}
	if id := inode(foreign{}); id != "" {
		t.Errorf("a file of another system is '%s'", id)
	}
}

// foreign is a fs.FileInfo without the data of the operating system.
type foreign struct{ fs.FileInfo }

func (foreign) Sys() any { return nil }

// It is an error if root cannot give a file to the owner of the store.
func TestFailedChownIsAnError(t *testing.T) {
	if err := (files{}).chown(filepath.Join(t.TempDir(), "none"), owner{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	m := newMaster(t)
	m.store.owner = owner{65534, 65534}
	for _, op := range []string{"chown", "lstat"} {
		m.failsAt(op, "", syscall.EPERM)
		if _, err := m.release("one"); !errors.Is(err, syscall.EPERM) {
			t.Errorf("%s: %v", op, err)
		}
		if err := m.store.createDir(m.store.path("state")); !errors.Is(err, syscall.EPERM) {
			t.Errorf("%s: %v", op, err)
		}
		if err := m.store.give(m.store.path("state"), 0o755); !errors.Is(err, syscall.EPERM) {
			t.Errorf("%s: %v", op, err)
		}
	}
}
