//go:build unix

package datafile

import (
	"os"

	"golang.org/x/sys/unix"
)

// identityAt is that of the file a path leads to.
func identityAt(path string) (identity, bool) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return identityFrom(&st), err == nil
}

// identityOf is that of an open file.
func identityOf(f *os.File) (identity, bool) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return identityFrom(&st), err == nil
}

func identityFrom(st *unix.Stat_t) identity {
	return identity{uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
}
