package ship

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
)

// Polls leave no file open, because follow runs for months.
func TestPollsLeaveNoFileOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // otherwise a garbage collection might close leaked files
	m := newMaster(t)
	path := filepath.Join(t.TempDir(), "site.snap")
	put := func(text string) {
		t.Helper()
		err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o644), os.Rename(path+".new", path))
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func() int {
		t.Helper()
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	put("one")
	m.pull.Source = File{path}
	if err := m.pullNow(); err != nil {
		t.Fatal(err)
	}
	for what, poll := range map[string]func() error{
		"nothing new": m.pullNow,
		"a release":   func() error { put("two"); return m.pullNow() },
		"a directory": func() error {
			q := *m.pull
			q.Source = File{filepath.Dir(path)}
			_, err := q.Run(t.Context())
			return errors.Join(err, io.EOF)
		},
		"a full disk": func() error {
			put("three")
			m.store.files.fault = func(op, _ string) error {
				if op == "write" {
					return syscall.ENOSPC
				}
				return nil
			}
			err := m.pullNow()
			m.store.files.fault = nil
			return err
		},
	} {
		before := open()
		err := poll()
		if after := open(); after != before {
			t.Errorf("%s: %d files are open, %d before (%v)", what, after, before, err)
		}
	}
}
