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
)

// ReplaceOptions control how a file is replaced.
type ReplaceOptions struct {
	Limit  fs.FileMode // upper limit for the permissions of the file
	Synced bool        // sync the file before the rename, and the directory afterwards
	Many   bool        // do not look for abandoned files; call ClearDir once instead
	Like   fs.FileInfo // owner, group and permissions for a new file; if nil, the defaults
	Link   bool        // replace a symbolic link at path instead of its target
}

var errNotRegular = errors.New("not a regular file")

// Replace atomically replaces path, or the target of a symbolic link at path, with the file that write writes. Readers
// see either the old file or the whole new one. The new file has the owner, group and permissions of the old one where
// possible; without an old file, its permissions are 0666 less the umask. If Replace fails, the old file is unchanged,
// and no temporary file remains.
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
	if err == nil && o.Synced {
		syncDir(filepath.Dir(path))
	}
	return err
}

// target returns the path of the file to replace. info describes the file with the owner and permissions to copy; it
// may be nil.
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

// resolveTarget returns the path of the file that path leads to, and the file information, which is nil if the file
// does not exist. It fails for anything but regular files, and for symbolic links that cannot be followed.
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

// attempts limits how many names are tried for a temporary file.
const attempts = 100

// create creates a temporary file next to path. The permissions are never wider than those of the final file: if old is
// set, only the owner has access at first. Other builds leave the file alone until release is called. If another build
// removed the file as abandoned before create could lock it, create tries another name.
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

// startPoller makes the Go runtime start its network poller, which happens when the first os.File is opened. If the
// process is out of file descriptors, the runtime ends it at this point, so this must happen before a temporary file
// exists.
func startPoller(dir string) {
	if f, err := os.Open(dir); err == nil {
		f.Close()
	}
}

// isInPlace reports whether f still has its name.
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

// permissions sets the owner and group of f to the owner and group of old, and returns the permissions for f. If the
// group could not be set, the group of f gets at most the permissions that other users had.
func permissions(f *os.File, old fs.FileInfo) fs.FileMode {
	mode := old.Mode().Perm()
	if !chownLike(f, old) {
		mode = mode&^0o070 | mode&(mode<<3)&0o070
	}
	return mode
}

// syncDir makes the rename durable. It ignores errors: some file systems cannot sync a directory.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

const suffix = ".tmp"

func prefix(path string) string { return "." + filepath.Base(path) + "." }

// sweep removes temporary files next to path that killed programs left behind. It keeps current, the temporary file in
// use.
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

// ClearBeside removes temporary files next to path that killed programs left behind.
func ClearBeside(path string) error {
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

// ClearDir removes all temporary files in dir that killed programs left behind.
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

// isTemporary reports whether create may have chosen the name of a file.
func isTemporary(e fs.DirEntry) bool {
	name, ok := strings.CutSuffix(e.Name(), suffix)
	digits := name[strings.LastIndexByte(name, '.')+1:]
	return ok && name[0] == '.' && len(digits) > 0 && len(digits)+1 < len(name) &&
		strings.Trim(digits, "0123456789") == "" && e.Type().IsRegular()
}
