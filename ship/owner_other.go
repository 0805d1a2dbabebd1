//go:build !unix

package ship

import "io/fs"

// owner is empty, because this platform has no numeric owners.
type owner struct{}

func ownerOf(fs.FileInfo) (owner, bool) { return owner{}, false }

func (o owner) own(string) error { return nil }

// openToAll returns false, because the mode has no permissions on this platform.
func openToAll(fs.FileInfo) bool { return false }
