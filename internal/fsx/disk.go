// Package fsx reads the files and directories of a site for a build, and replaces files atomically. A file that cannot
// be read is an error and never counts as absent, because it might have bindings.
//
// A path is absent if its directory has no such name, or if one of its parents is a plain file. A dangling symbolic
// link is not absent: reading it is an error.
package fsx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Disk reads from the file system. The zero value reads all files and records nothing.
type Disk struct {
	// For tests. Fault is called before each access; if it returns an error, the access fails.
	// Filter replaces the reader of a file.
	Fault  func(op Op, path string) error
	Filter func(path string, file io.Reader) io.Reader

	Seen    *Seen    // if not nil, records each access and its result
	Overlay *Overlay // if not nil, contents of files that are read instead of those on disk
	Fence   *Fence   // if not nil, the directories that may be read
}

// Op is the name of a file system operation, as in fs.PathError.
type Op string

const (
	Stat    Op = "stat"
	List    Op = "list"
	Resolve Op = "resolve"
	Open    Op = "open"
	Read    Op = "read" // read the content of an open file
)

func (d Disk) fault(op Op, path string) error {
	if d.Fault == nil {
		return nil
	}
	if err := d.Fault(op, path); err != nil {
		return &fs.PathError{Op: string(op), Path: path, Err: err}
	}
	return nil
}

// Info is like os.Stat, but returns nil without an error if path is absent.
func (d Disk) Info(path string) (info fs.FileInfo, err error) {
	if d.Seen != nil {
		defer func() { d.Seen.note(Look{Op: Stat, Path: path, Result: resultOfInfo(info, err)}) }()
	}
	if err = d.fault(Stat, path); err != nil {
		return nil, err
	}
	if _, overlaid := d.Overlay.Text(path); !overlaid && d.Fence.Allows(path) {
		if info, err = os.Stat(path); err == nil {
			return info, nil
		}
		if err = unreachableIfAbsent(path, err); err != nil {
			return nil, err
		}
	}
	return d.Overlay.info(path), nil
}

// IsFile reports whether path is a regular file. It returns an error if path exists but is not a
// regular file.
func (d Disk) IsFile(path string) (bool, error) {
	info, err := d.Info(path)
	if info == nil {
		return false, err
	}
	return true, NotAFile(path, info.Mode())
}

// IsDir reports whether path is a directory. It returns an error if path exists but is neither a
// directory nor a regular file.
func (d Disk) IsDir(path string) (bool, error) {
	info, err := d.Info(path)
	if info == nil {
		return false, err
	}
	return info.IsDir(), notADir(path, info.Mode())
}

// List returns the entries of a directory, sorted by name. It returns no entries if the directory
// is absent.
func (d Disk) List(path string) (entries []fs.DirEntry, err error) {
	if d.Seen != nil {
		defer func() { d.Seen.note(Look{Op: List, Path: path, Result: resultOfList(entries, err)}) }()
	}
	if err = d.fault(List, path); err != nil {
		return nil, err
	}
	if d.Fence.Allows(path) {
		if entries, err = os.ReadDir(path); err != nil {
			err = unreachableIfAbsent(path, err)
		}
	}
	if err != nil {
		return nil, err
	}
	return d.Overlay.addTo(entries, path), nil
}

// Resolve returns path without symbolic links, like filepath.EvalSymlinks. The path must exist.
func (d Disk) Resolve(path string) (real string, err error) {
	if d.Seen != nil {
		defer func() { d.Seen.note(Look{Op: Resolve, Path: path, Result: real + failure(err)}) }()
	}
	if err := d.fault(Resolve, path); err != nil {
		return "", err
	}
	if err := d.Fence.outside(Resolve, path); err != nil {
		return "", err
	}
	if d.Overlay.info(path) != nil {
		return realOrParent(path), nil
	}
	return filepath.EvalSymlinks(path)
}

// NotAFile returns nil if mode describes a regular file. Otherwise it returns an error that names
// the kind of file.
func NotAFile(path string, mode fs.FileMode) error {
	if mode.IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + kind(mode) + ": expected a file")}
}

// notADir returns nil if mode describes a directory or a regular file; the latter counts as an
// absent directory. Otherwise it returns an error that names the kind of file.
func notADir(path string, mode fs.FileMode) error {
	if mode.IsDir() || mode.IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + kind(mode) + ": expected a directory")}
}

func kind(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeDir:
		return "a directory"
	case fs.ModeNamedPipe:
		return "a FIFO"
	case fs.ModeSocket:
		return "a socket"
	case fs.ModeSymlink:
		return "a symbolic link"
	}
	return "a device"
}

// ErrDangling is the error for a path that is or contains a symbolic link without a target.
var ErrDangling = errors.New("broken symbolic link")

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// unreachableIfAbsent returns err, or unreachable(path) if err says that path does not exist.
func unreachableIfAbsent(path string, err error) error {
	if absent(err) {
		return unreachable(path)
	}
	return err
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// unreachable distinguishes an absent path, for which it returns nil, from one that cannot be
// reached. Then the path or one of its parents is a dangling link or unreadable, or the nearest
// existing parent is neither a directory nor a regular file.
func unreachable(path string) error {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			if info, err = os.Stat(at); absent(err) {
				err = ErrDangling
				return &fs.PathError{Op: "stat", Path: at, Err: err}
			}
		}
		switch {
		case err == nil:
			return notADir(at, info.Mode())
		case !absent(err):
			return err
		case at == filepath.Dir(at):
			return nil
		}
	}
}
