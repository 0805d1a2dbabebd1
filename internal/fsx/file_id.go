package fsx

import (
	"os"
	"time"
)

// FileID identifies a version of a file by its metadata. While it stays the same, the content does too.
type FileID struct {
	Device, Inode    uint64
	Size             int64
	Modified, Change int64 // in nanoseconds; Change cannot be set, unlike Modified, which copying tools set
}

// racy is how long before a build a file must have been unchanged for its FileID to count. If a file changes twice
// within one tick of the file system's clock, its times stay the same. FAT has the coarsest clock, with ticks of two
// seconds.
const racy = int64(2 * time.Second)

// Settled reports whether the file had been unchanged long enough before a build began at the given time.
func (id FileID) Settled(began int64) bool { return max(id.Modified, id.Change) < began-racy }

// Clock returns the current time of dir's file system, which may differ from that of the machine. It creates a file
// and removes it. The name of the file follows pattern as in os.CreateTemp.
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
