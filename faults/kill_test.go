//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bindc/internal/testmode"
)

// A build that is killed leaves the old file or the new one. Except after SIGKILL, it leaves no other files.
func TestBuildKilledAtAnyTimeLeavesOldOrNewFile(t *testing.T) {
	sites := []string{newSite(t, 1, 300), newSite(t, 2, 300)}
	whole := [][32]byte{built(t, sites[0]), built(t, sites[1])}
	dir, cache := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "site.bsnap")
	args := func(i int) []string { return []string{"build", sites[i%2], "-o", path, "--cache", cache} }
	start := time.Now()
	succeed(t, "bindc", args(0)...)
	takes := time.Since(start)

	seed := rand.Uint64()
	t.Logf("seed %d, a build takes %v", seed, takes)
	random := rand.New(rand.NewPCG(seed, 0))
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	kills := map[syscall.Signal]int{}
	for i := range rounds(testmode.Number(6, 30)) {
		sig := signals[random.IntN(len(signals))]
		before := append(names(t, dir), names(t, cache)...)
		if i%5 == 4 {
			empty(t, cache) // makes the build write the cache, too
		}
		cmd := command("bindc", args(i)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(takes) * 5 / 4)))
		cmd.Process.Signal(sig)
		r := outcome(t, cmd, cmd.Wait())
		what := fmt.Sprintf("round %d, %v: status %d, %v: %s", i, sig, r.status, r.signal, r.stderr)
		ended := r.signal == sig || sig != syscall.SIGKILL && r.status == 128+int(sig)
		if ended {
			kills[sig]++
		} else if r.status != 0 {
			t.Errorf("%s", what)
		}
		got := digest(t, path)
		if r.status == 0 && got != whole[i%2] || !slices.Contains(whole, got) {
			t.Errorf("%s: the file is another one", what)
		}
		if sig == syscall.SIGKILL {
			continue
		}
		for _, name := range append(names(t, dir, "*.bsnap"), names(t, cache, "*.pack")...) {
			if !slices.Contains(before, name) {
				t.Errorf("%s: %s is left behind", what, name)
			}
		}
	}
	empty(t, cache)
	for i := range 2 {
		succeed(t, "bindc", args(i)...)
	}
	if left := append(names(t, dir, "site.bsnap"), names(t, cache, "*.pack")...); len(left) > 0 {
		t.Errorf("the next build leaves %q", left)
	}
	succeed(t, "bindq", "verify", path)
	figures(t, "%d kills, %d SIGTERM, %d SIGINT, %d SIGHUP in the middle of builds", kills[syscall.SIGKILL],
		kills[syscall.SIGTERM], kills[syscall.SIGINT], kills[syscall.SIGHUP])
}

// If a signal arrives at a system call that publishes a snapshot, the file is the old or the new one. Other files only
// remain after SIGKILL, and the next build removes them.
func TestBuildKilledAtEachCallOfPublishingLeavesOldOrNewFile(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	site, other := newSite(t, 1, 3), newSite(t, 2, 3)
	f, whole := newTarget(t, t.TempDir(), site), built(t, other)
	args := []string{"build", other, "-o", f.path}
	most := needStrace(t, args...)
	signals := []string{"KILL", "TERM", "INT", "HUP"}
	if !testmode.Thorough() {
		signals = signals[:2] // all signals have the same handler
	}
	killed, kept, replaced := 0, 0, 0
	for _, call := range []string{"write", "fchown", "fchmod", "flock", "fsync", "renameat"} {
		for _, sig := range signals {
			for n := 1; n <= most[call]; n += testmode.Number(8, 1) {
				succeed(t, "bindc", "build", site, "-o", f.path)
				if left := names(t, f.dir, "site.bsnap"); len(left) > 0 {
					t.Fatalf("the next build leaves %q", left)
				}
				trace := []string{"-f", "-qqq", "-o", os.DevNull, "-e", "signal=none",
					"-e", fmt.Sprintf("inject=%s:signal=%s:when=%d", call, sig, n), "bindc"}
				r := run(t, "strace", append(trace, args...)...)
				what := fmt.Sprintf("SIG%s at %s %d: status %d, %v: %s", sig, call, n, r.status, r.signal, r.stderr)
				number := unix.SignalNum("SIG" + sig)
				ended := r.signal == number || sig != "KILL" && r.status == 128+int(number)
				got := digest(t, f.path)
				switch {
				case !ended && r.status != 0:
					t.Error(what)
				case got == f.old && r.status == 0 || got != f.old && got != whole:
					t.Errorf("%s: the file is another one", what)
				}
				if left := names(t, f.dir, "site.bsnap"); sig != "KILL" && len(left) > 0 {
					t.Errorf("%s: %q is left behind", what, left)
				}
				if ended {
					killed++
				}
				if got == f.old {
					kept++
				} else {
					replaced++
				}
			}
		}
	}
	if killed == 0 || kept == 0 || replaced == 0 {
		t.Errorf("%d builds were killed, %d files stayed and %d were replaced", killed, kept, replaced)
	}
	figures(t, "%d signals at calls of publishing: %d files stayed, %d were replaced whole", killed, kept, replaced)
}

// If several builds replace the same file, all succeed, and the file is always the whole result of one of them.
func TestConcurrentBuildsLeaveOneWholeFile(t *testing.T) {
	sites := []string{newSite(t, 1, 20), newSite(t, 2, 20), newSite(t, 3, 20), newSite(t, 4, 20)}
	var whole [][32]byte
	for _, site := range sites {
		whole = append(whole, built(t, site))
	}
	dir, cache := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "site.bsnap")
	succeed(t, "bindc", "build", sites[0], "-o", path)
	builds := 0
	for range rounds(testmode.Number(4, 10)) {
		var running []*exec.Cmd
		for _, site := range append(sites, sites...) {
			cmd := command("bindc", "build", site, "-o", path, "--cache", cache)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, cmd)
			if !slices.Contains(whole, digest(t, path)) {
				t.Error("meanwhile the file is not the result of any build")
			}
		}
		for _, cmd := range running {
			if r := outcome(t, cmd, cmd.Wait()); r.status != 0 || r.stderr != "" {
				t.Errorf("status %d: %s", r.status, r.stderr)
			}
			builds++
		}
		if !slices.Contains(whole, digest(t, path)) {
			t.Error("the file is not the result of any build")
		}
		if left := append(names(t, dir, "site.bsnap"), names(t, cache, "*.pack")...); len(left) > 0 {
			t.Errorf("%q is left behind", left)
		}
		empty(t, cache)
	}
	figures(t, "%d builds, 8 at a time to one file", builds)
}
