//go:build !unix

package ship

import "io/fs"

// inode returns "": this platform has no inode numbers, so a file is identified by size and time.
func inode(fs.FileInfo) string { return "" }
