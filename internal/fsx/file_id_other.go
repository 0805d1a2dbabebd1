//go:build !unix

package fsx

import "os"

// Files have no reliable identity on this platform, so every file is read.

// FileIDAt always returns false.
func FileIDAt(string) (id FileID, ok bool) { return FileID{}, false }

// FileIDOf always returns false.
func FileIDOf(*os.File) (id FileID, ok bool) { return FileID{}, false }
