//go:build !unix || purego

package snapshot

import "os"

// mapFile reads the file at path into memory, where mapping is not to be had or not wanted.
func mapFile(path string) (head, data string, unmap func() error, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", "", nil, &os.PathError{Op: "open", Path: path, Err: errNoFile}
	}
	b, err := os.ReadFile(path)
	data = string(b)
	return data[:min(headBytes, len(data))], data, func() error { return nil }, err
}
