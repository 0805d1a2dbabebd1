package replace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

var errWrite = errors.New("no room")

func put(text string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	}
}

// held wants dir to hold one file, with this text.
func held(t *testing.T, path, want string) {
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

func TestAFileIsReplacedWholeOrNot(t *testing.T) {
	path := old(t, 0o644)
	err := File(path, Options{Limit: 0o777}, func(f *os.File) error {
		f.WriteString("half of it")
		return errWrite
	})
	if err != errWrite {
		t.Errorf("got %v, want %v", err, errWrite)
	}
	held(t, path, "old")
	if err := File(path, Options{Limit: 0o777, Synced: true}, put("new")); err != nil {
		t.Error(err)
	}
	held(t, path, "new")
}

func TestWhatCannotBeReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := File(dir, Options{}, put("")); !errors.Is(err, errNoFile) {
		t.Errorf("a directory: %v", err)
	}
	if err := File(filepath.Join(dir, "none", "f"), Options{}, put("")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no directory: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("there lie %v (%v)", entries, err)
	}
}

// While it is written, the file may be read by nobody who may not read it afterwards.
func TestPermissions(t *testing.T) {
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
		err := File(path, Options{Limit: c.limit}, func(f *os.File) error {
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

// Two programs that write one file at a time leave each other's temporary file alone.
func TestReplacedAtTheSameTime(t *testing.T) {
	path := old(t, 0o600)
	err := File(path, Options{Limit: 0o777}, func(f *os.File) error {
		if err := File(path, Options{Limit: 0o777}, put("second")); err != nil {
			t.Error(err)
		}
		return put("first")(f)
	})
	if err != nil {
		t.Error(err)
	}
	held(t, path, "first")
}
