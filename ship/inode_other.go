//go:build !unix

package ship

import "io/fs"

// inode returns "", because this platform has no inode numbers. Size and time alone identify a file.
func inode(fs.FileInfo) string { return "" }
