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

// writable returns an error if the user cannot create files in dir.
func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write", Path: dir, Err: err}
	}
	return nil
}

// lock waits until no other bindc process changes the environment in dir. On file systems without
// locks, it returns immediately.
func lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for unix.Flock(int(f.Fd()), unix.LOCK_EX) == unix.EINTR {
	}
	return func() { f.Close() }, nil
}

// keepsReaders reports whether everybody who can read a file will be able to read its replacement.
// If not everybody can read the file, this is true only for root, and for the file's owner as a
// member of the file's group.
func keepsReaders(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() == 0 || info.Mode()&0o004 != 0 {
		return true
	}
	groups, err := os.Getgroups()
	return err == nil && int(st.Uid) == os.Geteuid() && slices.Contains(append(groups, os.Getegid()), int(st.Gid))
}

// Share lets a group read the snapshot at path and reports whether it had to change the file. It
// does so only if the user is root and others cannot read the file. Later snapshots at path keep
// the group.
func Share(path, group string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || os.Geteuid() != 0 || info.Mode()&0o004 != 0 {
		return false, err
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return false, nil // without this group, Puppet runs as the current user
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
