//go:build unix && !purego

package snapshot

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile maps f read-only at its exact length. The map is handed on as a string, so that keys and values are substrings
// of it and no lookup copies: this conversion is the only use of unsafe in the project, and map_read.go its safe twin.
func mapFile(f *os.File, size int64) (string, func() error, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return "", nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	unix.Madvise(b, unix.MADV_RANDOM) // advice: lookups touch single pages; without it only read-ahead differs
	return unsafe.String(unsafe.SliceData(b), len(b)), func() error { return unix.Munmap(b) }, nil
}
