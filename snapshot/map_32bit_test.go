//go:build 386 || arm

package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file that is too large for the address space is rejected before its content is read.
func TestOpenRejectsFilesTooLargeFor32Bits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(Magic), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{1 << 31, 1<<32 + headerSize} {
		if err := os.Truncate(path, size); err != nil { // a sparse file
			t.Fatal(err)
		}
		for _, open := range []func(string) (*Snapshot, error){Open, OpenCopy} {
			if _, err := open(path); !errors.Is(err, errTooLarge) {
				t.Errorf("of %d bytes: got %v, want %v", size, err, errTooLarge)
			}
		}
	}
}
