package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// listen opens the socket at path, for this user only. It replaces a socket that a dead program left, but not a socket
// in use or another kind of file.
func listen(path string) (net.Listener, error) {
	// Without the lock, two programs that start at once could both replace a dead socket.
	release, err := lockDirectory(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer release()
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("%s: expected a socket or nothing, found another kind of file", path)
	default:
		// net.Dial would link the DNS resolver.
		if c, err := net.DialUnix("unix", nil, unixAddr(path)); err == nil {
			c.Close()
			return nil, fmt.Errorf("%s: another program answers on this socket: stop it, or name another path", path)
		} else if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return listenPrivately(path)
}

func unixAddr(path string) *net.UnixAddr { return &net.UnixAddr{Name: path, Net: "unix"} }
