//go:build !unix

package ship

import "io/fs"

// owner is empty because files have no numeric owner on this platform.
type owner struct{}

func ownerOf(fs.FileInfo) (owner, bool) { return owner{}, false }

func (o owner) own(string) error { return nil }

// openToAll returns false because file modes have no permissions on this platform.
func openToAll(fs.FileInfo) bool { return false }
