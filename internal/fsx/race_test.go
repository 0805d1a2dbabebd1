package fsx

import (
	"path/filepath"
	"sync"
	"testing"
)

// If several programs replace the same file, none of them removes another's temporary file as abandoned.
func TestConcurrentReplacesKeepEachOthersTemporaryFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var running sync.WaitGroup
	for range 16 {
		running.Go(func() {
			for range 40 {
				if err := Replace(path, ReplaceOptions{Limit: 0o777}, put("whole")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	checkOnlyFile(t, path, "whole")
}
