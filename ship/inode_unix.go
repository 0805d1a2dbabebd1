//go:build unix

package ship

import (
	"fmt"
	"io/fs"
	"syscall"
)

// inode returns the inode number as text. It distinguishes files with the same size and time.
func inode(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(st.Ino)
	}
	return ""
}
