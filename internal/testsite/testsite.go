// Package testsite creates valid and damaged snapshots for tests, and runs sessions with the programs.
package testsite

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"bindc/compile"
	"bindc/diag"
	"bindc/internal/report/slice"
	"bindc/loader"
	"bindc/snapshot"
)

// Build compiles the site in dir and writes the snapshot to path. It sets the modification time to an hour ago, because
// programs only trust the time of a file that has not changed for some seconds.
func Build(t testing.TB, dir, path string) {
	t.Helper()
	var diags diag.List
	content := compile.Compile(loader.Load(dir, loader.Options{}, &diags), compile.Options{}, &diags)
	if diags.Failed() {
		t.Fatal(diags.Sorted())
	}
	if _, err := snapshot.Write(path, content); err != nil {
		t.Fatal(err)
	}
	makeOld(t, path)
}

// BuildBindings is like Build, for a site with a single bindings file. bind lists its bindings in YAML, separated by
// commas.
func BuildBindings(t testing.TB, bind, path string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bindings"), 0o777); err != nil {
		t.Fatal(err)
	}
	text := "{bindings_version: 1, name: default, bind: [" + bind + "]}"
	if err := os.WriteFile(filepath.Join(dir, "bindings", "default.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	Build(t, dir, path)
}

// cutSlice cuts a slice from the snapshot at path and writes it to out. term has the form CATEGORY=VALUE.
func cutSlice(t testing.TB, path, term, out string) {
	t.Helper()
	if err := cut(path, term, out); err != nil {
		t.Fatal(err)
	}
	makeOld(t, out)
}

func cut(path, term, out string) error {
	f, err := snapshot.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := f.Content()
	if err != nil {
		return err
	}
	terms, err := slice.Parse(content.Dimensions, []string{term})
	if err != nil {
		return err
	}
	if err := slice.Cut(content, terms); err != nil {
		return err
	}
	_, err = snapshot.Write(out, content)
	return err
}

// truncate cuts the file at path to half its size.
func truncate(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, text[:len(text)/2], 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	makeOld(t, path)
}

// damage inverts all bytes in a section of the snapshot at path. It corrects the checksums, so that the snapshot can
// still be opened.
func damage(t testing.TB, path, section string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Info().Sections {
		if s.Name == section {
			for i := range s.Bytes {
				text[s.Offset+i] ^= 0xff
			}
		}
	}
	if err := os.WriteFile(path+".new", CorrectSums(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	makeOld(t, path)
}

// CorrectSums corrects the checksums in b, the content of a snapshot. It modifies and returns b.
func CorrectSums(b []byte) []byte {
	le := binary.LittleEndian
	le.PutUint64(b[16:], uint64(len(b)))
	for i := range 14 {
		entry := b[96+24*i:]
		off, length := le.Uint64(entry), le.Uint64(entry[8:])
		if off <= uint64(len(b)) && length <= uint64(len(b))-off {
			le.PutUint64(entry[16:], xxhash.Sum64(b[off:][:length]))
		}
	}
	digest := sha256.Sum256(b[512:])
	copy(b[32:], digest[:])
	le.PutUint64(b[504:], xxhash.Sum64(b[:504]))
	return b
}

func makeOld(t testing.TB, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}
