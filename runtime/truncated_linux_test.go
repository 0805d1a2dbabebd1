//go:build !purego

package runtime_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bindc/internal/secret/seal"
	bindings "bindc/runtime"
)

// After a mapped file is truncated, protected reads return an error, and copies still work. Other reads end the
// program, so each case runs in a process of its own.
func TestProtectedReadsOfTruncatedFileFail(t *testing.T) {
	if how := os.Getenv("TRUNCATED"); how != "" {
		useTruncated(t, os.Getenv("TRUNCATED_DIR"), how)
		return
	}
	for how, survives := range map[string]bool{"verify": true, "guard": true, "copy": true, "map": false,
		"open": true} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestProtectedReadsOfTruncatedFileFail$")
			cmd.Env = append(os.Environ(), "TRUNCATED="+how, "TRUNCATED_DIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if errors.Is(err, syscall.ENOEXEC) {
				t.Skip("an emulator runs this program, which cannot start itself here")
			}
			if survives != (err == nil) {
				t.Errorf("%v\n%s", err, out)
			}
			if !survives && !strings.Contains(string(out), "SIGBUS") {
				t.Errorf("it ends by something else: %s", out)
			}
		})
	}
}

func useTruncated(t *testing.T, dir, how string) {
	path := filepath.Join(dir, "site.bsnap")
	if how == "open" {
		openTruncated(t, path)
		return
	}
	build(t, path, generation(1))
	snap, err := bindings.Open(path, bindings.Options{Copy: how == "copy"})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := bindings.NewFacts(bindings.Value{}, bindings.FactsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.Request(facts)
	if err != nil {
		t.Fatal(err)
	}
	look := func() error {
		for key := range snap.Keys() {
			v, _, err := r.Lookup(key)
			if errors.As(err, new(*bindings.Error)) {
				continue // this site has one such key
			}
			if err != nil {
				return err
			}
			if _, err := v.MarshalJSON(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var damage *bindings.DamageError
	switch how {
	case "verify":
		if err := snap.Verify(); !errors.As(err, &damage) {
			t.Errorf("Verify says %v", err)
		}
	case "guard":
		if err := snap.Protect(look); !errors.As(err, &damage) {
			t.Errorf("lookups say %v", err)
		}
	case "copy":
		if err := look(); err != nil {
			t.Error(err)
		}
		if err := snap.Verify(); err != nil {
			t.Error(err)
		}
	default:
		look()
	}
}

// openTruncated opens a file that is truncated before its key is read for decryption.
func openTruncated(t *testing.T, path string) {
	key := seal.NewKey()
	sealedAs(t, path, "a", key)
	truncate := func(string, [32]byte) error { return os.Truncate(path, 0) }
	var damage *bindings.DamageError
	_, err := bindings.Open(path, bindings.Options{Accept: truncate, Unseal: unsealWith(key)})
	if !errors.As(err, &damage) {
		t.Errorf("Open says %v", err)
	}
}
