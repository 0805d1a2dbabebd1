//go:build !unix

package fsx

// FileIDAt always returns false.
func FileIDAt(string) (id FileID, ok bool) { return FileID{}, false }
