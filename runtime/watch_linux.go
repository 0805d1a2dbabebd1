package runtime

import (
	"io/fs"
	"syscall"
)

// changed returns the time, in nanoseconds, when a file or its metadata last changed. Programs cannot set this time.
// info must come from os.Stat.
func changed(info fs.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Ctim.Nano() }
