package site

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
)

// Files reads the file system and reports what fails. All of the loader goes through it, but for data files, which
// package datafile reads from the same disk.
type Files struct {
	Disk  fsx.Disk
	Diags *diag.List
}

// Failed reports an error of the file system, which mostly says at which path.
func (f Files) Failed(path string, err error) {
	if p, ok := err.(*fs.PathError); ok {
		path, err = p.Path, p.Err
	}
	f.Diags.Errorf(diag.Pos{File: path}, "read", "cannot read this: %v", err)
}

// IsFile tells whether there is a file; not ok if that cannot be told.
func (f Files) IsFile(path string) (there, ok bool) {
	there, err := f.Disk.IsFile(path)
	if err != nil {
		f.Failed(path, err)
	}
	return there, err == nil
}

// IsDir tells whether there is a directory; not ok if that cannot be told.
func (f Files) IsDir(path string) (there, ok bool) {
	there, err := f.Disk.IsDir(path)
	if err != nil {
		f.Failed(path, err)
	}
	return there, err == nil
}

// List is what is in a directory, by name.
func (f Files) List(dir string) []fs.DirEntry {
	entries, err := f.Disk.List(dir)
	if err != nil {
		f.Failed(dir, err)
	}
	return entries
}

// Real is a directory without symbolic links; not ok if there is none.
func (f Files) Real(dir string) (string, bool) {
	if there, _ := f.IsDir(dir); !there {
		return "", false
	}
	real, err := f.Disk.Resolve(dir)
	if err != nil {
		f.Failed(dir, err)
	}
	return real, err == nil
}

// RealUnlessDangling is real where a link that leads nowhere, or a path below one, is nothing, as it is to Puppet.
func (f Files) RealUnlessDangling(dir string) (string, bool) {
	if _, err := f.Disk.Info(dir); errors.Is(err, fsx.ErrDangling) {
		return "", false
	}
	return f.Real(dir)
}

// SetsBelow is the names of the sets of bindings that files with an extension below dir hold: a/b.yaml is a::b. Links
// to directories are not followed. What has the name of such a file and is none is listed too, to be refused.
func (f Files) SetsBelow(dir, ext string) []string {
	var out []string
	for _, e := range f.List(dir) {
		name, isSet := strings.CutSuffix(e.Name(), ext)
		if e.IsDir() {
			for _, below := range f.SetsBelow(filepath.Join(dir, e.Name()), ext) {
				out = append(out, e.Name()+"::"+below)
			}
		}
		if isSet {
			out = append(out, name)
		}
	}
	return out
}

// Below is path relative to dir, if it is inside.
func Below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// IsBelow tells whether path is dir or inside it.
func IsBelow(dir, path string) bool {
	_, ok := Below(dir, path)
	return ok
}
