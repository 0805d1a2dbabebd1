package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Scratch creates a temporary directory whose name begins with prefix. It also removes such
// directories that killed programs of this user left behind. The caller must call remove, which
// removes the new directory; further calls do nothing.
func Scratch(prefix string) (dir string, remove func(), err error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return "", nil, err
	}
	for {
		if dir, err = os.MkdirTemp("", prefix); err != nil {
			return "", nil, err
		}
		f, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another program has removed the directory as abandoned
		}
		if err != nil {
			return "", nil, err
		}
		release := lock(f)
		f.Close()
		info, err := os.Stat(dir)
		if err != nil {
			release()
			continue
		}
		for _, name := range left {
			removeAbandonedDir(name, info)
		}
		return dir, func() { os.RemoveAll(dir); release() }, nil
	}
}
