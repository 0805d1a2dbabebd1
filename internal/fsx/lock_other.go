//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package fsx

import (
	"io/fs"
	"os"
	"time"
)

// This platform has no locks that are released when a program is killed. Instead, temporary files
// count as abandoned after a day.

func lock(*os.File) (release func()) { return func() {} }

func removeAbandoned(name string, now fs.FileInfo) {
	if info, err := os.Lstat(name); err == nil && now.ModTime().Sub(info.ModTime()) > 24*time.Hour {
		os.Remove(name)
	}
}

func removeAbandonedDir(name string, now fs.FileInfo) {
	if info, err := os.Lstat(name); err == nil && info.IsDir() && now.ModTime().Sub(info.ModTime()) > 24*time.Hour {
		os.RemoveAll(name)
	}
}

func chownLike(*os.File, fs.FileInfo) bool { return false }
