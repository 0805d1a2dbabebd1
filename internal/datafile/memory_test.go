package datafile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"bindc/diag"
	"bindc/internal/fsx"
)

// A cache in memory returns unchanged files without reading them, and notices changed files.
func TestCacheInMemoryReadsOnlyChangedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "common.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cache, reads := NewCache(Program{}), 0
	build := func() int {
		t.Helper()
		cache.Begin(time.Now().Add(time.Hour)) // later than any change, so that every file is settled
		r := NewReader(cache, fsx.Disk{Fault: func(op fsx.Op, _ string) error {
			if op == fsx.Open {
				reads++
			}
			return nil
		}})
		var diags diag.List
		f, err := r.Read(path, YAML, &diags)
		if err != nil || diags.Failed() {
			t.Fatalf("reading fails: %v %v", err, diags.Sorted())
		}
		cache.Keep([]*File{f})
		cache.Reuse()
		return len(f.Entries)
	}
	write("a: 1\n")
	if n := build() + build(); n != 2 || reads != 1 {
		t.Errorf("two builds have %d entries in total and read the file %d times, expected 2 and once", n, reads)
	}
	write("a: 1\nb: 2\n")
	if n := build(); n != 2 || reads != 2 {
		t.Errorf("after a change there are %d entries and %d reads, expected 2 and 2", n, reads)
	}
}
