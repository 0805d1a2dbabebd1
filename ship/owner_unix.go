//go:build unix

package ship

import (
	"io/fs"
	"os"
	"syscall"
)

type owner struct{ uid, gid int }

func ownerOf(info fs.FileInfo) (owner, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, false
	}
	return owner{int(st.Uid), int(st.Gid)}, true
}

func (o owner) own(path string) error { return os.Lchown(path, o.uid, o.gid) }

// openToAll reports whether every user may write to a directory.
func openToAll(info fs.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }
