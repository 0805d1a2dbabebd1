//go:build !linux

package testmode

// TempInMemory does nothing, because only Linux has /dev/shm.
func TempInMemory() {}
