package fsx

import (
	"os"
	"time"
)

// FileID identifies a version of a file. While it is equal, the content is equal.
type FileID struct {
	Device, Inode    uint64
	Size             int64
	Modified, Change int64 // in nanoseconds; programs that copy files can set Modified, but not Change
}

// settleTime is how long a file must have been unchanged before a build so that its FileID is reliable. A file that
// changes twice within a tick of the file system's clock keeps its times. FAT has the coarsest ticks, of two seconds.
const settleTime = int64(2 * time.Second)

// Settled reports whether the file was unchanged long enough when a build began, so that its FileID is reliable.
func (id FileID) Settled(began int64) bool { return max(id.Modified, id.Change) < began-settleTime }

// Clock returns the time according to the file system of dir, which may differ from the clock of this machine. It
// creates and removes a file, whose name has a pattern as in os.CreateTemp.
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
