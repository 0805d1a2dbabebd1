//go:build !unix

package fsx

import "os"

// Files have no number here that they could be known by: every file is read.

// FileIDAt is none.
func FileIDAt(string) (id FileID, ok bool) { return FileID{}, false }

// FileIDOf is none.
func FileIDOf(*os.File) (id FileID, ok bool) { return FileID{}, false }
