//go:build !unix

package fsx

import (
	"io"
	"os"
	"syscall"
)

type file struct{ *os.File }

func open(path string) (*file, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return &file{f}, err
}

// rewind makes the next Read start at the beginning of the file.
func (f *file) rewind() error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}

func (f *file) state() (state, error) {
	info, err := f.Stat()
	if err != nil {
		return state{}, err
	}
	return state{mode: info.Mode(), size: info.Size(), modified: info.ModTime().UnixNano()}, nil
}

func (f *file) close() { f.Close() }
