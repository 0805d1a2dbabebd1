//go:build unix

package main

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// listenPrivately creates a socket that other users cannot open at any time.
func listenPrivately(path string) (net.Listener, error) {
	defer unix.Umask(unix.Umask(0o177))
	return net.ListenUnix("unix", unixAddr(path))
}

// lockDirectory waits until no other program holds the lock on a directory, and takes the lock.
func lockDirectory(dir string) (release func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	// continues without a lock if the file system does not support locks
	for unix.Flock(int(f.Fd()), unix.LOCK_EX) == unix.EINTR {
	}
	return f.Close, nil
}
