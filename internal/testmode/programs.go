package testmode

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BuildPrograms builds bindc, bindq and bindsync into a directory, in the way in which go test builds packages, so that
// Go compiles each package once.
func BuildPrograms(dir string) error {
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator),
		"bindc/cmd/bindc", "bindc/cmd/bindq", "bindc/cmd/bindsync")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	return nil
}

// NoteSources reads all directories of the module. A package whose tests run the programs calls it in a test: go test
// repeats a cached result unless a directory that a test read has changed, and does not know what a test compiles.
func NoteSources(t testing.TB) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != ".." && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		return err
	})
	if err == nil {
		_, err = os.Stat(filepath.Join("..", "go.mod"))
	}
	if err != nil {
		t.Errorf("the sources of the programs cannot be read: %v", err)
	}
}
