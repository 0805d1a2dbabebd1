package testmode

import (
	"os"
	"syscall"
)

const (
	memory   = "/dev/shm"
	enough   = 2 << 30 // required free bytes; the tests of a package use less than 500 MB
	noexec   = 0x8     // ST_NOEXEC in statfs(2); containers often mount /dev/shm with it
	writable = 0o2     // W_OK in access(2)
)

// TempInMemory sets TMPDIR to a directory in memory, unless TMPDIR is set or there is not enough
// memory. Tests that inject faults sync thousands of files. That takes a minute on a disk and
// seconds in memory.
func TempInMemory() {
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Access(memory, writable) != nil || syscall.Statfs(memory, &fs) != nil {
		return
	}
	if fs.Flags&noexec == 0 && fs.Bavail*uint64(fs.Bsize) >= enough {
		os.Setenv("TMPDIR", memory)
	}
}
