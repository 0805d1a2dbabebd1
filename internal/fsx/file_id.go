package fsx

import (
	"os"
	"time"
)

// FileID identifies a version of a file. If two reliable FileIDs are equal, so is the content.
type FileID struct {
	Device, Inode    uint64
	Size             int64
	Modified, Change int64 // times in nanoseconds; programs can set Modified, but not Change
}

// settleTime is how long a file must have been unchanged before a build for its FileID to be reliable. If a file
// changes twice within a tick of the file system's clock, its times are the same after both changes. FAT has the
// coarsest ticks, which last two seconds.
const settleTime = int64(2 * time.Second)

// Settled reports whether the file had been unchanged for settleTime when a build began, so that its FileID is
// reliable.
func (id FileID) Settled(began int64) bool { return max(id.Modified, id.Change) < began-settleTime }

// Clock returns the time according to dir's file system, which may differ from this machine's clock. It creates and
// removes a file whose name matches pattern, as for os.CreateTemp.
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
