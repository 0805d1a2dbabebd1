package ship

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"bindc/internal/fsx"
)

// files does all file system access of a store. If a test sets fault, files calls it before each access, and the access
// fails with the error that fault returns.
type files struct {
	fault func(op, path string) error
}

func (f files) may(op, path string) error {
	if f.fault == nil {
		return nil
	}
	if err := f.fault(op, path); err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

// access calls do, unless a test makes the access fail.
func access[T any](f files, op, path string, do func(string) (T, error)) (result T, err error) {
	if err := f.may(op, path); err != nil {
		return result, err
	}
	return do(path)
}

func (f files) readFile(path string) ([]byte, error)   { return access(f, "read", path, os.ReadFile) }
func (f files) readLink(path string) (string, error)   { return access(f, "readlink", path, os.Readlink) }
func (f files) stat(path string) (fs.FileInfo, error)  { return access(f, "stat", path, os.Stat) }
func (f files) lstat(path string) (fs.FileInfo, error) { return access(f, "lstat", path, os.Lstat) }
func (f files) open(path string) (*os.File, error)     { return access(f, "open", path, os.Open) }

func (f files) readDir(path string) ([]fs.DirEntry, error) {
	return access(f, "list", path, os.ReadDir)
}

func (f files) change(op, path string, do func() error) error {
	if err := f.may(op, path); err != nil {
		return err
	}
	return do()
}

func (f files) removeAll(path string) error {
	return f.change("remove", path, func() error { return os.RemoveAll(path) })
}

func (f files) chmod(path string, mode fs.FileMode) error {
	return f.change("chmod", path, func() error { return os.Chmod(path, mode) })
}

func (f files) chown(path string, to owner) error {
	return f.change("chown", path, func() error { return to.own(path) })
}

func (f files) mkdir(path string, mode fs.FileMode) error {
	return f.change("mkdir", path, func() error { return os.Mkdir(path, mode) })
}

func (f files) rename(from, to string) error {
	return f.change("rename", to, func() error { return os.Rename(from, to) })
}

func (f files) link(from, to string) error {
	return f.change("link", to, func() error { return os.Link(from, to) })
}

func (f files) symlink(target, path string) error {
	return f.change("symlink", path, func() error { return os.Symlink(target, path) })
}

func (f files) syncDir(path string) error {
	return f.change("syncdir", path, func() error { return fsx.SyncDir(path) })
}

// create creates a file that only its owner can access. It fails if the file exists.
func (f files) create(path string) (*newFile, error) {
	file, err := access(f, "create", path, func(path string) (*os.File, error) {
		return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	})
	if err != nil {
		return nil, err
	}
	return &newFile{f, file}, nil
}

type newFile struct {
	files files
	*os.File
}

func (n *newFile) Write(p []byte) (int, error) {
	if err := n.files.may("write", n.Name()); err != nil {
		done, _ := n.File.Write(p[:len(p)/2]) // a test makes this write fail after half of p, as on a full disk
		return done, err
	}
	return n.File.Write(p)
}

func (n *newFile) finish() error {
	err := n.files.may("sync", n.Name())
	if err == nil {
		err = n.Sync()
	}
	return join(err, n.Close())
}

// writer returns n without the method ReadFrom, which io.Copy would call instead of Write.
func (n *newFile) writer() io.Writer { return struct{ io.Writer }{n} }

// temporary returns an unused path in store/tmp. If the program dies, a later sweep removes what is there.
func (s *Store) temporary(kind string) string {
	return filepath.Join(s.incoming(), fmt.Sprintf("%s-%016x", kind, rand.Uint64()))
}

func (s *Store) temporaryDir(kind string) (string, error) {
	dir := s.temporary(kind)
	return dir, s.files.mkdir(dir, 0o700)
}

// give sets the permissions of a new file or directory. If the program runs as root, give also makes the owner of the
// store the owner of path, so that a first pull by root does not lock out the service's user.
func (s *Store) give(path string, mode fs.FileMode) error {
	if err := s.files.chmod(path, mode); err != nil {
		return err
	}
	return s.hand(path)
}

// hand gives path to the owner of the store if the program runs as root.
func (s *Store) hand(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := s.files.lstat(path)
	if err != nil {
		return err
	}
	if have, ok := ownerOf(info); !ok || have == s.owner {
		return nil
	}
	return s.files.chown(path, s.owner)
}

// write atomically creates or replaces a file of the store, and syncs it.
func (s *Store) write(path string, text []byte) (err error) {
	f, err := s.files.create(s.temporary("file"))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.files.removeAll(f.Name())
		}
	}()
	if _, err := f.Write(text); err != nil {
		f.Close()
		return err
	}
	if err := f.finish(); err != nil {
		return err
	}
	if err := s.give(f.Name(), s.fileMode()); err != nil {
		return err
	}
	if err := s.files.rename(f.Name(), path); err != nil {
		return err
	}
	return s.files.syncDir(filepath.Dir(path))
}
