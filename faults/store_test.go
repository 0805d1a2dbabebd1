//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bindc/internal/testmode"
)

// releases has three snapshots, signed one day apart, and the file of allowed signers.
type releases struct {
	t               *testing.T
	signers         string
	one, two, three string
	sums            map[string]string // names of the files by SHA-256
}

func newReleases(t *testing.T) *releases {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	succeed(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	r := &releases{t: t, signers: filepath.Join(dir, "allowed"), sums: map[string]string{}}
	write(t, r.signers, "pipeline "+string(public))
	for i, path := range []*string{&r.one, &r.two, &r.three} {
		*path = filepath.Join(dir, fmt.Sprintf("release%d", i+1))
		cmd := command("bindc", "build", newSite(t, i+1, 3), "-o", *path, "--sign", key, "--name", "n")
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", 1700000000+i*86400))
		if r := outcome(t, cmd, cmd.Run()); r.status != 0 {
			t.Fatal(r.stderr)
		}
		r.sums[fmt.Sprintf("%x", digest(t, *path))] = filepath.Base(*path)
	}
	return r
}

// pull returns the arguments of bindsync that pull a release into a store.
func (r *releases) pull(path, store string) []string {
	return []string{"pull", "file:" + path, "--name", "n", "--store", store, "--allowed-signers", r.signers}
}

// store creates a store in which the first and then the second release was activated.
func (r *releases) store(dir string) {
	r.t.Helper()
	succeed(r.t, "bindsync", r.pull(r.one, dir)...)
	succeed(r.t, "bindsync", r.pull(r.two, dir)...)
}

func (r *releases) sum(path string) string { return fmt.Sprintf("%x", digest(r.t, path)) }

// status holds the fields of bindsync status --format json that the tests use.
type status struct {
	Active, Problem string
	Since           time.Time
	Pinned          bool
}

// sound checks the invariants of a store, which hold even if the program that changed it was killed.
func (r *releases) sound(what, dir string) status {
	r.t.Helper()
	if which := r.sums[r.sum(filepath.Join(dir, "n.snap"))]; which == "" {
		r.t.Fatalf("%s: n.snap leads to no release", what)
	}
	cmd := exec.Command("bindsync", "status", "--format", "json", "--store", dir)
	out, err := cmd.Output()
	var all []status
	if jsonErr := json.Unmarshal(out, &all); err != nil || jsonErr != nil || len(all) != 1 {
		r.t.Fatalf("%s: status: %v, %s", what, err, out)
	}
	if s := all[0]; s.Problem != "" || s.Since.IsZero() || s.Active != r.sum(filepath.Join(dir, "n.snap")) {
		r.t.Errorf("%s: status %s", what, out)
	}
	return all[0]
}

// repaired checks a store after another program has used it: the history ends with the active snapshot, and older
// releases are rejected.
func (r *releases) repaired(what, dir string) {
	r.t.Helper()
	succeed(r.t, "bindsync", "follow", "--resume", "n", "--store", dir)
	s := r.sound(what, dir)
	history, err := os.ReadFile(filepath.Join(dir, "history/n.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	last := ""
	for line := range bytes.Lines(history) {
		var e struct{ Digest, Result string }
		if err := json.Unmarshal(line, &e); err != nil {
			r.t.Errorf("%s: the history has the line %q", what, line)
		}
		if e.Digest != "" && e.Result == "ok" {
			last = e.Digest
		}
	}
	if last != s.Active {
		r.t.Errorf("%s: the history ends with %.12s, and %.12s answers", what, last, s.Active)
	}
	if older := run(r.t, "bindsync", r.pull(r.one, dir)...); s.Active != r.sum(r.one) &&
		(older.status != 1 || !strings.Contains(older.stderr, "was active already")) {
		r.t.Errorf("%s: a release from before the active one: status %d, %s", what, older.status, older.stderr)
	}
}

// If programs are killed at any time during a switch, the name leads to a complete release, the history contains it, a
// rollback is pinned, and older releases are rejected.
func TestSwitchKilledAtAnyTimeLeavesCompleteRelease(t *testing.T) {
	r := newReleases(t)
	verbs := [][]string{r.pull(r.three, ""), {"rollback", "n", "--to", r.sum(r.one)}, {"activate", "n", r.sum(r.two)},
		{"follow", "--resume", "n"}}
	began := time.Now()
	r.store(filepath.Join(t.TempDir(), "timed"))
	once := time.Since(began) / 2
	killed, switched := 0, 0
	short := 300
	if !testmode.Thorough() {
		short = 30
	}
	dir := ""
	for i := range rounds(short) {
		if i%10 == 0 {
			dir = filepath.Join(t.TempDir(), fmt.Sprint("store", i))
			r.store(dir)
		}
		verb := append([]string(nil), verbs[rand.IntN(len(verbs))]...)
		if verb[0] == "pull" {
			verb = r.pull(r.three, dir)
		} else {
			verb = append(verb, "--store", dir)
		}
		before := r.sound("before", dir)
		cmd := command("bindsync", verb...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(once))))
		cmd.Process.Kill()
		dead := outcome(t, cmd, cmd.Wait())
		what := fmt.Sprintf("%s, %v", verb[0], dead.signal)
		after := r.sound(what, dir)
		if dead.signal != 0 {
			killed++
		}
		if after.Active != before.Active {
			switched++
		}
		if verb[0] == "rollback" && after.Active != before.Active && !after.Pinned {
			t.Errorf("%s: it switched and is not pinned", what)
		}
		if i%10 == 9 {
			r.repaired(what, dir)
		}
	}
	if killed == 0 {
		t.Error("nothing was killed")
	}
	figures(t, "%d switches were killed, and %d programs switched", killed, switched)
}

// If a program is killed at any system call of a switch, the name leads to a complete release.
func TestSwitchKilledAtEachCallLeavesCompleteRelease(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	r := newReleases(t)
	calls := []string{"write", "fsync", "renameat", "symlinkat", "openat", "flock", "unlinkat"}
	if !testmode.Thorough() {
		calls = []string{"symlinkat", "renameat"}
	}
	killed := 0
	for _, verb := range [][]string{{"rollback", "n", "--to", r.sum(r.one)}, {"activate", "n", r.sum(r.one)}} {
		for _, call := range calls {
			for n := 1; ; n++ {
				dir := filepath.Join(t.TempDir(), "store")
				r.store(dir)
				args := append([]string{"-f", "-qqq", "-o", os.DevNull, "-e", "signal=none",
					"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), "bindsync"}, verb...)
				dead := run(t, "strace", append(args, "--store", dir)...)
				if dead.status == 0 && dead.signal == 0 {
					break // no more such calls
				}
				killed++
				what := fmt.Sprintf("%s killed at %s %d", verb[0], call, n)
				s := r.sound(what, dir)
				if verb[0] == "rollback" && s.Active == r.sum(r.one) && !s.Pinned {
					t.Errorf("%s: it switched and is not pinned", what)
				}
				r.repaired(what, dir)
			}
		}
	}
	if killed == 0 {
		t.Error("nothing was killed")
	}
	figures(t, "%d switches were killed, one at each call", killed)
}

// On a full disk a rollback either happens with its pin or not at all, and gc frees space.
func TestRollbackOnFullDiskHappensWithPinOrNotAtAll(t *testing.T) {
	r := newReleases(t)
	dir, full := mount(t, "size=1m,mode=755"), 0
	fill := filepath.Join(dir, "fill")
	for free := 0; ; free++ {
		os.Remove(fill)
		r.store(dir)
		succeed(t, "bindsync", r.pull(r.three, dir)...)
		filled, err := os.Create(fill)
		if err != nil {
			t.Fatal(err)
		}
		var disk unix.Statfs_t
		if err := errors.Join(unix.Statfs(dir, &disk), unix.Fallocate(int(filled.Fd()), 0, 0,
			int64(disk.Bfree-uint64(free))*int64(disk.Bsize))); err != nil {
			t.Fatal(err)
		}
		filled.Close()
		back := run(t, "bindsync", "rollback", "n", "--to", r.sum(r.one), "--store", dir)
		s := r.sound("rollback", dir)
		if back.status == 0 != (s.Active == r.sum(r.one)) || s.Pinned != (s.Active == r.sum(r.one)) {
			t.Errorf("%d pages were free: status %d, %+v: %s", free, back.status, s, back.stderr)
		}
		if back.status == 0 {
			break
		}
		full++
		if !strings.Contains(back.stderr, "'bindsync gc' removes snapshots that no name needs") {
			t.Errorf("%d pages were free: expected what to do, got %s", free, back.stderr)
		}
		succeed(t, "bindsync", "gc", "--keep", "1", "--younger", "0s", "--store", dir)
		if left := names(t, filepath.Join(dir, "store/sha256")); len(left) != 1 {
			t.Errorf("gc left %q on a full disk", left)
		}
		for _, name := range names(t, dir) {
			os.RemoveAll(filepath.Join(dir, name))
		}
	}
	if full == 0 {
		t.Error("no disk was full")
	}
	figures(t, "%d rollbacks found a full disk", full)
}

// If root runs the first pull by hand, with a narrow umask, the user of the service can still use and change the store.
func TestFirstPullAsRootKeepsStoreUsable(t *testing.T) {
	needRoot(t)
	r := newReleases(t)
	dir := filepath.Join(t.TempDir(), "store")
	for at := filepath.Dir(dir); at != filepath.Dir(os.TempDir()); at = filepath.Dir(at) {
		os.Chmod(at, 0o755)
	}
	for at := filepath.Dir(r.one); at != filepath.Dir(os.TempDir()); at = filepath.Dir(at) {
		os.Chmod(at, 0o755)
	}
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	narrow := func(args ...string) {
		t.Helper()
		cmd := command("sh", append([]string{"-c", `umask 077; exec bindsync "$@"`, "sh"}, args...)...)
		if r := outcome(t, cmd, cmd.Run()); r.status != 0 {
			t.Fatalf("as root: %q: %s", args, r.stderr)
		}
	}
	service := func(args ...string) {
		t.Helper()
		cmd := command("bindsync", args...)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if r := outcome(t, cmd, cmd.Run()); r.status != 0 {
			t.Fatalf("as the user of the service: %q: %s", args, r.stderr)
		}
	}
	narrow(r.pull(r.one, dir)...)
	service(r.pull(r.two, dir)...)
	narrow("rollback", "n", "--to", r.sum(r.one), "--store", dir)
	service("follow", "--resume", "n", "--store", dir)
	service(r.pull(r.three, dir)...)
	narrow("gc", "--keep", "1", "--younger", "0s", "--store", dir)
	service("rollback", "n", "--to", r.sum(r.three), "--store", dir)
	service("status", "n", "--store", dir)
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 65534 || owner.Gid != 65534 {
			t.Errorf("%s belongs to %d:%d, expected the owner of the store", path, owner.Uid, owner.Gid)
		}
		if mode := info.Mode().Perm(); e.Type().IsRegular() && mode&0o444 != 0o444 && filepath.Base(path) != "lock" ||
			e.IsDir() && mode != 0o755 {
			t.Errorf("%s has mode %o", path, mode)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
