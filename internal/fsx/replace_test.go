package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var errWrite = errors.New("no room")

func put(text string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	}
}

// checkOnlyFile checks that dir has exactly one file, with this text.
func checkOnlyFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("the file holds %q (%v), want %q", got, err, want)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("beside it lie %v (%v)", entries, err)
	}
}

func old(t *testing.T, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReplaceIsAtomic(t *testing.T) {
	path := old(t, 0o644)
	err := Replace(path, ReplaceOptions{Limit: 0o777}, func(f *os.File) error {
		f.WriteString("half of it")
		return errWrite
	})
	if err != errWrite {
		t.Errorf("got %v, want %v", err, errWrite)
	}
	checkOnlyFile(t, path, "old")
	if err := Replace(path, ReplaceOptions{Limit: 0o777, Synced: true}, put("new")); err != nil {
		t.Error(err)
	}
	checkOnlyFile(t, path, "new")
}

func TestRejectsTargetsThatAreNotFiles(t *testing.T) {
	dir := t.TempDir()
	if err := Replace(dir, ReplaceOptions{}, put("")); !errors.Is(err, errNotRegular) {
		t.Errorf("a directory: %v", err)
	}
	if err := Replace(filepath.Join(dir, "none", "f"), ReplaceOptions{}, put("")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no directory: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("there lie %v (%v)", entries, err)
	}
}

// Replace writes to the target of a symbolic link. A link without a target, or in a loop, is an error. All links
// remain.
func TestReplaceFollowsSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	lost, loop, current := filepath.Join(dir, "lost"), filepath.Join(dir, "loop"), filepath.Join(dir, "current")
	for link, to := range map[string]string{lost: "nowhere", loop: "loop", current: "f"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skipf("this file system has no links: %v", err)
		}
	}
	for _, path := range []string{lost, loop} {
		err := Replace(path, ReplaceOptions{Limit: 0o777}, put("new"))
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: expected an error with the path, got %v", path, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Replace(current, ReplaceOptions{Limit: 0o777}, put("new")); err != nil {
		t.Error(err)
	}
	for _, path := range []string{lost, loop, current} {
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is not a link any more (%v)", path, err)
		}
	}
	if got, err := os.ReadFile(current); err != nil || string(got) != "new" {
		t.Errorf("the target of the link has %q (%v)", got, err)
	}
}

// The steps after writing the content fail one by one: permissions and sync of a closed file, renaming a missing file,
// and renaming onto a directory.
func TestReplaceCleansUpAfterEachFailingStep(t *testing.T) {
	steps := map[string]struct {
		there bool
		spoil func(path string, f *os.File) error
	}{
		"chmod": {true, func(_ string, f *os.File) error { return f.Close() }},
		"sync":  {false, func(_ string, f *os.File) error { return f.Close() }},
		"gone":  {true, func(_ string, f *os.File) error { return os.Remove(f.Name()) }},
		"onto":  {false, func(path string, _ *os.File) error { return os.MkdirAll(filepath.Join(path, "x"), 0o777) }},
	}
	for name, step := range steps {
		path := filepath.Join(t.TempDir(), "f")
		if step.there {
			path = old(t, 0o644)
		}
		options := ReplaceOptions{Limit: 0o777, Synced: true}
		err := Replace(path, options, func(f *os.File) error { return step.spoil(path, f) })
		if err == nil || !strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("%s: expected an error with the path, got %v", name, err)
		}
		if step.there {
			checkOnlyFile(t, path, "old")
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) > 1 {
			t.Errorf("%s: there lie %v (%v)", name, entries, err)
		}
	}
}

// Users who may not read the final file cannot read the temporary one either.
func TestTemporaryFileIsNotMoreReadable(t *testing.T) {
	for _, c := range []struct{ old, limit, want fs.FileMode }{
		{0o600, 0o777, 0o600},
		{0o640, 0o777, 0o640},
		{0o444, 0o777, 0o444},
		{0o755, 0o777, 0o755},
		{0o666, 0o640, 0o640},
		{0o604, 0o640, 0o600},
		{0o644, 0o600, 0o600},
	} {
		path := old(t, c.old)
		err := Replace(path, ReplaceOptions{Limit: c.limit}, func(f *os.File) error {
			info, err := f.Stat()
			if err == nil && info.Mode()&^c.want != 0 {
				t.Errorf("%o, at most %o: %o at first", c.old, c.limit, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != c.want {
			t.Errorf("%o, at most %o: got %o (%v), want %o", c.old, c.limit, info.Mode(), err, c.want)
		}
	}
}

// Two programs that replace the same file keep each other's temporary file.
func TestSweepKeepsFileOfRunningProgram(t *testing.T) {
	path := old(t, 0o600)
	err := Replace(path, ReplaceOptions{Limit: 0o777}, func(f *os.File) error {
		if err := Replace(path, ReplaceOptions{Limit: 0o777}, put("second")); err != nil {
			t.Error(err)
		}
		return put("first")(f)
	})
	if err != nil {
		t.Error(err)
	}
	checkOnlyFile(t, path, "first")
}

// ClearDir removes the temporary files of killed programs, but not files in use or with similar names.
func TestClearDirRemovesAbandonedFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".a.yaml.17.tmp", ".b.yaml.4.tmp", ".17.tmp", "c.17.tmp", ".d.x.tmp", ".e.17.tm"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, release, err := create(filepath.Join(dir, "b.yaml"), nil, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	defer f.Close()
	if err := ClearDir(dir); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left[e.Name()] = true
	}
	for _, name := range []string{".17.tmp", "c.17.tmp", ".d.x.tmp", ".e.17.tm", filepath.Base(f.Name())} {
		if !left[name] {
			t.Errorf("%s is gone", name)
		}
	}
	if len(left) != 5 {
		t.Errorf("there is %v", left)
	}
	if err := ClearDir(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there is cleared: %v", err)
	}
}

// A new file gets the permissions of the file in Like. An existing file keeps its own permissions.
func TestReplaceCopiesPermissionsOfLikeToNewFiles(t *testing.T) {
	other, err := os.Stat(old(t, 0o604))
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "f")
	for path, want := range map[string]fs.FileMode{fresh: 0o604, old(t, 0o640): 0o640} {
		if err := Replace(path, ReplaceOptions{Limit: 0o777, Like: other}, put("new")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != want {
			t.Errorf("got %v (%v), want %o", info.Mode(), err, want)
		}
		checkOnlyFile(t, path, "new")
	}
}

func TestReplaceCanReplaceLinkItself(t *testing.T) {
	path := old(t, 0o604)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "f")
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("this file system has no links: %v", err)
	}
	if err := Replace(link, ReplaceOptions{Limit: 0o777, Like: info, Link: true}, put("new")); err != nil {
		t.Fatal(err)
	}
	checkOnlyFile(t, path, "old")
	checkOnlyFile(t, link, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode() != 0o604 {
		t.Errorf("got %v (%v), want a file of mode 604", info.Mode(), err)
	}
}

func TestSweepRemovesFilesOfKilledPrograms(t *testing.T) {
	path := old(t, 0o644)
	left := filepath.Join(filepath.Dir(path), prefix(path)+"12"+suffix)
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-48 * time.Hour) // without locks, a file is abandoned after a day
	if err := os.Chtimes(left, past, past); err != nil {
		t.Fatal(err)
	}
	if err := ClearFor(path); err != nil {
		t.Fatal(err)
	}
	checkOnlyFile(t, path, "old")
	if err := ClearFor(filepath.Join(filepath.Dir(path), "none", "f")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no directory: %v", err)
	}
}
