//go:build !unix || purego

package snapshot

// mapFile reads the file at path into memory. It is used where mapping is unavailable or unwanted.
func mapFile(path string) (head, data string, unmap func() error, err error) { return readFile(path) }

// isInside returns false, because this version does not map files.
func isInside(string, uintptr) bool { return false }
