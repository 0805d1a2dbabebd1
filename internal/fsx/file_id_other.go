//go:build !unix

package fsx

// On this platform, files have no reliable identity.

// FileIDAt always returns false.
func FileIDAt(string) (id FileID, ok bool) { return FileID{}, false }
