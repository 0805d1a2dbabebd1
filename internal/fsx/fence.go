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

// Fence restricts a Disk to some directories. Paths outside them, and links that lead outside, look
// absent. A nil Fence allows everything. A Fence is safe for concurrent use.
type Fence struct {
	roots []string // allowed directories, without symbolic links

	mu      sync.Mutex
	dirs    map[string]string // cache of realDir
	refused map[string]bool
}

// NewFence returns a Fence that allows the given directories. It ignores directories that do not
// exist.
func NewFence(dirs ...string) *Fence {
	f := &Fence{dirs: map[string]string{}, refused: map[string]bool{}}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			f.roots = append(f.roots, real)
		}
	}
	return f
}

var errOutside = errors.New("it is outside the directories that may be read")

// Refused returns, sorted, the paths for which Allows returned false.
func (f *Fence) Refused() []string {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.refused))
}

// Allows reports whether path is inside the fence. It records path for Refused if it is not.
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
			return absent(err) && f.below(filepath.Dir(path)) // a dangling link: let the Disk report it
		}
	}
	return f.below(real)
}

func (f *Fence) below(real string) bool {
	return slices.ContainsFunc(f.roots, func(root string) bool {
		return real == root || strings.HasPrefix(real, strings.TrimSuffix(root, "/")+"/")
	})
}

// realDir returns dir without symbolic links. It caches the result.
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

// realOrParent returns path without symbolic links in the part of it that exists.
func realOrParent(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err == nil || path == filepath.Dir(path) {
		return real
	}
	return filepath.Join(realOrParent(filepath.Dir(path)), filepath.Base(path))
}

// outside returns an error if path is outside the fence.
func (f *Fence) outside(op Op, path string) error {
	if f.Allows(path) {
		return nil
	}
	return &fs.PathError{Op: string(op), Path: path, Err: errOutside}
}
