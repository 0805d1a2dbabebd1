package site

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"bindc/diag"
	"bindc/internal/fsx"
)

// Files accesses the file system and reports errors. All packages of the loader use it, except that package datafile
// reads data files itself, from the same disk.
type Files struct {
	Disk  fsx.Disk
	Diags *diag.List
	lists *listings
}

// listings caches the entries of directories. They are needed twice: to find data files, and to find unused files.
type listings struct{ entries map[string][]fs.DirEntry }

// NewFiles returns Files with an empty cache.
func NewFiles(d fsx.Disk, diags *diag.List) Files {
	return Files{Disk: d, Diags: diags, lists: &listings{map[string][]fs.DirEntry{}}}
}

// Quiet returns Files that share the cache and report to diags.
func (f Files) Quiet(diags *diag.List) Files {
	f.Diags = diags
	return f
}

// Failed reports a file system error at path, or at the path in err if it has one.
func (f Files) Failed(path string, err error) {
	if p, ok := err.(*fs.PathError); ok {
		path, err = p.Path, p.Err
	}
	f.Diags.Errorf(diag.Pos{File: path}, "read", "cannot read this: %v", err)
}

// IsFile reports whether path is a file. ok is false if that cannot be determined.
func (f Files) IsFile(path string) (there, ok bool) {
	there, err := f.Disk.IsFile(path)
	if err != nil {
		f.Failed(path, err)
	}
	return there, err == nil
}

// IsDir reports whether path is a directory. ok is false if that cannot be determined.
func (f Files) IsDir(path string) (there, ok bool) {
	there, err := f.Disk.IsDir(path)
	if err != nil {
		f.Failed(path, err)
	}
	return there, err == nil
}

// List returns the entries of a directory, sorted by name.
func (f Files) List(dir string) []fs.DirEntry {
	if f.lists != nil {
		if entries, ok := f.lists.entries[dir]; ok {
			return entries
		}
	}
	entries, err := f.Disk.List(dir)
	switch {
	case err != nil:
		f.Failed(dir, err)
	case f.lists != nil:
		f.lists.entries[dir] = entries
	}
	return entries
}

// Real resolves the symbolic links in the path of a directory. ok is false if the directory does not exist.
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

// RealUnlessDangling is like Real, but does not report a dangling link. To Puppet, such a file does not exist.
func (f Files) RealUnlessDangling(dir string) (string, bool) {
	if _, err := f.Disk.Info(dir); errors.Is(err, fsx.ErrDangling) {
		return "", false
	}
	return f.Real(dir)
}

// SetsBelow returns the names of the sets in files with extension ext below dir: a/b.yaml has the name a::b. It does
// not follow links to directories. The result includes directories and devices with such a name, so that the caller
// reports them.
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

// Below returns path relative to dir. ok is false if path is not inside dir.
func Below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// IsBelow reports whether path is dir or inside it.
func IsBelow(dir, path string) bool {
	_, ok := Below(dir, path)
	return ok
}
