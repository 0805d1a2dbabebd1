package adopt

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
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

// asUnprivilegedUser runs f as a user and a group without rights, on a thread that ends afterwards.
func asUnprivilegedUser(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0)
		unix.RawSyscall(unix.SYS_SETRESGID, nobody, nobody, nobody)
		unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody)
		f()
	}()
	<-done
}

func wantRefusal(t *testing.T, err error, want string) {
	t.Helper()
	var refusal *Obstacle
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, want) || refusal.Hint == "" {
		t.Errorf("got %v, want a refusal with a hint: %s", err, want)
	}
}

// passable lets all users enter the parents of dir.
func passable(t *testing.T, dir string) {
	t.Helper()
	for ; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRejectsUnwritableTargets(t *testing.T) {
	needRoot(t)
	dir := environment(t, map[string]string{hieraFile: original})
	passable(t, dir)
	e := inspect(t, dir)
	free := filepath.Join(t.TempDir(), "snapshots")
	if err := os.Mkdir(free, 0o777); err != nil {
		t.Fatal(err)
	}
	passable(t, free)
	if err := os.Chmod(free, 0o777); err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(free, "not/yet/there/s.snap")
	if err := e.Check(snapshot); err != nil {
		t.Errorf("root: %v", err)
	}
	asUnprivilegedUser(t, func() { wantRefusal(t, e.Check(snapshot), "write "+dir+": permission denied") })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	asUnprivilegedUser(t, func() {
		if err := e.Check(snapshot); err != nil {
			t.Errorf("a file that everybody may read: %v", err)
		}
		wantRefusal(t, e.Check("/etc/bindc/none/s.snap"), "the snapshot: write /etc")
	})
	for _, owner := range []struct{ uid, gid int }{{0, nobody}, {nobody, 0}, {nobody, nobody}} {
		path := filepath.Join(dir, hieraFile)
		if err := errors.Join(os.Chmod(path, 0o640), os.Chown(path, owner.uid, owner.gid)); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		asUnprivilegedUser(t, func() {
			if got := keepsReaders(info); got != (owner.uid == nobody && owner.gid == nobody) {
				t.Errorf("%v: readers are kept: %v", owner, got)
			}
		})
	}
	if err := os.Symlink("store/site.snap", filepath.Join(free, "active.snap")); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, e.Check(filepath.Join(free, "active.snap")), "is a symbolic link")
}

// The user that runs Puppet can read a snapshot with sensitive values through its group.
func TestSharesSensitiveSnapshotWithPuppetsGroup(t *testing.T) {
	needRoot(t)
	g, err := user.LookupGroupId("1")
	if err != nil {
		t.Skipf("group 1 is missing here: %v", err)
	}
	path := filepath.Join(t.TempDir(), "s.snap")
	write(t, path, "")
	for _, c := range []struct {
		mode   os.FileMode
		group  string
		shared bool
		want   os.FileMode
	}{
		{0o644, g.Name, false, 0o644},
		{0o600, "no such group", false, 0o600},
		{0o600, g.Name, true, 0o640},
		{0o640, g.Name, false, 0o640}, // already shared
	} {
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		shared, err := Share(path, c.group)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || shared != c.shared || info.Mode() != c.want {
			t.Errorf("%o, %s: got %v, %v (%v)", c.mode, c.group, shared, info.Mode(), err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Sys().(*syscall.Stat_t).Gid != 1 {
		t.Errorf("the group is not 1 (%v)", err)
	}
	if _, err := Share(path+"x", g.Name); err == nil {
		t.Error("a file that is not there is shared")
	}
}

// Puppet's user can enter the directories of a snapshot, whatever the umask of the user who runs adopt.
func TestMakeDirIgnoresUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := filepath.Join(t.TempDir(), "new", "dir")
	if err := MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", d, info.Mode(), err)
		}
	}
}
