package fsx

import (
	"os"
	"time"
)

// FileID identifies a version of a file. Files with equal FileIDs have the same content if both
// were Settled.
type FileID struct {
	Device, Inode    uint64
	Size             int64
	Modified, Change int64 // times in nanoseconds; unlike Modified, Change cannot be set by programs
}

// settleTime is how long a file must have been unchanged for its FileID to be reliable. If a file
// changes twice within one tick of the file system's clock, its times may be the same after both
// changes. FAT has the longest ticks, two seconds.
const settleTime = int64(2 * time.Second)

// Settled reports whether the file had been unchanged for at least settleTime at the time began.
// Only then is the FileID reliable.
func (id FileID) Settled(began int64) bool { return max(id.Modified, id.Change) < began-settleTime }

// Clock returns the time by the clock of dir's file system, in nanoseconds. It may differ from the
// clock of this machine. Clock creates and removes a file; pattern is its name, as in
// os.CreateTemp.
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
