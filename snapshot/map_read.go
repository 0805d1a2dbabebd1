//go:build !unix || purego

package snapshot

import (
	"io"
	"os"
)

// mapFile reads f into memory, where mapping is not to be had or not wanted.
func mapFile(f *os.File, size int64) (string, func() error, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, size), b)
	return string(b), func() error { return nil }, err
}
