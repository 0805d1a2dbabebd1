package fsx

import (
	"os"
	"time"
)

// FileID is what the file system says of a file. While it stays the same, so does the content.
type FileID struct {
	Device, Inode    uint64
	Size             int64
	Modified, Change int64 // in nanoseconds; the second cannot be set, as by tools that copy the first
}

// racy is how long before a build a file must have been left alone for its identity to count: one that changes twice
// within one tick of a file system's clock has the same times before and after. FAT has the coarsest, of two seconds.
const racy = int64(2 * time.Second)

// Settled tells whether the file had been left alone when a build began, so that its identity counts.
func (id FileID) Settled(began int64) bool { return max(id.Modified, id.Change) < began-racy }

// Clock is what time it is for the file system of dir, which need not be what the clock of this machine says. A file
// that is made and removed tells; it is called as pattern says, as os.CreateTemp has it.
func Clock(dir, pattern string) (int64, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.ModTime().UnixNano(), nil
}
