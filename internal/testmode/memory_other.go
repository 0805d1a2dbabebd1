//go:build !linux

package testmode

// TempInMemory does nothing: only Linux has /dev/shm.
func TempInMemory() {}
