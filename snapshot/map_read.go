//go:build !unix || purego

package snapshot

// mapFile reads the file at path into memory, where mapping is not to be had or not wanted.
func mapFile(path string) (head, data string, unmap func() error, err error) { return readFile(path) }

// isInside tells whether an address lies in the map; here there is none.
func isInside(string, uintptr) bool { return false }
