//go:build !unix

package fsx

import "os"

// Files have no number here that they could be known by: every file is read.

// IdentityAt is none.
func IdentityAt(string) (id Identity, ok bool) { return Identity{}, false }

// IdentityOf is none.
func IdentityOf(*os.File) (id Identity, ok bool) { return Identity{}, false }
