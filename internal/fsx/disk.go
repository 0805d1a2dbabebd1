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

// Disk is the file system. The zero value is the real one.
type Disk struct {
	// Fault and Filter are for tests and may be nil. Fault is called before every access; if it returns an error, the
	// access fails with it. Filter replaces the content that is read from a file.
	Fault  func(op Op, path string) error
	Filter func(path string, file io.Reader) io.Reader

	Seen *Seen // records all results; may be nil
}

// Op is a kind of access.
type Op string

const (
	Stat    Op = "stat"
	List    Op = "list"
	Resolve Op = "resolve"
	Open    Op = "open"
	Read    Op = "read" // reading the content of an open file
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

// Info returns information about path, or nil if nothing is there.
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

// IsFile reports whether path is a file. If it is neither a file nor absent, IsFile returns an error.
func (d Disk) IsFile(path string) (bool, error) {
	info, err := d.Info(path)
	if info == nil {
		return false, err
	}
	return true, NoFile(path, info.Mode())
}

// IsDir reports whether path is a directory. If it is neither a directory, a file nor absent, IsDir returns an error.
func (d Disk) IsDir(path string) (bool, error) {
	info, err := d.Info(path)
	if info == nil {
		return false, err
	}
	return info.IsDir(), noDir(path, info.Mode())
}

// List returns the entries of a directory, sorted by name, or nothing if it does not exist.
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

// Resolve returns path without symbolic links. The path must exist.
func (d Disk) Resolve(path string) (real string, err error) {
	if d.Seen != nil {
		defer func() { d.Seen.note(Look{Op: Resolve, Path: path, Said: real + failure(err)}) }()
	}
	if err := d.fault(Resolve, path); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Open opens a file for Content. Callers should check with IsFile or List that the path is a regular file. Open does
// not block on a FIFO without a writer, and Content rejects it.
func (d Disk) Open(path string) (*os.File, error) {
	if err := d.fault(Open, path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// tries is the number of attempts to read a file that changes during reading.
const tries = 4

// Content returns the content of an open file. If the file changes during reading, it is read again; after several
// attempts Content returns an error.
func (d Disk) Content(f *os.File) (content []byte, err error) {
	if d.Seen != nil {
		id, ok := FileIDOf(f) // before reading: if the file changes afterwards, ID and content do not match
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

// whole is Content without Seen.
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
			why = "it changed while it was read"
		case int64(len(content)) != after.Size():
			why = "its content does not have the size of the file"
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
	b.Grow(int(min(size, 1<<30)) + bytes.MinRead)   // room to detect the end without growing
	_, err := b.ReadFrom(io.LimitReader(r, size+1)) // do not read a file that is longer than its size to the end
	return b.Bytes(), err
}

// ReadFile returns the content of the file at path.
func (d Disk) ReadFile(path string) ([]byte, error) {
	f, err := d.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return d.Content(f)
}

// NoFile returns an error that says why path cannot be read as a file, or nil if it can.
func NoFile(path string, mode fs.FileMode) error {
	if mode.IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + kind(mode) + ": expected a file")}
}

// noDir returns an error if path is neither a directory nor a plain file. If it is a plain file, there is no
// directory, which is not an error.
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

// ErrDangling means that a path is, or is below, a symbolic link whose target does not exist.
var ErrDangling = errors.New("it is a symbolic link that leads nowhere")

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// barred checks that path is really absent. It returns an error if path is, or is below, a dangling link, or is below
// something that is not a directory or a file.
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
