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

// listen opens the socket at path, for this user alone. One that a dead program left is replaced, one that is answered
// and what is no socket are not.
func listen(path string) (net.Listener, error) {
	release, err := lockDirectory(filepath.Dir(path)) // two that begin at a time would both find a dead one
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
		if c, err := net.DialUnix("unix", nil, unixAddr(path)); err == nil { // net.Dial would link a resolver of names
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
