//go:build unix

package main

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// listenPrivately creates a socket that only this user can open. It sets the umask, because a later chmod would leave a
// gap.
func listenPrivately(path string) (net.Listener, error) {
	defer unix.Umask(unix.Umask(0o177))
	return net.ListenUnix("unix", unixAddr(path))
}

// lockDirectory takes an exclusive lock on a directory. It waits until no other program holds the lock.
func lockDirectory(dir string) (release func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	// If the file system does not support locks, continue without one.
	for unix.Flock(int(f.Fd()), unix.LOCK_EX) == unix.EINTR {
	}
	return f.Close, nil
}
