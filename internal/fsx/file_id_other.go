//go:build !unix

package fsx

import "os"

// This system does not have FileIDs, so every file is read.

// FileIDAt returns false.
func FileIDAt(string) (id FileID, ok bool) { return FileID{}, false }

// FileIDOf returns false.
func FileIDOf(*os.File) (id FileID, ok bool) { return FileID{}, false }
