//go:build linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// target is a file that builds should replace, but cannot.
type target struct {
	dir, path string
	old       [32]byte
}

func newTarget(t *testing.T, dir, site string) *target {
	t.Helper()
	path := filepath.Join(dir, "site.bsnap")
	succeed(t, "bindc", "build", site, "-o", path)
	return &target{dir, path, digest(t, path)}
}

// kept checks the result of a failed build: the old file is unchanged, no other file is next to it, and the error
// contains the problem and the file.
func (f *target) kept(t *testing.T, what string, r result, want string) {
	t.Helper()
	switch {
	case r.status != 2 || crashed(r):
		t.Errorf("%s: status %d, expected 2: %s", what, r.status, r.stderr)
	case !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, f.dir):
		t.Errorf("%s: expected an error with %q and the path, got %s", what, want, r.stderr)
	}
	if digest(t, f.path) != f.old {
		t.Errorf("%s: the file is another one", what)
	}
	if left := names(t, f.dir, "site.bsnap"); len(left) > 0 {
		t.Errorf("%s: %q is left behind", what, left)
	}
}

// mount mounts a small disk.
func mount(t *testing.T, options string) string {
	t.Helper()
	needRoot(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("cannot mount a small disk here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func TestBuildOnFullDiskKeepsOldFile(t *testing.T) {
	site, larger := newSite(t, 1, 20), newSite(t, 2, 1000)
	for _, options := range []string{"size=16k", "size=64k,nr_inodes=3"} {
		f := newTarget(t, mount(t, options), site)
		if strings.Contains(options, "inodes") {
			write(t, filepath.Join(f.dir, "other"), "")
			r := run(t, "bindc", "build", larger, "-o", f.path)
			os.Remove(filepath.Join(f.dir, "other"))
			f.kept(t, options, r, "no space left on device")
			continue
		}
		f.kept(t, options, run(t, "bindc", "build", larger, "-o", f.path), "no space left on device")
	}

	// A cache that cannot be written is reported, and the build succeeds.
	cache, path := mount(t, "size=32k"), filepath.Join(t.TempDir(), "site.bsnap")
	r := run(t, "bindc", "build", larger, "-o", path, "--cache", cache)
	if r.status != 0 || !strings.Contains(r.stderr, "cannot write the cache") || digest(t, path) != built(t, larger) {
		t.Errorf("a full cache: status %d: %s", r.status, r.stderr)
	}
	if left := names(t, cache); len(left) > 0 {
		t.Errorf("in the cache %q is left behind", left)
	}
}

func TestBuildOnReadOnlyDiskKeepsOldFile(t *testing.T) {
	site, other := newSite(t, 1, 3), newSite(t, 2, 3)
	f := newTarget(t, mount(t, "size=256k"), site)
	if err := unix.Mount("", f.dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	f.kept(t, "read-only", run(t, "bindc", "build", other, "-o", f.path), "read-only file system")
}

// With a low resource limit, a build succeeds or reports which resource it needs.
func TestBuildUnderProcessLimitsSucceedsOrNamesResource(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("prlimit is not installed")
	}
	site, other := newSite(t, 1, 20), newSite(t, 2, 20)
	f, want := newTarget(t, t.TempDir(), site), built(t, other)
	for _, limit := range []struct {
		name, errno string
		from, step  int
	}{{"nofile", "too many open files", 4, 1}, {"fsize", "file too large", 0, 997}} {
		tight := 0
		for n := limit.from; ; n += limit.step {
			what := fmt.Sprintf("--%s=%d", limit.name, n)
			r := run(t, "prlimit", what, "bindc", "build", other, "-o", f.path)
			if r.status == 0 {
				if digest(t, f.path) != want {
					t.Errorf("%s: another snapshot", what)
				}
				break
			}
			tight++
			if strings.Contains(r.stderr, "failed with 24") { // the Go runtime itself needs some descriptors
				r = result{status: 2, stderr: limit.errno + f.dir}
			}
			if strings.Contains(r.stderr, "cannot read the site") {
				r.stderr += f.dir
			}
			if r.status == 1 && strings.Contains(r.stderr, "[read]") {
				r.status = 2 // treated like a site that cannot be read
				r.stderr += f.dir
			}
			f.kept(t, what, r, limit.errno)
		}
		succeed(t, "bindc", "build", site, "-o", f.path)
		if tight == 0 {
			t.Errorf("no build was short of %s", limit.name)
		}
	}
}

// named returns the name that strace uses for a system call on this architecture.
func named(call string) string {
	if other, ok := map[string]string{"mmap": "mmap2", "fchown": "fchown32"}[call]; ok && runtime.GOARCH == "386" {
		return other
	}
	return call
}

// injected runs a build in which the nth system call with the given name fails in each thread.
func injected(t *testing.T, call, errno string, n int, args ...string) result {
	t.Helper()
	inject := []string{"-f", "-qqq", "-o", os.DevNull, "-e", "trace=" + call, "-e", "signal=none",
		"-e", fmt.Sprintf("inject=%s:error=%s:when=%d", call, errno, n), "bindc"}
	return run(t, "strace", append(inject, args...)...)
}

// needStrace skips the test if strace cannot make calls fail. For each system call, it returns how often a build makes
// it in the thread that makes it most often.
func needStrace(t *testing.T, args ...string) map[string]int {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	trace := []string{"-f", "-qqq", "-o", log, "-e", "signal=none", "bindc"}
	if r := run(t, "strace", append(trace, args...)...); r.status != 0 {
		t.Skipf("strace cannot trace here: %s", r.stderr)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	perThread, most := map[string]int{}, map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^(\d+) +([a-z0-9_]+)\(`).FindAllStringSubmatch(string(text), -1) {
		perThread[m[1]+m[2]]++
		most[m[2]] = max(most[m[2]], perThread[m[1]+m[2]])
	}
	return most
}

// If a call that creates the file or moves it into place fails, the old file is unchanged.
func TestFailedSystemCallKeepsOldFile(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	site, other := newSite(t, 1, 3), newSite(t, 2, 3)
	f := newTarget(t, t.TempDir(), site)
	os.Chmod(f.path, 0o640)
	args := []string{"build", other, "-o", f.path}
	needStrace(t, "build", other, "-o", filepath.Join(t.TempDir(), "f"))
	for _, call := range []string{"fsync", "renameat", "fchmod", "write"} {
		for _, errno := range []string{"EIO", "ENOSPC", "EPERM"} {
			r := injected(t, call, errno, 1, args...)
			if call == "write" { // then the message cannot be written, either
				r.stderr += "cannot write the snapshot " + f.dir
			}
			f.kept(t, call+": "+errno, r, "cannot write the snapshot")
		}
	}
}

// A build succeeds although the directory cannot be synced or the owner cannot be set.
func TestBuildSucceedsWithoutDirectorySyncOrOwner(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	site, other := newSite(t, 1, 3), newSite(t, 2, 3)
	f := newTarget(t, t.TempDir(), site)
	args := []string{"build", other, "-o", f.path}
	needStrace(t, "build", other, "-o", filepath.Join(t.TempDir(), "f"))
	want := built(t, other)
	for call, only := range map[string][]string{"fsync": {"-P", f.dir}, "fchown": nil} {
		succeed(t, "bindc", "build", site, "-o", f.path)
		os.Chmod(f.path, 0o664)
		trace := append(only, "-f", "-qqq", "-o", os.DevNull, "-e", "signal=none",
			"-e", "inject="+named(call)+":error=EPERM")
		r := run(t, "strace", append(append(trace, "bindc"), args...)...)
		if r.status != 0 || digest(t, f.path) != want {
			t.Errorf("%s: status %d: %s", call, r.status, r.stderr)
		}
		// fchown fails, so the group cannot be set
		mode := map[string]os.FileMode{"fsync": 0o664, "fchown": 0o644}[call]
		if info, err := os.Stat(f.path); err != nil || info.Mode() != mode {
			t.Errorf("%s: permissions %v, expected %v (%v)", call, info.Mode(), mode, err)
		}
	}
}

// If any system call of a build fails, the build produces the same bytes or reports the error. The short form tests
// some of the calls.
func TestEachCallOfBuildFailsSafely(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	site, dir := newSite(t, 1, 12), t.TempDir()
	if err := os.Symlink("n1.yaml", filepath.Join(site, "data/nodes/linked.yaml")); err != nil {
		t.Fatal(err)
	}
	path, want := filepath.Join(dir, "site.bsnap"), built(t, site)
	args := []string{"build", site, "-o", path}
	most := needStrace(t, args...)
	calls := []string{"openat", "newfstatat", "fstat", "read", "getdents64", "readlinkat", "lseek", "fcntl", "write",
		"fsync", "renameat", "fchmod", "fchown", "flock", "close", "unlinkat"}
	var tries []func()
	counts := map[bool]int{}
	for _, call := range calls {
		for _, errno := range []string{"EIO", "EACCES", "ENOMEM", "EINTR"} {
			for n := 1; n <= most[call]; n++ {
				tries = append(tries, func() {
					os.Remove(path)
					what := call + " " + strconv.Itoa(n) + ": " + errno
					counts[judge(t, what, injected(t, call, errno, n, args...), path, want)]++
				})
			}
		}
	}
	every := 1
	if *long == 0 {
		every = len(tries)/20 + 1
	}
	for i, try := range tries {
		if i%every == 0 {
			try()
		}
	}
	figures(t, "%d of %d calls failed: %d builds gave the same bytes, %d an error", counts[true]+counts[false],
		len(tries), counts[true], counts[false])
}

// judge checks a build in which a call failed. The build must produce the same bytes, or report an error with a
// path.
func judge(t *testing.T, what string, r result, path string, want [32]byte) (same bool) {
	t.Helper()
	switch {
	case strings.Contains(r.stderr, "runtime.schedinit"): // the Go runtime failed to start
	case strings.Contains(r.stderr, "error while loading shared libraries"): // the dynamic linker failed
	case crashed(r):
		t.Errorf("%s: it crashed: %s", what, r.stderr)
	case r.status == 0:
		if digest(t, path) != want {
			t.Errorf("%s: another snapshot", what)
		}
		return true
	case r.signal != 0 || !slices.Contains([]int{1, 2}, r.status):
		t.Errorf("%s: status %d, %v", what, r.status, r.signal)
	case !strings.Contains(r.stderr, "/") && !strings.HasPrefix(what, "write"): // writing the message may have failed
		t.Errorf("%s: expected an error with a path, got %s", what, r.stderr)
	}
	if _, err := os.Lstat(path); err == nil && digest(t, path) != want {
		t.Errorf("%s: half a snapshot is there", what)
	}
	return false
}

// If the directory cannot be synced, the new snapshot is in place with its signature, and the build says that they may
// not last. The next build succeeds.
func TestBuildReportsFailedSyncOfDirectory(t *testing.T) {
	for _, program := range []string{"strace", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	site, other := newSite(t, 1, 3), newSite(t, 2, 3)
	f := newTarget(t, t.TempDir(), site)
	key := filepath.Join(t.TempDir(), "key")
	succeed(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	args := []string{"build", other, "-o", f.path, "--sign", key}
	needStrace(t, args...)
	r := run(t, "strace", append([]string{"-f", "-qqq", "-o", os.DevNull, "-P", f.dir, "-e", "trace=fsync",
		"-e", "signal=none", "-e", "inject=fsync:error=EIO", "bindc"}, args...)...)
	if r.status != 2 || !strings.Contains(r.stderr, "bindc: "+f.path+": the new file is in place, but its directory") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if digest(t, f.path) != built(t, other) {
		t.Error("the new snapshot is not in place")
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(t.TempDir(), "signers")
	write(t, signers, "test "+string(public))
	succeed(t, "bindq", "verify", f.path, "--allowed-signers", signers)
	succeed(t, "bindc", args...)
}

// A build by another user reports files that it cannot read, and does not change a file that it cannot write.
func TestBuildAsAnotherUserReportsUnreadableFiles(t *testing.T) {
	needRoot(t)
	site, other := newSite(t, 1, 3), newSite(t, 2, 3)
	f := newTarget(t, t.TempDir(), site)
	for _, dir := range []string{f.dir, other} {
		os.Chmod(filepath.Dir(dir), 0o755)
		os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755)
	}
	asNobody := func(args ...string) result {
		cmd := command("bindc", args...)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		return outcome(t, cmd, cmd.Run())
	}
	f.kept(t, "a directory of others", asNobody("build", other, "-o", f.path), "permission denied")
	for _, name := range []string{"data", "data/nodes", "data/nodes/n1.yaml", "bindings", "bindings/default.yaml",
		"modules", "modules/m", "modules/m/data", "modules/m/hiera.yaml", "hiera.yaml", "binder_config.yaml"} {
		path := filepath.Join(other, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		modes := []os.FileMode{0}
		switch name {
		case "data", "modules/m": // the site names the files in these directories, so the build does not list them
			modes = []os.FileMode{0, 0o444}
		case "data/nodes", "bindings", "modules":
			modes = []os.FileMode{0, 0o444, 0o111}
		}
		for _, mode := range modes {
			os.Chmod(path, mode)
			r := asNobody("check", other)
			denied := strings.Contains(r.stderr, "permission denied [read]") && strings.Contains(r.stderr, name)
			if r.status != 1 || !denied {
				t.Errorf("%s with permissions %o: status %d: %s", name, mode, r.status, r.stderr)
			}
		}
		os.Chmod(path, info.Mode())
	}
	if r := asNobody("check", other); r.status != 0 {
		t.Errorf("with all permissions: status %d: %s", r.status, r.stderr)
	}
}
