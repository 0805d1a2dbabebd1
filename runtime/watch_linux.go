package runtime

import (
	"io/fs"
	"syscall"
)

// changed returns the time when a file or its metadata changed, in nanoseconds. Programs cannot set
// it. info must come from os.Stat.
func changed(info fs.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Ctim.Nano() }
