//go:build unix

package fsx

import "golang.org/x/sys/unix"

// FileIDAt returns the FileID of the file at path. It follows symbolic links. It returns false if
// the file cannot be accessed.
func FileIDAt(path string) (id FileID, ok bool) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return identityFrom(&st), err == nil
}

func identityFrom(st *unix.Stat_t) FileID {
	return FileID{uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
}
