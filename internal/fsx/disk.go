// Package fsx reads the files and directories of a site for a build, and replaces files in one step. A failed read is
// an error and never "not there", because the file might contain bindings.
//
// A path is absent if its directory has no such name, or if a plain file is in place of the directory. A symbolic link
// that leads nowhere is not absent; reading it is an error.
package fsx

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
	// Fault, if there is one, is called before every access and makes it fail with what it returns; Filter, if there is
	// one, stands between a file and who reads it. They are for tests.
	Fault  func(op Op, path string) error
	Filter func(path string, file io.Reader) io.Reader

	Seen *Seen // notes what is found; may be nil
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
func (d Disk) Info(path string) (info fs.FileInfo, err error) {
	if d.Seen != nil {
		defer func() { d.Seen.note(Look{Op: Stat, Path: path, Said: saidOfInfo(info, err)}) }()
	}
	err = d.fault(Stat, path)
	if err == nil {
		if info, err = os.Stat(path); err == nil {
			return info, nil
		}
	}
	if absent(err) {
		err = barred(path)
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

// IsDir tells whether there is a directory. It is an error if there is neither one nor a file.
func (d Disk) IsDir(path string) (bool, error) {
	info, err := d.Info(path)
	if info == nil {
		return false, err
	}
	return info.IsDir(), noDir(path, info.Mode())
}

// List is what is in a directory, by name; nothing if there is none.
func (d Disk) List(path string) (entries []fs.DirEntry, err error) {
	if d.Seen != nil {
		defer func() { d.Seen.note(Look{Op: List, Path: path, Said: saidOfList(entries, err)}) }()
	}
	err = d.fault(List, path)
	if err == nil {
		if entries, err = os.ReadDir(path); err == nil {
			return entries, nil
		}
	}
	if absent(err) {
		err = barred(path)
	}
	return nil, err
}

// Resolve is path without symbolic links. There must be something.
func (d Disk) Resolve(path string) (real string, err error) {
	if d.Seen != nil {
		defer func() { d.Seen.note(Look{Op: Resolve, Path: path, Said: real + failure(err)}) }()
	}
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
func (d Disk) Content(f *os.File) (content []byte, err error) {
	if d.Seen != nil {
		id, ok := FileIDOf(f) // before the content is read: if that changes afterwards, they do not go together
		defer func() {
			if err == nil {
				d.Seen.read(f.Name(), id, ok, content)
			} else {
				d.Seen.note(Look{Op: Read, Path: f.Name(), Said: failure(err)})
			}
		}()
	}
	return d.whole(f)
}

// whole is Content.
func (d Disk) whole(f *os.File) ([]byte, error) {
	before, err := d.state(f)
	if err != nil {
		return nil, err
	}
	if err := NoFile(f.Name(), before.Mode()); err != nil {
		return nil, err
	}
	why := ""
	for range tries {
		content, err := d.content(f, before.Size())
		if err != nil {
			return nil, err
		}
		after, err := d.state(f)
		if err != nil {
			return nil, err
		}
		switch {
		case before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()):
			why = "it changes while it is read"
		case int64(len(content)) != after.Size():
			why = "it has another size than it says"
		default:
			return content, nil
		}
		before = after
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: errors.New(why)}
}

func (d Disk) state(f *os.File) (fs.FileInfo, error) {
	if err := d.fault(Stat, f.Name()); err != nil {
		return nil, err
	}
	return f.Stat()
}

func (d Disk) content(f *os.File, size int64) ([]byte, error) {
	if err := d.fault(Read, f.Name()); err != nil {
		return nil, err
	}
	var r io.Reader = f
	if d.Filter != nil {
		r = d.Filter(f.Name(), f)
	}
	var b bytes.Buffer
	b.Grow(int(min(size, 1<<30)) + bytes.MinRead)   // room to see the end without growing
	_, err := b.ReadFrom(io.LimitReader(r, size+1)) // one that has more than it said is not read to its end
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
	if mode.IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + kind(mode) + ": expected a file")}
}

// noDir says why there can be nothing where a directory is looked for, nil if there can: a plain file is no directory,
// and that is all.
func noDir(path string, mode fs.FileMode) error {
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

// ErrDangling says that a path is, or is below, a symbolic link to what is not there.
var ErrDangling = errors.New("it is a symbolic link that leads nowhere")

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// barred says why it cannot be told that nothing is at path: that is below something which leads nowhere or nothing is
// in, or is such a thing itself. nil: there is nothing.
func barred(path string) error {
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
			return noDir(at, info.Mode())
		case !absent(err):
			return err
		case at == filepath.Dir(at):
			return nil
		}
	}
}
