package snapshot

import (
	"errors"
	"io"
	"os"
	"strings"
)

// OpenCopy is like Open, but reads the whole file into memory, so that later changes to the file do not affect the
// snapshot.
func OpenCopy(path string) (*Snapshot, error) {
	head, data, unmap, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return newSnapshot(head, data, unmap)
}

// readFile reads the whole file at path. It returns an error if the length of the file changes while it reads.
func readFile(path string) (head, data string, unmap func() error, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", "", nil, err
	}
	fail := func(err error) (string, string, func() error, error) {
		return "", "", nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	if !info.Mode().IsRegular() {
		return fail(errNoFile) // opening a pipe could wait forever
	}
	f, err := os.Open(path)
	if err != nil {
		return "", "", nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil { // another file may have replaced the one that Stat found
		return "", "", nil, err
	}
	if !fits(info.Size() + 1) {
		return fail(errTooLarge)
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	if n, err := io.Copy(&b, io.LimitReader(f, info.Size()+1)); err != nil || n != info.Size() {
		return fail(errors.Join(err, errors.New("its length changed while it was read")))
	}
	data = b.String()
	return data[:min(headBytes, len(data))], data, func() error { return nil }, nil
}
