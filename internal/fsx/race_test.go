package fsx

import (
	"path/filepath"
	"sync"
	"testing"
)

// Many concurrent replacements of one file: none mistakes another's new temporary file for an abandoned one.
func TestManyConcurrentReplacements(t *testing.T) {
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
	held(t, path, "whole")
}
