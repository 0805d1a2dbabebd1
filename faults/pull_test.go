//go:build linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bindc/internal/testmode"
)

// If a pull is killed at a system call that stores, switches or records, the name leads to the complete old or new
// snapshot. The next pull activates the new one. Only files in store/tmp remain, which are removed later.
func TestPullKilledAtEachCallLeavesOldOrNewSnapshot(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	old, now := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "now")
	succeed(t, "bindc", "build", newSite(t, 1, 3), "-o", old)
	succeed(t, "bindc", "build", newSite(t, 2, 3), "-o", now)
	sums := map[[32]byte]string{digest(t, old): "old", digest(t, now): "now"}
	killed, saw := 0, map[string]int{}
	calls := []string{"write", "fsync", "renameat", "symlinkat", "mkdirat", "unlinkat", "flock"}
	if !testmode.Thorough() {
		calls = []string{"renameat", "symlinkat"}
	}
	for _, call := range calls {
		for n := 1; ; n++ {
			store := filepath.Join(t.TempDir(), "store")
			succeed(t, "bindsync", "pull", "file:"+old, "--name", "n", "--store", store)
			r := run(t, "strace", "-f", "-qqq", "-o", os.DevNull, "-e", "signal=none",
				"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n),
				"bindsync", "pull", "file:"+now, "--name", "n", "--store", store)
			if r.status == 0 && r.signal == 0 {
				break // there are no more such calls
			}
			killed++
			what := fmt.Sprintf("killed at %s %d", call, n)
			link := filepath.Join(store, "n.snap")
			which := sums[digest(t, link)]
			if which == "" {
				t.Fatalf("%s: %s leads to something else", what, link)
			}
			saw[which]++
			succeed(t, "bindq", "verify", link)
			succeed(t, "bindsync", "status", "--store", store)
			succeed(t, "bindsync", "pull", "file:"+now, "--name", "n", "--store", store)
			if sums[digest(t, link)] != "now" {
				t.Errorf("%s: the next pull does not end with the new snapshot", what)
			}
		}
	}
	// strace counts the calls of each thread. With few kills, all of them may be before the switch.
	if killed == 0 || testmode.Thorough() && (saw["old"] == 0 || saw["now"] == 0) {
		t.Errorf("%d kills: %d saw the old snapshot, %d the new one", killed, saw["old"], saw["now"])
	}
	figures(t, "%d pulls were killed: %d names stayed, %d led to the new snapshot", killed, saw["old"], saw["now"])
}

// If the disk fills up during a pull, the active snapshot stays, no partial files remain, and the error contains the
// fix. With more space, the next pull activates the new snapshot.
func TestPullOnFullDiskKeepsActiveSnapshot(t *testing.T) {
	old, now := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "now")
	succeed(t, "bindc", "build", newSite(t, 1, 3), "-o", old)
	succeed(t, "bindc", "build", newSite(t, 2, 1000), "-o", now)
	t.Run("a small disk", func(t *testing.T) {
		store, full := mount(t, "size=32k,mode=755"), 0
		resize := func(pages int) {
			options := fmt.Sprintf("size=%dk", 4*pages)
			if err := unix.Mount("", store, "", unix.MS_REMOUNT, options); err != nil {
				t.Fatal(err)
			}
		}
		succeed(t, "bindsync", "pull", "file:"+old, "--name", "n", "--store", store)
		for pages := 8; ; pages++ {
			resize(pages)
			r := run(t, "bindsync", "pull", "file:"+now, "--name", "n", "--store", store)
			if r.status == 0 {
				break
			}
			full++
			keptOld(t, fmt.Sprintf("a disk of %d pages", pages), store, old, r, "no space left on device")
		}
		if full == 0 || digest(t, filepath.Join(store, "n.snap")) != digest(t, now) {
			t.Errorf("%d disks were too small, and the first sufficient one has another active snapshot", full)
		}
		figures(t, "%d disks filled up while a pull stored", full)
	})
	t.Run("a limit on file sizes", func(t *testing.T) {
		if _, err := exec.LookPath("prlimit"); err != nil {
			t.Skip("prlimit is not installed")
		}
		store := filepath.Join(t.TempDir(), "store")
		succeed(t, "bindsync", "pull", "file:"+old, "--name", "n", "--store", store)
		r := run(t, "prlimit", "--fsize=8192", "bindsync", "pull", "file:"+now, "--name", "n", "--store", store)
		keptOld(t, "--fsize", store, old, r, "file too large")
		succeed(t, "bindsync", "pull", "file:"+now, "--name", "n", "--store", store)
	})
}

// keptOld checks the result of a pull that had too little space.
func keptOld(t *testing.T, what, store, old string, r result, want string) {
	t.Helper()
	if r.status != 2 || crashed(r) || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "bindsync gc") {
		t.Errorf("%s: status %d, expected 2, '%s' and what to do: %s", what, r.status, want, r.stderr)
	}
	link := filepath.Join(store, "n.snap")
	if digest(t, link) != digest(t, old) {
		t.Errorf("%s: %s leads to something else", what, link)
	}
	if left := names(t, filepath.Join(store, "store", "tmp")); len(left) > 0 {
		t.Errorf("%s: %q is left behind", what, left)
	}
	for _, name := range names(t, filepath.Join(store, "store", "sha256")) {
		path := filepath.Join(store, "store", "sha256", name, "site.snap")
		if fmt.Sprintf("%x", digest(t, path)) != name {
			t.Errorf("%s: %s is not whole", what, path)
		}
	}
	succeed(t, "bindq", "verify", link)
	if out, status := answer(t, "bindsync", "status", "--store", store); status != 1 || !strings.Contains(out, "disk") {
		t.Errorf("%s: expected status to exit 1 and to name the disk, got %d: %s", what, status, out)
	}
}
