package runtime

import (
	"io/fs"
	"syscall"
)

// changed is when a file, or what is said of it, was changed, which nobody can set; in nanoseconds.
func changed(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
