package fsx

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ReplaceOptions control how Replace creates the new file.
type ReplaceOptions struct {
	Limit  fs.FileMode // permission bits that the new file may have
	Synced bool        // sync the file before the rename and the directory after it
	Many   bool        // do not remove abandoned files; for use with ClearDir
	Like   fs.FileInfo // if there is no old file, the file whose owner, group and permissions to copy; may be nil
	Link   bool        // if path is a symbolic link, replace the link, not its target
}

var errNotRegular = errors.New("not a regular file")

// ErrUnsynced says that the new file is in place and that its directory could not be synced.
var ErrUnsynced = errors.New("the new file is in place, but its directory cannot be synced, so the old file may reappear after a power failure")

// Replace atomically replaces the file at path, or the target if path is a symbolic link. write
// must write the content of the new file. Readers see either the old file or the complete new one.
//
// Where possible, the new file gets the owner, group and permissions of the old one. If there is no
// old file, its permissions are 0666 before umask. If Replace fails, it leaves the old file
// unchanged and removes its temporary file. If the error is ErrUnsynced, the new file is in place.
func Replace(path string, o ReplaceOptions, write func(*os.File) error) (err error) {
	path, old, err := o.target(path)
	if err != nil {
		return err
	}
	f, release, err := create(path, old, o.Limit)
	if err != nil {
		return err
	}
	defer release()
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if !o.Many {
		sweep(path, f)
	}
	err = fill(f, old, o, write)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil || !o.Synced {
		return err
	}
	if unsynced := SyncDir(filepath.Dir(path)); unsynced != nil {
		return fmt.Errorf("%s: %w: %w", path, ErrUnsynced, unsynced)
	}
	return nil
}

// target returns the path of the file to replace. It also returns the file whose owner, group and
// permissions the new file gets, which may be nil.
func (o ReplaceOptions) target(path string) (string, fs.FileInfo, error) {
	if o.Link {
		return path, o.Like, nil
	}
	path, old, err := resolveTarget(path)
	if old == nil {
		old = o.Like
	}
	return path, old, err
}

// resolveTarget follows the symbolic links of path. It returns the path and the information of the
// file; the latter is nil if the file does not exist. It fails if a link cannot be followed or the
// file is not regular.
func resolveTarget(path string) (string, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		at, err := filepath.EvalSymlinks(path)
		if err != nil {
			err = fmt.Errorf("a symbolic link that cannot be followed: %w", err)
			return path, nil, &fs.PathError{Op: "replace", Path: path, Err: err}
		}
		return resolveTarget(at)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "replace", Path: path, Err: errNotRegular}
	}
	return path, info, err
}

const attempts = 100

// create creates a temporary file next to path. If old is not nil, only the owner can access the
// file until its final permissions are set. Other programs do not remove the file as abandoned
// until release is called. If one removes it before create has locked it, create tries another
// name.
func create(path string, old fs.FileInfo, limit fs.FileMode) (f *os.File, release func(), err error) {
	mode := 0o666 & limit
	if old != nil {
		mode = 0o600 & limit & old.Mode()
	}
	startPoller(filepath.Dir(path))
	for range attempts {
		name := filepath.Join(filepath.Dir(path), prefix(path)+fmt.Sprint(rand.Uint32())+suffix)
		f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		release = lock(f)
		if isInPlace(f) {
			return f, release, nil
		}
		err = &fs.PathError{Op: "create", Path: name, Err: fs.ErrNotExist}
		f.Close()
		release()
	}
	return nil, nil, err
}

// startPoller makes the Go runtime start its network poller, which it does when it opens the first
// file. If the process has no file descriptors left, that ends the process. So it must happen
// before there is a temporary file.
func startPoller(dir string) {
	if f, err := os.Open(dir); err == nil {
		f.Close()
	}
}

// isInPlace reports whether f has not been removed or replaced.
func isInPlace(f *os.File) bool {
	current, err := f.Stat()
	found, lstatErr := os.Lstat(f.Name())
	return cmp.Or(err, lstatErr) == nil && os.SameFile(current, found)
}

func fill(f *os.File, old fs.FileInfo, o ReplaceOptions, write func(*os.File) error) error {
	if err := write(f); err != nil {
		return err
	}
	if old != nil {
		if err := f.Chmod(permissions(f, old) & o.Limit); err != nil {
			return err
		}
	}
	if o.Synced {
		return f.Sync()
	}
	return nil
}

// permissions gives f the owner and group of old, and returns the mode that f should have. If the
// group cannot be set, the mode gives the group of f no more permissions than old gave to others.
func permissions(f *os.File, old fs.FileInfo) fs.FileMode {
	mode := old.Mode().Perm()
	if !chownLike(f, old) {
		mode = mode&^0o070 | mode&(mode<<3)&0o070
	}
	return mode
}

// InPlace reports whether the new file is in place after Replace has returned err.
func InPlace(err error) bool { return err == nil || errors.Is(err, ErrUnsynced) }

// SyncDir syncs a directory, so that renames in it survive a power failure. It returns nil where
// nothing can be done: if the file system does not support it, or if the directory is not readable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err == nil {
		err = d.Sync()
		d.Close()
	}
	for _, impossible := range []error{errors.ErrUnsupported, syscall.EINVAL, fs.ErrPermission} {
		if errors.Is(err, impossible) {
			return nil
		}
	}
	return err
}

const suffix = ".tmp"

func prefix(path string) string { return "." + filepath.Base(path) + "." }

// sweep removes temporary files for path that killed programs left behind. It does not remove
// current.
func sweep(path string, current *os.File) {
	now, err := current.Stat()
	entries, dirErr := os.ReadDir(filepath.Dir(path))
	if cmp.Or(err, dirErr) != nil {
		return
	}
	for _, e := range entries {
		digits, isTemp := strings.CutPrefix(e.Name(), prefix(path))
		digits, ends := strings.CutSuffix(digits, suffix)
		if !isTemp || !ends || strings.Trim(digits, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(filepath.Dir(path), e.Name())
		if name != current.Name() {
			removeAbandoned(name, now)
		}
	}
}

// ClearFor removes temporary files for path that killed programs left behind.
func ClearFor(path string) error {
	f, release, err := create(path, nil, 0o600)
	if err != nil {
		return err
	}
	defer release()
	defer os.Remove(f.Name())
	defer f.Close()
	sweep(path, f)
	return nil
}

// ClearDir removes temporary files for any path in dir that killed programs left behind.
func ClearDir(dir string) error {
	f, release, err := create(filepath.Join(dir, "clear"), nil, 0o600)
	if err != nil {
		return err
	}
	defer release()
	defer os.Remove(f.Name())
	defer f.Close()
	now, err := f.Stat()
	entries, dirErr := os.ReadDir(dir)
	if err := cmp.Or(err, dirErr); err != nil {
		return err
	}
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); isTemporary(e) && name != f.Name() {
			removeAbandoned(name, now)
		}
	}
	return nil
}

// isTemporary reports whether a file has a name as create chooses it.
func isTemporary(e fs.DirEntry) bool {
	name, ok := strings.CutSuffix(e.Name(), suffix)
	digits := name[strings.LastIndexByte(name, '.')+1:]
	return ok && name[0] == '.' && len(digits) > 0 && len(digits)+1 < len(name) &&
		strings.Trim(digits, "0123456789") == "" && e.Type().IsRegular()
}
