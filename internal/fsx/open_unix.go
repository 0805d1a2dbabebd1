//go:build unix

package fsx

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// file is an open file. Unlike an os.File, it is not registered with the network poller. This saves
// a system call for each file, and a site has many small files.
type file struct {
	path string
	fd   int
	off  int64
}

// open opens a file for reading. It does not wait for a writer if the file is a FIFO.
func open(path string) (*file, error) {
	var fd int
	err := uninterrupted(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &file{path: path, fd: fd}, nil
}

func (f *file) Read(p []byte) (n int, err error) {
	err = uninterrupted(func() (err error) {
		n, err = unix.Pread(f.fd, p, f.off)
		return err
	})
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: err}
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	f.off += int64(n)
	return n, nil
}

// rewind makes the next Read start at the beginning of the file.
func (f *file) rewind() error {
	f.off = 0
	return nil
}

func (f *file) state() (state, error) {
	var st unix.Stat_t
	if err := uninterrupted(func() error { return unix.Fstat(f.fd, &st) }); err != nil {
		return state{}, &fs.PathError{Op: "stat", Path: f.path, Err: err}
	}
	return state{mode: modeOf(uint32(st.Mode)), size: st.Size, modified: st.Mtim.Nano(), id: identityFrom(&st)}, nil
}

func (f *file) close() { unix.Close(f.fd) }

// uninterrupted calls do again while it returns EINTR.
func uninterrupted(do func() error) error {
	for {
		if err := do(); err != unix.EINTR {
			return err
		}
	}
}

// modeOf returns the type bits of a Unix mode.
func modeOf(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return os.ModeDir
	case unix.S_IFIFO:
		return os.ModeNamedPipe
	case unix.S_IFSOCK:
		return os.ModeSocket
	}
	return os.ModeDevice
}
