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

// Disk gives access to the file system. The zero value is ready for use.
type Disk struct {
	// Fault is called before every access. If it returns an error, the access fails. Filter replaces the reader of a
	// file; only tests use it.
	Fault  func(op Op, path string) error
	Filter func(path string, file io.Reader) io.Reader

	Seen    *Seen    // records each access and its result; may be nil
	Overlay *Overlay // strings in place of files; may be nil
	Fence   *Fence   // the directories that may be accessed; nil for no restriction
}

// Op is a kind of access to the file system.
type Op string

const (
	Stat    Op = "stat"
	List    Op = "list"
	Resolve Op = "resolve"
	Open    Op = "open"
	Read    Op = "read" // reads an open file
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

// Info returns the file information of path, or nil if it is absent.
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

// IsFile reports whether path is a file. It returns an error if path is anything else.
func (d Disk) IsFile(path string) (bool, error) {
	info, err := d.Info(path)
	if info == nil {
		return false, err
	}
	return true, NotAFile(path, info.Mode())
}

// IsDir reports whether path is a directory. It returns an error if path exists and is neither a directory nor a file.
func (d Disk) IsDir(path string) (bool, error) {
	info, err := d.Info(path)
	if info == nil {
		return false, err
	}
	return info.IsDir(), notADir(path, info.Mode())
}

// List returns the entries of a directory, sorted by name, or none if it is absent.
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

// Resolve returns path without symbolic links. The path must exist.
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

// NotAFile returns an error unless mode describes a regular file.
func NotAFile(path string, mode fs.FileMode) error {
	if mode.IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + kind(mode) + ": expected a file")}
}

// notADir returns an error unless mode is the mode of a directory or of a regular file, which counts as an absent
// directory.
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

// ErrDangling is the error for a path that is, or is below, a dangling symbolic link.
var ErrDangling = errors.New("broken symbolic link")

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// unreachableIfAbsent returns unreachable(path) if err says that path does not exist, and err otherwise.
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

// unreachable explains why a path that was not found might still exist. Either path or one of its parents is a dangling
// symbolic link or cannot be read, or the nearest existing parent is neither a directory nor a file. unreachable
// returns nil if path is absent.
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
