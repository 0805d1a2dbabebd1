//go:build !unix

package fsx

// FileIDAt always returns false, because files have no reliable identity on this platform.
func FileIDAt(string) (id FileID, ok bool) { return FileID{}, false }
