//go:build unix && !purego

package snapshot

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"unsafe"
)

// Protect returns an error if a truncated file is read. It passes on other panics and restores the goroutine's setting
// for faults.
func TestProtectReturnsOnlyFaultsOfTruncatedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, manyNodes(300)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Protect(func() error { return io.EOF }); err != io.EOF {
		t.Errorf("an error becomes %v", err)
	}
	func() {
		defer func() {
			if got := recover(); got != "other" {
				t.Errorf("a panic becomes %v", got)
			}
		}()
		s.Protect(func() error { panic("other") })
	}()
	defer func() {
		if debug.SetPanicOnFault(false) {
			t.Error("Protect does not restore the setting")
		}
	}()
	first := uintptr(unsafe.Pointer(unsafe.StringData(s.data)))
	for address, want := range map[uintptr]bool{0: false, first - 1: false, first: true,
		first + uintptr(len(s.data)) - 1: true, first + uintptr(len(s.data)): false} {
		if isInside(s.data, address) != want {
			t.Errorf("address %d from the start is inside of the map: %t", address-first, !want)
		}
	}
	if os.Getenv("BINDC_EMULATED") != "" {
		t.Skip("qemu-user reports the address 0 for a fault in a truncated map, so Protect cannot know that it is the map's")
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	err = s.Protect(func() error { return s.Verify(anyRecipe) })
	if !errors.As(err, &damage) || damage.Section != "file" {
		t.Errorf("of a truncated file Verify returned %v", err)
	}
}

// Protect passes on a fault at an address outside the map of the snapshot.
func TestProtectPassesOnFaultsOutsideTheMap(t *testing.T) {
	open := func() (string, *Snapshot) {
		path := filepath.Join(t.TempDir(), "s.bsnap")
		if _, err := Write(path, manyNodes(300)); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return path, s
	}
	_, whole := open()
	path, other := open()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Protect caught a fault in the map of another snapshot")
		}
	}()
	err := whole.Protect(func() error {
		if other.data[len(other.data)-1] == 0 {
			return io.EOF
		}
		return nil
	})
	t.Errorf("inside Protect of another snapshot the error is %v", err)
}

func TestCloseTwiceFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.bsnap")
	if _, err := Write(path, small()); err != nil {
		t.Fatal(err)
	}
	_, _, unmap, err := mapFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unmap(); err != nil {
		t.Error(err)
	}
	if err := unmap(); err == nil {
		t.Error("no error for unmapping twice")
	}
}
