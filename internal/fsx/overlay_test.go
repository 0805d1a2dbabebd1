package fsx

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func names(t *testing.T, d Disk, dir string) (out []string) {
	t.Helper()
	entries, err := d.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		out = append(out, name)
	}
	return out
}

// An overlay replaces files and adds new ones, also in directories that do not exist.
func TestOverlayReplacesAndAddsFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.yaml"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed, added := filepath.Join(dir, "b.yaml"), filepath.Join(dir, "new", "a.yaml")
	d := Disk{Overlay: NewOverlay(map[string][]byte{changed: []byte("changed"), added: []byte("added")})}
	if got, want := names(t, d, dir), []string{"b.yaml", "new/"}; !slices.Equal(got, want) {
		t.Errorf("the directory has %q, expected %q", got, want)
	}
	if got, want := names(t, d, filepath.Join(dir, "new")), []string{"a.yaml"}; !slices.Equal(got, want) {
		t.Errorf("the new directory has %q, expected %q", got, want)
	}
	for path, want := range map[string]string{changed: "changed", added: "added"} {
		if src, err := d.ReadFile(path); err != nil || string(src) != want {
			t.Errorf("%s has %q, %v; expected %q", path, src, err, want)
		}
		if file, err := d.IsFile(path); err != nil || !file {
			t.Errorf("%s is not a file: %v", path, err)
		}
	}
	if isDir, err := d.IsDir(filepath.Dir(added)); err != nil || !isDir {
		t.Errorf("the new directory is not a directory: %v", err)
	}
	if real, err := d.Resolve(filepath.Dir(added)); err != nil || filepath.Base(real) != "new" {
		t.Errorf("the new directory resolves to %q, %v", real, err)
	}
}

// Paths outside a fence do not exist, even through symbolic links or '..'.
func TestFenceHidesWhatIsOutside(t *testing.T) {
	top := t.TempDir()
	root, secret := filepath.Join(top, "root"), filepath.Join(top, "secret")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(top, filepath.Join(root, "up")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "inside"), []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("inside", filepath.Join(root, "alias")); err != nil {
		t.Fatal(err)
	}
	d := Disk{Fence: NewFence(root)}
	for _, path := range []string{secret, filepath.Join(root, "link"), filepath.Join(root, "up", "secret"),
		root + "/../secret"} {
		if info, err := d.Info(path); info != nil || err != nil {
			t.Errorf("%s exists: %v, %v", path, info, err)
		}
		if src, err := d.ReadFile(path); err == nil {
			t.Errorf("%s can be read: %q", path, src)
		}
		if real, err := d.Resolve(path); err == nil {
			t.Errorf("%s is resolved to %s", path, real)
		}
	}
	if got := names(t, d, top); got != nil {
		t.Errorf("the directory outside has %q", got)
	}
	if n := len(d.Fence.Refused()); n != 5 {
		t.Errorf("%d paths are recorded as refused, expected 5: %q", n, d.Fence.Refused())
	}
	for _, name := range []string{"inside", "alias"} {
		if src, err := d.ReadFile(filepath.Join(root, name)); err != nil || string(src) != "data" {
			t.Errorf("%s has %q, %v; expected its content", name, src, err)
		}
	}
}
