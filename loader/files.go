package loader

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
)

// files reads the file system and reports what fails. All of the loader goes through it, but for data files, which
// package datafile reads from the same disk.
type files struct {
	disk  fsx.Disk
	diags *diag.List
}

// failed reports an error of the file system, which mostly says at which path.
func (f files) failed(path string, err error) {
	if p, ok := err.(*fs.PathError); ok {
		path, err = p.Path, p.Err
	}
	f.diags.Errorf(diag.Pos{File: path}, "read", "cannot read this: %v", err)
}

// isFile tells whether there is a file; not ok if that cannot be told.
func (f files) isFile(path string) (there, ok bool) {
	there, err := f.disk.IsFile(path)
	if err != nil {
		f.failed(path, err)
	}
	return there, err == nil
}

// isDir tells whether there is a directory; not ok if that cannot be told.
func (f files) isDir(path string) (there, ok bool) {
	there, err := f.disk.IsDir(path)
	if err != nil {
		f.failed(path, err)
	}
	return there, err == nil
}

// list is what is in a directory, by name.
func (f files) list(dir string) []fs.DirEntry {
	entries, err := f.disk.List(dir)
	if err != nil {
		f.failed(dir, err)
	}
	return entries
}

// real is a directory without symbolic links; not ok if there is none.
func (f files) real(dir string) (string, bool) {
	if there, _ := f.isDir(dir); !there {
		return "", false
	}
	real, err := f.disk.Resolve(dir)
	if err != nil {
		f.failed(dir, err)
	}
	return real, err == nil
}

// realUnlessDangling is real where a link that leads nowhere, or a path below one, is nothing, as it is to Puppet.
func (f files) realUnlessDangling(dir string) (string, bool) {
	if _, err := f.disk.Info(dir); errors.Is(err, fsx.ErrDangling) {
		return "", false
	}
	return f.real(dir)
}

// setsBelow is the names of the sets of bindings that files with an extension below dir hold: a/b.yaml is a::b. Links
// to directories are not followed. What has the name of such a file and is none is listed too, to be refused.
func (f files) setsBelow(dir, ext string) []string {
	var out []string
	for _, e := range f.list(dir) {
		name, isSet := strings.CutSuffix(e.Name(), ext)
		if e.IsDir() {
			for _, below := range f.setsBelow(filepath.Join(dir, e.Name()), ext) {
				out = append(out, e.Name()+"::"+below)
			}
		}
		if isSet {
			out = append(out, name)
		}
	}
	return out
}

// below is path relative to dir, if it is inside.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// isBelow tells whether path is dir or inside it.
func isBelow(dir, path string) bool {
	_, ok := below(dir, path)
	return ok
}
