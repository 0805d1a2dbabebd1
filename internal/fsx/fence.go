package fsx

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Fence restricts a Disk to some directories. For the Disk, paths outside these directories do not exist, and neither
// do symbolic links that lead outside. A nil Fence restricts nothing. Its methods may be called concurrently.
type Fence struct {
	roots []string // root directories, with links resolved

	mu      sync.Mutex
	dirs    map[string]string // directories with links resolved; "" if they are outside
	refused map[string]bool
}

// NewFence returns a Fence around the given directories. It ignores missing directories.
func NewFence(dirs ...string) *Fence {
	f := &Fence{dirs: map[string]string{}, refused: map[string]bool{}}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			f.roots = append(f.roots, real)
		}
	}
	return f
}

// errOutside is the error for reading a path outside the fence.
var errOutside = errors.New("it is outside the directories that may be read")

// Refused returns the paths outside the fence that the Disk did not access, sorted.
func (f *Fence) Refused() []string {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.refused))
}

// Allows reports whether path is inside the fence. It records paths outside.
func (f *Fence) Allows(path string) bool {
	if f == nil || f.contains(path) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused[path] = true
	return false
}

func (f *Fence) contains(path string) bool {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) {
		return false
	}
	real := filepath.Join(f.realDir(filepath.Dir(path)), filepath.Base(path))
	if isLink(real) {
		var err error
		if real, err = filepath.EvalSymlinks(real); err != nil {
			return absent(err) && f.below(filepath.Dir(path)) // the Disk reports a dangling link
		}
	}
	return f.below(real)
}

func (f *Fence) below(real string) bool {
	return slices.ContainsFunc(f.roots, func(root string) bool {
		return real == root || strings.HasPrefix(real, strings.TrimSuffix(root, "/")+"/")
	})
}

// realDir returns dir with links resolved, or dir itself if it does not exist.
func (f *Fence) realDir(dir string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	real, known := f.dirs[dir]
	if !known {
		real = realOrParent(dir)
		f.dirs[dir] = real
	}
	return real
}

// realOrParent resolves the links in the existing part of a path.
func realOrParent(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || path == filepath.Dir(path) {
		return real
	}
	return filepath.Join(realOrParent(filepath.Dir(path)), filepath.Base(path))
}

// outside returns the error for reading path if it is outside.
func (f *Fence) outside(op Op, path string) error {
	if f.Allows(path) {
		return nil
	}
	return &fs.PathError{Op: string(op), Path: path, Err: errOutside}
}
