package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Scratch creates a directory for temporary files with a name that begins with prefix. It first removes such
// directories that this user's killed programs left behind. The returned function removes the directory and may be
// called more than once.
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
			continue // another program removed the directory as abandoned
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
