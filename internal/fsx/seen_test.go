package fsx

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Unchanged returns true until something that was accessed changes.
func TestUnchangedDetectsChangesOfWhatWasAccessed(t *testing.T) {
	write := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666) }
	}
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	for _, test := range []struct {
		name   string
		change func(dir string) error
		same   bool
	}{
		{"no change", func(string) error { return nil }, true},
		{"a file that was not accessed", write("sub/x", ""), true},
		{"the same content again", write("a", "a"), true},
		{"other content", write("a", "b"), false},
		{"a removed file", remove("a"), false},
		{"a new file at an absent path", write("none", ""), false},
		{"a new directory at an absent path",
			func(dir string) error { return os.Mkdir(filepath.Join(dir, "none"), 0o777) }, false},
		{"a new file in a listed directory", write("list/x", ""), false},
		{"a removed file in a listed directory", remove("list/b"), false},
		{"a link with another target", func(dir string) error {
			if err := remove("link")(dir); err != nil {
				return err
			}
			return os.Symlink("sub", filepath.Join(dir, "link"))
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, sub := range []string{"sub", "list"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"a", "list/b"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("a"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("list", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			for name, began := range map[string]time.Duration{"just written": 0, "left alone": time.Hour} {
				seen := Seen{Began: time.Now().Add(began).UnixNano()}
				d := Disk{Seen: &seen}
				if _, err := d.ReadFile(filepath.Join(dir, "a")); err != nil {
					t.Fatal(err)
				}
				if exists, err := d.IsFile(filepath.Join(dir, "none")); exists || err != nil {
					t.Fatal(exists, err)
				}
				if list, err := d.List(filepath.Join(dir, "list")); len(list) != 1 || err != nil {
					t.Fatal(list, err)
				}
				if _, err := d.Resolve(filepath.Join(dir, "link")); err != nil {
					t.Fatal(err)
				}
				if n := len(seen.Looks()); n != 4 {
					t.Errorf("%s: %d looks", name, n)
				}
				defer func() {
					if same := Unchanged(seen.Looks()); same != test.same {
						t.Errorf("%s: it is the same: %v", name, same)
					}
				}()
			}
			if err := test.change(dir); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// If two accesses in a build have different results, it is unknown which of them was used.
func TestContradictoryAccessesAreNeverUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	seen := Seen{}
	d := Disk{Seen: &seen}
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := d.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if Unchanged(seen.Looks()) {
		t.Error("a file that changed between two reads counts as unchanged")
	}
}
