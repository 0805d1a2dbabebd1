package testmode

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// WriteFiles writes files to dir and creates missing directories. The keys of files are relative
// paths with slashes.
func WriteFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
}
