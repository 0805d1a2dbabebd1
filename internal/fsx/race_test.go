package fsx

import (
	"path/filepath"
	"sync"
	"testing"
)

// Many that replace one file at a time: none takes what another has just made for abandoned.
func TestManyAtTheSameTime(t *testing.T) {
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
