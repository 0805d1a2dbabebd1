//go:build unix

package fsx

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// If a file is replaced by a FIFO after its directory was listed, reading it fails and does not wait for a writer.
func TestReadFileDoesNotBlockOnFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.yaml")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Disk{}.ReadFile(path)
	if err == nil || !strings.Contains(err.Error(), "it is a FIFO: expected a file") {
		t.Errorf("reading a FIFO: %v", err)
	}
}
