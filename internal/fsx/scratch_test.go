package fsx_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"bindc/internal/fsx"
)

func TestScratchRemovesDirectoriesOfKilledPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("directories count as abandoned after a day")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	used, done, err := fsx.Scratch("bindc-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	left, other := filepath.Join(temp, "bindc-test-1", "sub"), filepath.Join(temp, "bindc-other-1")
	for _, dir := range []string{left, other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(temp, "bindc-test-link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	dir, remove, err := fsx.Scratch("bindc-test-")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{filepath.Dir(left): false, other: true, link: true, used: true, dir: true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s is there: %t", path, err == nil)
		}
	}
	remove()
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the directory is not removed")
	}
}
