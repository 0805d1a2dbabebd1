// Package disk reads the files and directories of a site. A read that failed is an error and never "not there": what
// cannot be looked at might say something.
//
// Not there is what has no name in its directory, and what would be below a plain file. A symbolic link that leads
// nowhere is there, and cannot be read.
package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Disk is the file system. The zero value is that of the machine.
type Disk struct {
	// Fault, if there is one, is called before every access and makes it fail with what it returns. It is for tests.
	Fault func(op Op, path string) error
}

// Op is a kind of access.
type Op string

const (
	Stat    Op = "stat"
	List    Op = "list"
	Resolve Op = "resolve"
	Open    Op = "open"
	Read    Op = "read" // the content of an open file; it is opened before
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

// Info is what path leads to, nil if there is nothing.
func (d Disk) Info(path string) (fs.FileInfo, error) {
	err := d.fault(Stat, path)
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(path); err == nil {
			return info, nil
		}
	}
	if absent(err) {
		err = leadsNowhere(path)
	}
	return nil, err
}

// IsFile tells whether there is a file. It is an error if there is something else.
func (d Disk) IsFile(path string) (bool, error) {
	info, err := d.Info(path)
	if info == nil {
		return false, err
	}
	return true, NoFile(path, info.Mode())
}

// IsDir tells whether there is a directory.
func (d Disk) IsDir(path string) (bool, error) {
	info, err := d.Info(path)
	return info != nil && info.IsDir(), err
}

// List is what is in a directory, by name; nothing if there is none.
func (d Disk) List(path string) ([]fs.DirEntry, error) {
	err := d.fault(List, path)
	if err == nil {
		var entries []fs.DirEntry
		if entries, err = os.ReadDir(path); err == nil {
			return entries, nil
		}
	}
	if absent(err) {
		err = leadsNowhere(path)
	}
	return nil, err
}

// Resolve is path without symbolic links. There must be something.
func (d Disk) Resolve(path string) (string, error) {
	if err := d.fault(Resolve, path); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Open opens a file to be read by Content. What is no file should be known before, by IsFile or List: here it is
// opened, but without waiting for somebody to write to it, and Content refuses it.
func (d Disk) Open(path string) (*os.File, error) {
	if err := d.fault(Open, path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// tries is how often a file is read that changes meanwhile.
const tries = 4

// Content is all that is in an open file. One that changes while it is read is read again, and in the end refused.
func (d Disk) Content(f *os.File) ([]byte, error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := NoFile(f.Name(), before.Mode()); err != nil {
		return nil, err
	}
	for range tries {
		content, err := d.content(f, before.Size())
		if err != nil {
			return nil, err
		}
		after, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if before.Size() == after.Size() && before.ModTime().Equal(after.ModTime()) {
			return content, nil
		}
		before = after
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: errors.New("it changes while it is read")}
}

func (d Disk) content(f *os.File, size int64) ([]byte, error) {
	if err := d.fault(Read, f.Name()); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(int(min(size, 1<<30)) + bytes.MinRead) // room to see the end without growing
	_, err := b.ReadFrom(f)
	return b.Bytes(), err
}

// ReadFile is the content of the file at path.
func (d Disk) ReadFile(path string) ([]byte, error) {
	f, err := d.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return d.Content(f)
}

// NoFile says why what is at path cannot be read as a file, nil if it can.
func NoFile(path string, mode fs.FileMode) error {
	what := ""
	switch mode.Type() {
	case 0:
		return nil
	case fs.ModeDir:
		what = "a directory"
	case fs.ModeNamedPipe:
		what = "a FIFO"
	case fs.ModeSocket:
		what = "a socket"
	case fs.ModeSymlink:
		what = "a symbolic link"
	default:
		what = "a device"
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + what + ": expected a file")}
}

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// leadsNowhere is the error that path, where nothing is, is a symbolic link, or would be below one; nil if it is none.
func leadsNowhere(path string) error {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink != 0:
			if _, err := os.Stat(at); err == nil || !absent(err) {
				return err
			}
			return &fs.PathError{Op: "stat", Path: at, Err: errors.New("it is a symbolic link that leads nowhere")}
		case err == nil || at == filepath.Dir(at):
			return nil
		case !absent(err):
			return err
		}
	}
}
