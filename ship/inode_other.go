//go:build !unix

package ship

import "io/fs"

// inode returns "", because this platform has no inode numbers; size and time must suffice.
func inode(fs.FileInfo) string { return "" }
