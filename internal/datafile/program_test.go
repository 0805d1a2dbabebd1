package datafile

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The hash of a program is kept until its file changes, even if the new file has the size and the time of the old one.
func TestHashOfChangedProgramIsNotKept(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "program"), t.TempDir()
	hash := func() Program {
		t.Helper()
		got, err := HashProgram(path, dir)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	hash()
	if kept := records(t, dir); len(kept) > 0 {
		t.Errorf("the hash of a file that was just written is kept: %q", kept)
	}
	time.Sleep(2100 * time.Millisecond) // until the times of the file are reliable
	if got := hash(); got != sha256.Sum256([]byte("first")) {
		t.Errorf("wrong hash %x", got)
	}
	kept := records(t, dir)
	if len(kept) != 1 {
		t.Fatalf("the directory has %q, expected one record", kept)
	}
	forged, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	forged[len(forged)-1] ^= 1
	if err := os.WriteFile(kept[0], forged, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := hash(); got == sha256.Sum256([]byte("first")) {
		t.Error("the program is hashed again although its file has not changed")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write("other")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := hash(); got != sha256.Sum256([]byte("other")) {
		t.Error("the hash of the old file is used for the new one")
	}
}

// A truncated record is ignored.
func TestTruncatedHashIsIgnored(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "program"), t.TempDir()
	if err := os.WriteFile(path, []byte("first"), 0o700); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2100 * time.Millisecond)
	if _, err := HashProgram(path, dir); err != nil {
		t.Fatal(err)
	}
	kept := records(t, dir)
	if len(kept) != 1 {
		t.Fatalf("the directory has %q, expected one record", kept)
	}
	for _, size := range []int64{0, 20, 56, 87} {
		if err := os.Truncate(kept[0], size); err != nil {
			t.Fatal(err)
		}
		if got, err := HashProgram(path, dir); err != nil || got != sha256.Sum256([]byte("first")) {
			t.Errorf("with %d bytes of the record: %x, %v", size, got, err)
		}
	}
}

func records(t *testing.T, dir string) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join(dir, "*.program"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
