//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package adopt

import (
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable returns the reason why no file can be created in dir, or nil.
func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write", Path: dir, Err: err}
	}
	return nil
}

// lock waits until no other program changes the environment in dir. It does nothing on file systems without locks.
func lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for unix.Flock(int(f.Fd()), unix.LOCK_EX) == unix.EINTR {
	}
	return func() { f.Close() }, nil
}

// keepsReaders reports whether a replacement for a file can keep the file's readers. This needs root, or the file's
// owner as a member of its group. A file that everybody may read loses no readers.
func keepsReaders(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() == 0 || info.Mode()&0o004 != 0 {
		return true
	}
	groups, err := os.Getgroups()
	return err == nil && int(st.Uid) == os.Geteuid() && slices.Contains(append(groups, os.Getegid()), int(st.Gid))
}

// Share makes the snapshot readable for a group if others cannot read it and the user is root. It reports whether it
// had to. Later snapshots at this path keep this.
func Share(path, group string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || os.Geteuid() != 0 || info.Mode()&0o004 != 0 {
		return false, err
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return false, nil // Puppet runs as the same user
	}
	gid, err := strconv.Atoi(g.Gid)
	if err != nil || int(info.Sys().(*syscall.Stat_t).Gid) == gid {
		return false, err
	}
	if err := os.Chown(path, -1, gid); err != nil {
		return false, err
	}
	return true, os.Chmod(path, info.Mode()|0o040)
}
