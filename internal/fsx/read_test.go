package fsx

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A file that is read into reused memory has only its own content. For a large file, ReadInto allocates more memory.
func TestReadIntoReusesMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var buf []byte
	for _, size := range []int{5, 100_000, 0, 7, 99_999} {
		want := bytes.Repeat([]byte{byte(size)}, size)
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
		had := cap(buf)
		content, id, err := Disk{}.ReadInto(buf, path)
		if err != nil || !bytes.Equal(content, want) {
			t.Fatalf("a file of %d bytes gives %d, %v", size, len(content), err)
		}
		if now, ok := FileIDAt(path); ok && id != now {
			t.Errorf("the identity is %v, want %v", id, now)
		}
		if buf = content; had > size && cap(buf) != had {
			t.Errorf("%d bytes of memory were not used for %d bytes", had, size)
		}
	}
}
