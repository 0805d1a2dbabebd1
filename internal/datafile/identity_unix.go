//go:build unix

package datafile

import "golang.org/x/sys/unix"

func identityOf(path string) (identity, bool) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return identity{}, false
	}
	return identity{uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}, true
}
