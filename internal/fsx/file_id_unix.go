//go:build unix

package fsx

import "golang.org/x/sys/unix"

// FileIDAt returns the FileID of the file at path. It follows symbolic links. ok is false if the file does not exist.
func FileIDAt(path string) (id FileID, ok bool) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return identityFrom(&st), err == nil
}

func identityFrom(st *unix.Stat_t) FileID {
	return FileID{uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
}
