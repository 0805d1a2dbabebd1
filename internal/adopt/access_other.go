//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package adopt

import "io/fs"

// Other platforms have no portable way to check permissions before a file is written.

func writable(string) error { return nil }

func lock(string) (unlock func(), err error) { return func() {}, nil }

func keepsReaders(fs.FileInfo) bool { return true }

// Share does nothing, because this platform has no groups.
func Share(string, string) (bool, error) { return false, nil }
