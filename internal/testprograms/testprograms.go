// Package testprograms builds bindc, bindq and bindsync for the tests that run them.
package testprograms

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Run builds the programs into a temporary directory, adds it to PATH, and calls run. TestMain uses it. If the variable
// PROGRAMS is set, it is a directory that already has the programs. .ci/run, faults/arm64 and tools/mutate set it.
func Run(run func() int) int {
	bin := os.Getenv("PROGRAMS")
	if bin == "" {
		var err error
		if bin, err = build(); err != nil {
			fmt.Fprintln(os.Stderr, "cannot build the programs:", err)
			return 1
		}
		defer os.RemoveAll(bin)
	} else {
		// .ci/run builds the programs without cgo. If the tests do the same, Go does not compile the packages again.
		os.Setenv("CGO_ENABLED", "0")
	}
	os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return run()
}

// build returns a directory with the programs. It builds them in the way in which go test builds packages, so that Go
// compiles each package once. It omits data for debuggers, which takes a third of the time.
func build() (string, error) {
	bin, err := os.MkdirTemp("", "bindc-programs-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", bin+string(filepath.Separator),
		"bindc/cmd/bindc", "bindc/cmd/bindq", "bindc/cmd/bindsync")
	out, err := build.CombinedOutput()
	if err == nil {
		err = os.Chmod(bin, 0o755) // some tests run the programs as other users
	}
	if err != nil {
		os.RemoveAll(bin)
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, nil
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
