package testmode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// WriteFiles writes files to dir and creates missing directories. The keys of files are relative
// paths with slashes. A text "-> x" becomes a symbolic link to x.
func WriteFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			err = errors.Join(err, os.Symlink(target, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
