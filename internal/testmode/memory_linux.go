package testmode

import (
	"os"
	"syscall"
)

const (
	memory   = "/dev/shm"
	enough   = 2 << 30 // free bytes needed; the tests of one package use less than 500 MB
	noexec   = 0x8     // ST_NOEXEC of statfs(2); containers often mount /dev/shm with it
	writable = 0o2     // W_OK of access(2)
)

// TempInMemory lets the tests of a package write their temporary files to memory if TMPDIR is not set and memory is
// available. Tests that inject faults sync thousands of files, which takes a minute on a disk and seconds in memory.
func TempInMemory() {
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Access(memory, writable) != nil || syscall.Statfs(memory, &fs) != nil {
		return
	}
	if fs.Flags&noexec == 0 && fs.Bavail*uint64(fs.Bsize) >= enough {
		os.Setenv("TMPDIR", memory)
	}
}
