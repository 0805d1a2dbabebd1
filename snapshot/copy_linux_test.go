package snapshot

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// openFiles returns the number of open files of the process.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	return len(list)
}

// Files in /proc have a size of 0 although they have content. Open and OpenCopy reject them and close them again.
func TestOpenRejectsProcFiles(t *testing.T) {
	before := openFiles(t)
	s, err := OpenCopy("/proc/self/status")
	if s != nil || err == nil || !strings.Contains(err.Error(), "/proc/self/status: its length changed") {
		t.Errorf("a file of the kernel: %v", err)
	}
	var at *os.PathError
	if s, err := Open("/proc/self/status"); s != nil || !errors.As(err, &at) || at.Path != "/proc/self/status" {
		t.Errorf("a file of the kernel is mapped: %v", err)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

// A build replaces the file by another one, which may have another length.
func TestOpenCopyReadsFileThatIsReplacedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "s.bsnap"), filepath.Join(dir, "next")
	long := small()
	long.Inputs = append(long.Inputs, Input{Path: strings.Repeat("long", 2000)})
	contents := [][]byte{fileOf(t, small()), fileOf(t, long)}
	done := make(chan struct{})
	if err := os.WriteFile(path, contents[0], 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(done)
		for i := range 3000 {
			err := os.WriteFile(next, contents[i%2], 0o600)
			if err == nil {
				err = os.Rename(next, path)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
		}
		if _, err := OpenCopy(path); err != nil {
			t.Errorf("expected the old or the new file, found %v", err)
			<-done
			return
		}
	}
}

// Opening, comparing and replacing snapshots leaves no file open.
func TestOpenAndUpdateCloseTheirFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.bsnap")
	before := openFiles(t)
	for range 2 { // the second time, the file already exists
		if _, _, err := Update(path, small()); err != nil {
			t.Fatal(err)
		}
	}
	for _, open := range []func(string) (*Snapshot, error){Open, OpenCopy} {
		s, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

// limited runs do while the process has the given resource limit.
func limited(t *testing.T, resource int, limit uint64, do func()) {
	t.Helper()
	var own syscall.Rlimit
	if err := syscall.Getrlimit(resource, &own); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: own.Max}); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(resource, &own)
	do()
}

// If the process cannot open more files, Open reports that, and not a missing or empty snapshot.
func TestOpenReportsTooManyOpenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.bsnap")
	w, err := Write(path, small())
	if err != nil {
		t.Fatal(err)
	}
	limited(t, syscall.RLIMIT_NOFILE, 0, func() {
		for _, open := range []func(string) (*Snapshot, error){Open, OpenCopy} {
			if s, err := open(path); s != nil || !errors.Is(err, syscall.EMFILE) {
				t.Errorf("it opens, %v", err)
			}
		}
		if holds(path, w) {
			t.Error("holds is true for a file that cannot be opened")
		}
	})
	if !holds(path, w) {
		t.Error("the written file is missing")
	}
}

// If the snapshot does not fit on the disk, path keeps its content. A limit on file sizes simulates the full disk. The
// test runs in a process of its own, because the log of opened files that go test keeps may be longer than the limit.
func TestUpdateOnFullDiskKeepsOldFile(t *testing.T) {
	const child = "BINDC_TEST_FULL_DISK"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("an emulator runs this program, which cannot start itself here")
		}
		if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const room = 32 << 10
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, small()); err != nil {
		t.Fatal(err)
	}
	if w, err := WriteTo(io.Discard, fleet(1)); err != nil || w.Size <= room {
		t.Fatal("the site is too small for this test", err)
	}
	limited(t, syscall.RLIMIT_FSIZE, room, func() {
		if _, err := Write(path, fleet(1)); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("Write returns %v", err)
		}
		if _, news, err := Update(path, fleet(1)); news || !errors.Is(err, syscall.EFBIG) {
			t.Errorf("Update returns %t, %v", news, err)
		}
	})
	got, err := os.ReadFile(path)
	if err != nil || string(got) != string(fileOf(t, small())) {
		t.Errorf("path holds %d bytes, %v", len(got), err)
	}
}

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
		t.Skip("the file was not mapped")
	}
	if err := s.Close(); err != nil || mapped() {
		t.Errorf("mapped after Close: %t, %v", mapped(), err)
	}
}
