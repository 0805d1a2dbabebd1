package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is longer than it says, as files of the kernel are, is none to copy; nothing stays open.
func TestACopyOfWhatHasAnotherLength(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc")
		}
		return len(list)
	}
	before := open()
	s, err := OpenCopy("/proc/self/status")
	if s != nil || err == nil || !strings.Contains(err.Error(), "/proc/self/status: its length changes") {
		t.Errorf("a file of the kernel: %v", err)
	}
	if after := open(); after != before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

// A snapshot that is closed is no longer mapped.
func TestCloseUnmaps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, small()); err != nil {
		t.Fatal(err)
	}
	mapped := func() bool {
		text, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip("no /proc")
		}
		return strings.Contains(string(text), path)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !mapped() {
		t.Skip("it was not mapped")
	}
	if err := s.Close(); err != nil || mapped() {
		t.Errorf("closed, it is mapped: %t, %v", mapped(), err)
	}
}
