//go:build unix

package fsx

import (
	"os"

	"golang.org/x/sys/unix"
)

// IdentityAt is that of the file a path leads to; not ok if there is none.
func IdentityAt(path string) (id Identity, ok bool) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return identityFrom(&st), err == nil
}

// IdentityOf is that of an open file.
func IdentityOf(f *os.File) (id Identity, ok bool) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return identityFrom(&st), err == nil
}

func identityFrom(st *unix.Stat_t) Identity {
	return Identity{uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
}
