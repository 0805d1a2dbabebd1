package fsx

import (
	"errors"
	"io"
	"io/fs"
	"slices"
)

// state describes an open file. If the size and the time are the same before and after a read, the
// file has not changed meanwhile.
type state struct {
	mode           fs.FileMode
	size, modified int64
	id             FileID // zero on platforms without file IDs
}

// ReadFile is like os.ReadFile, but fails if the file changes during every attempt to read it.
func (d Disk) ReadFile(path string) ([]byte, error) {
	content, _, err := d.ReadInto(nil, path)
	return content, err
}

// ReadInto is like ReadFile, but uses the memory of buf if it is large enough. It also returns the
// FileID of the version that it read, or zero if there is none.
//
// If the file changes while it is read, ReadInto tries again a few times. If path is not a regular
// file, ReadInto fails; it does not block on a FIFO. Callers should check that with IsFile or List
// before.
func (d Disk) ReadInto(buf []byte, path string) (content []byte, id FileID, err error) {
	if err := d.fault(Open, path); err != nil {
		return nil, FileID{}, err
	}
	if text, overlaid := d.Overlay.Text(path); overlaid {
		return append(buf[:0], text...), FileID{}, nil
	}
	if err := d.Fence.outside(Open, path); err != nil {
		return nil, FileID{}, err
	}
	f, err := open(path)
	if err != nil {
		return nil, FileID{}, err
	}
	defer f.close()
	content, id, err = d.unchangedContent(f, buf, path)
	if d.Seen != nil && err == nil {
		d.Seen.read(path, id, content)
	} else if d.Seen != nil {
		d.Seen.note(Look{Op: Read, Path: path, Result: failure(err)})
	}
	return content, id, err
}

// tries is how often ReadInto reads a file that keeps changing.
const tries = 4

// unchangedContent reads f until its size and time are the same before and after reading. It
// determines id before the first read. So id does not match if the content changes later.
func (d Disk) unchangedContent(f *file, buf []byte, path string) (content []byte, id FileID, err error) {
	before, err := d.state(f, path)
	if err == nil {
		err = NotAFile(path, before.mode)
	}
	if err != nil {
		return nil, FileID{}, err
	}
	id = before.id
	why := ""
	for range tries {
		content, err := d.content(f, buf, path, before.size)
		if err != nil {
			return nil, FileID{}, err
		}
		after, err := d.state(f, path)
		if err != nil {
			return nil, FileID{}, err
		}
		switch {
		case before.size != after.size || before.modified != after.modified:
			why = "it changed while it was read"
		case int64(len(content)) != after.size:
			why = "the number of bytes read differs from the size of the file"
		default:
			return content, id, nil
		}
		before = after
		if err := f.rewind(); err != nil {
			return nil, FileID{}, err
		}
	}
	return nil, FileID{}, &fs.PathError{Op: "read", Path: path, Err: errors.New(why)}
}

func (d Disk) state(f *file, path string) (state, error) {
	if err := d.fault(Stat, path); err != nil {
		return state{}, err
	}
	return f.state()
}

// content reads at most size+1 bytes of f. The additional byte shows whether the file has grown.
func (d Disk) content(f *file, buf []byte, path string, size int64) ([]byte, error) {
	if err := d.fault(Read, path); err != nil {
		return nil, err
	}
	var r io.Reader = f
	if d.Filter != nil {
		r = d.Filter(path, f)
	}
	buf = slices.Grow(buf[:0], int(min(size, firstRead))+1)
	for {
		n, err := r.Read(buf[len(buf):min(int64(cap(buf)), size+1)])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF || int64(len(buf)) > size:
			return buf, nil
		case int64(len(buf)) == size && err == nil && d.Filter == nil:
			return buf, nil // a short read of a regular file means that its end is reached
		case err != nil:
			return nil, err
		case len(buf) == cap(buf):
			buf = slices.Grow(buf, len(buf))
		}
	}
}

// firstRead limits the memory that content allocates before the first read.
const firstRead = 1 << 30
