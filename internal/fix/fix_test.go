package fix_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bindc/diag"
	"bindc/internal/fix"
	"bindc/internal/fsx"
)

// siteWith creates a directory with one file and returns it with the record of reading the file.
func siteWith(t *testing.T, text string) (dir, file string, seen *fsx.Seen) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return dir, file, read(t, file)
}

func read(t *testing.T, file string) *fsx.Seen {
	t.Helper()
	seen := &fsx.Seen{}
	disk := fsx.Disk{Seen: seen}
	if _, err := disk.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	return seen
}

func plan(t *testing.T, dir string, seen *fsx.Seen, list ...diag.Diagnostic) (*fix.Fixer, []fix.Change, error) {
	t.Helper()
	f, err := fix.New(dir, fsx.Disk{Seen: seen})
	if err != nil {
		t.Fatal(err)
	}
	changes, refused := f.Plan(list)
	return f, changes, refused
}

func misspelt(file string, line, col int, word, other string) diag.Diagnostic {
	return diag.Diagnostic{Pos: diag.Pos{File: file, Line: line, Col: col}, Fix: diag.MeantAs(word, other)}
}

func TestWritesEditsThatDoNotOverlap(t *testing.T) {
	dir, file, seen := siteWith(t, "ä: [nmae, vlaue]\r\nb: nmae\n")
	f, changes, refused := plan(t, dir, seen, misspelt(file, 2, 4, "nmae", "name"),
		misspelt(file, 1, 11, "vlaue", "value"), misspelt(file, 1, 5, "nmae", "name"),
		misspelt(file, 1, 5, "nmae", "other"))
	if refused != nil || len(changes) != 1 || len(changes[0].Edits) != 3 {
		t.Fatalf("%v, %v", changes, refused)
	}
	if err := f.Write(changes[0]); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := "ä: [name, value]\r\nb: name\n"; err != nil || string(got) != want {
		t.Errorf("%q, want %q; %v", got, want, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the permissions are %v, %v", info.Mode(), err)
	}
}

func TestRefusesFileChangedSinceReading(t *testing.T) {
	dir, file, seen := siteWith(t, "a: nmae\n")
	f, changes, _ := plan(t, dir, seen, misspelt(file, 1, 4, "nmae", "name"))
	if err := os.WriteFile(file, []byte("b: nmae\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(changes[0]); err == nil || !strings.Contains(err.Error(), "it changed while the site was read") {
		t.Errorf("changed before writing: %v", err)
	}
	_, changes, refused := plan(t, dir, seen, misspelt(file, 1, 4, "nmae", "name"))
	if len(changes) > 0 || refused == nil || !strings.Contains(refused.Error(), "it changed while the site was read") {
		t.Errorf("changed before planning: %v, %v", changes, refused)
	}
	if got, _ := os.ReadFile(file); string(got) != "b: nmae\n" {
		t.Errorf("the file has %q", got)
	}
}

func TestRefusesFilesOutsideSite(t *testing.T) {
	dir, _, _ := siteWith(t, "")
	_, outside, seen := siteWith(t, "a: nmae\n")
	link, inside := filepath.Join(dir, "link.yaml"), filepath.Join(dir, "inside.yaml")
	up := filepath.Join(dir, "up")
	for to, from := range map[string]string{link: outside, inside: "a.yaml", up: filepath.Dir(outside)} {
		if err := os.Symlink(from, to); err != nil {
			t.Fatal(err)
		}
	}
	through := filepath.Join(up, "a.yaml")
	for file, seen := range map[string]*fsx.Seen{outside: seen, link: read(t, link), through: read(t, through)} {
		_, changes, refused := plan(t, dir, seen, misspelt(file, 1, 4, "nmae", "name"))
		if len(changes) > 0 || refused == nil || !strings.Contains(refused.Error(), "it is not in the site") {
			t.Errorf("%s: %v, %v", file, changes, refused)
		}
	}
	if err := os.WriteFile(inside, []byte("a: nmae\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, changes, refused := plan(t, dir, read(t, inside), misspelt(inside, 1, 4, "nmae", "name"))
	if len(changes) != 1 || refused != nil {
		t.Errorf("a link within the site: %v, %v", changes, refused)
	}
	_, changes, refused = plan(t, dir, &fsx.Seen{}, misspelt(inside, 1, 4, "nmae", "name"))
	if len(changes) > 0 || refused == nil || !strings.Contains(refused.Error(), "the site does not read it") {
		t.Errorf("a file that was not read: %v, %v", changes, refused)
	}
}
