//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fsx

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lock locks f until release is called. Closing f does not release the lock. On file systems
// without locks, it does nothing, and no file counts as abandoned.
func lock(f *os.File) (release func()) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	unix.Flock(fd, unix.LOCK_EX)
	return func() { unix.Close(fd) }
}

// removeAbandoned removes a temporary file unless a program has locked it. It removes the file
// while it has the lock. So a program that has just created the file and waits for the lock can
// notice the removal.
func removeAbandoned(name string, _ fs.FileInfo) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		os.Remove(name)
	}
}

// removeAbandonedDir removes a temporary directory unless a program has locked it or it belongs to
// another user.
func removeAbandonedDir(name string, _ fs.FileInfo) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && int(st.Uid) == os.Geteuid() && unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		os.RemoveAll(name)
	}
}

// chownLike gives f the owner and group of old. If that is not permitted, it only sets the group.
// It reports whether it could set the group.
func chownLike(f *os.File, old fs.FileInfo) bool {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	uid, gid := int(st.Uid), int(st.Gid)
	return f.Chown(uid, gid) == nil || f.Chown(-1, gid) == nil
}
